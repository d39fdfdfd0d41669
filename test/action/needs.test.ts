import { describe, expect, it } from 'vitest'
import { readNeeds } from '../../src/action/settle.ts'

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)]
const D = 'd'.repeat(64)

type Outputs = Record<string, string>
function needs(jobs: Record<string, Outputs | string>): string {
  const all = Object.entries(jobs).map(([name, of]) => {
    const outputs = typeof of === 'string' ? {} : of
    return [name, { result: typeof of === 'string' ? of : 'success', outputs }]
  })
  return JSON.stringify(Object.fromEntries(all))
}
const orders = (...ids: string[]) => JSON.stringify(ids.map((order, slot) => ({ slot, order, title: 't' })))
const tick = (more: Outputs = {}) => ({ campaign: '', orders: '', propose: '', judge: '', ...more })

describe('what the settling job is told of the jobs before it', () => {
  it('is what each of them came to, and which of them there are', () => {
    const text = needs({
      tick: tick({ campaign: 'size', orders: orders(A, B), propose: 'other' }),
      propose: { digest: D },
      judge: 'skipped',
      'measure-size': { 'slot-0': `success ${D}`, 'slot-1': 'cancelled ', 'slot-2': '' },
      measure: 'skipped',
    })
    expect(readNeeds(text)).toEqual({
      campaigns: ['size', 'other'],
      ended: {
        measured: new Map([
          [A, { status: 'success', digest: D }],
          [B, { status: 'cancelled', digest: null }],
        ]),
        proposed: { status: 'success', digest: D },
        judged: null,
      },
      has: { propose: true, judge: true },
      isTickLost: false,
    })
  })

  it.each(['failure', 'cancelled'])(
    'counts what a tick that ended in %s may have asked as not answered',
    result => {
      const jobs = { tick: { result, outputs: {} }, propose: { result: 'skipped', outputs: {} } }
      expect(readNeeds(JSON.stringify(jobs))).toEqual({
        campaigns: [],
        ended: {
          measured: new Map(),
          proposed: { status: 'skipped', digest: null },
          judged: { status: '', digest: null },
        },
        has: { propose: true, judge: false },
        isTickLost: true,
      })
    },
  )

  it.each<[string, Outputs, Outputs]>([
    ['nothing', {}, {}],
    ['two slots of two jobs', { 'slot-0': `success ${D}` }, { 'slot-0': `success ${A}` }],
    ['no digest', { 'slot-0': `success ${'D'.repeat(64)}` }, {}],
    ['another state', { 'slot-0': `succeeded ${D}` }, {}],
    ['more than that', { 'slot-0': `success ${D} ${D}` }, {}],
  ])('takes %s for no report', (_, measure, other) => {
    const text = needs({ tick: tick({ orders: orders(A) }), measure, 'measure-two': other })
    expect(readNeeds(text).ended.measured.get(A)).toEqual({ status: '', digest: null })
  })

  it('knows a job that was asked for something and left nothing', () => {
    const text = needs({ tick: tick({ propose: 'size', judge: 'size' }), propose: 'failure' })
    const { proposed, judged } = readNeeds(text).ended
    expect([proposed, judged]).toEqual([
      { status: 'failure', digest: null },
      { status: '', digest: null },
    ])
  })

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a job without a result', '{"tick":{"outputs":{}}}'],
    ['more than a result and outputs', '{"tick":{"result":"success","outputs":{},"id":1}}'],
    ['no tick', needs({ measure: {} })],
    ['orders that are none', needs({ tick: tick({ orders: '[{"slot":0,"order":"x","title":""}]' }) })],
    ['an order twice', needs({ tick: tick({ orders: orders(A, A) }) })],
    [
      'more orders than there are slots',
      needs({
        tick: tick({
          orders: JSON.stringify(Array.from({ length: 21 }, (_, slot) => ({ slot, order: A, title: '' }))),
        }),
      }),
    ],
    [
      'a slot that is not there',
      needs({ tick: tick({ orders: JSON.stringify([{ slot: 20, order: A, title: '' }]) }) }),
    ],
  ])('is refused where it is %s', (_, text) => {
    expect(() => readNeeds(text)).toThrow(/the input jobs|the output orders of the job tick/)
  })
})
