import { describe, expect, it } from 'vitest'
import { chooseSlotRequest, WorkerSlots } from '../../src/engine/jobs/worker-slots.ts'
import type { StopRule } from '../../src/model/order.ts'
import { winnowSpec } from '../spec/problems-of.ts'

const scale = 'log'
const pairs: Extract<StopRule, { rule: 'pairs' }> = { rule: 'pairs', metrics: ['ms'], scale, pairs: 8 }
const paired: StopRule = {
  ...pairs,
  rule: 'paired',
  min_effect: 0.02,
  null_effect: 0.01,
  screen: 20,
  fresh_runners: 1,
  single_machine: true,
  terms: {},
}

describe('an order', () => {
  it.each<StopRule>([
    paired,
    pairs,
    { rule: 'calibrate', runs: 3 },
    { rule: 'stability', baseline: null },
    { rule: 'alone' },
    { rule: 'holdout', command: 'x', metrics: ['ms'], scale, pairs: 8, margin: 0, exact: true, source: null },
  ])('$rule runs alone on the machine', stop => {
    expect(chooseSlotRequest({ stop, attempt: 1 }, winnowSpec({}))).toEqual({ limit: 1, alone: true })
  })

  it('that is deterministic runs beside others of its kind, up to the limit of the spec', () => {
    const stop = { rule: 'once', min_effect: 0, scale } as const
    const limits = [
      {},
      { 'execution.max_concurrent': 1 },
      { execution: { mode: 'serial' } },
      { 'parallel.exclusive_resources': ['gpu'] },
    ]
    const berths = limits.map(changes => chooseSlotRequest({ stop, attempt: 1 }, winnowSpec(changes)))
    expect(berths.map(({ alone }) => alone)).toEqual([false, false, false, false])
    expect(berths[0]?.limit).toBeGreaterThanOrEqual(1)
    expect(berths.slice(1).map(({ limit }) => limit)).toEqual([1, 1, 1])
  })

  it('that is repeated runs alone, because another one may have disturbed it', () => {
    const stop = { rule: 'once', min_effect: 0, scale } as const
    expect(chooseSlotRequest({ stop, attempt: 2 }, winnowSpec({}))).toEqual({ limit: 1, alone: true })
  })
})

/** Enters lanes one after the other, and says which of them are in. */
function harbour() {
  const lanes = new WorkerSlots()
  const inside: string[] = []
  const left = new Map<string, () => void>()
  return {
    inside,
    enter: (name: string, alone: boolean, { limit = 2, signal = new AbortController().signal } = {}) => {
      void lanes.enter({ limit, alone }, signal).then(lane => {
        if (lane === null) return
        inside.push(name)
        left.set(name, () => {
          inside.splice(inside.indexOf(name), 1)
          lanes.leave(lane)
        })
      })
    },
    leave: async (name: string) => {
      left.get(name)?.()
      await settled()
    },
  }
}

/** Everybody who may enter has entered. */
async function settled(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
}

describe('worker slots', () => {
  it('admit as many tasks as their limit, and the next one when one leaves', async () => {
    const { enter, leave, inside } = harbour()
    for (const name of ['a', 'b', 'c']) enter(name, false)
    await settled()
    expect(inside).toEqual(['a', 'b'])
    await leave('a')
    expect(inside).toEqual(['b', 'c'])
  })

  it('admit no other task beside an exclusive one', async () => {
    const { enter, leave, inside } = harbour()
    enter('timed', true)
    enter('once', false)
    enter('timed too', true)
    await settled()
    expect(inside).toEqual(['timed'])
    await leave('timed')
    expect(inside).toEqual(['once'])
    await leave('once')
    expect(inside).toEqual(['timed too'])
  })

  it('admit no task before one that waits for exclusive use', async () => {
    const { enter, leave, inside } = harbour()
    enter('first', false)
    enter('timed', true)
    enter('late', false)
    await settled()
    expect(inside).toEqual(['first'])
    await leave('first')
    expect(inside).toEqual(['timed'])
    await leave('timed')
    expect(inside).toEqual(['late'])
  })
  it('give no slot to a cancelled task', async () => {
    const { enter, leave, inside } = harbour()
    const abort = new AbortController()
    enter('first', false)
    enter('timed', true, { signal: abort.signal })
    enter('late', false)
    await settled()
    abort.abort()
    await settled()
    expect(inside).toEqual(['first', 'late'])
    await leave('first')
    expect(inside).toEqual(['late'])
  })
})
