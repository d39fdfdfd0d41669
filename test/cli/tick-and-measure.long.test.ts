import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FILES, offer, project, proven, SHORT } from './project.ts'
import { selectCases } from '../support/cases.ts'

describe('tick and measure by hand', () => {
  it('do together what run does', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    const ordered = await person.winnow('tick')
    expect([ordered.code, ordered.out]).toEqual([0, 'Waiting for a measurement.\n'])
    expect((await person.winnow('tick')).err).toBe('')
    const dry = await person.winnow('measure', '--dry-run')
    expect(dry.out).toMatch(/^would measure order [0-9a-f]{12} /)
    expect(dry.out).toMatch(
      /^Nothing was written\. It would write:\nfile the report on order [0-9a-f]{12}, below \//m,
    )
    expect((await person.winnow('measure', 'ffff')).err).toContain(
      'no order that is waiting begins with ffff',
    )
    const measured = await person.winnow('measure')
    expect([measured.code, measured.out]).toEqual([
      0,
      expect.stringMatching(/^order \S+ is measured; the next winnow tick/),
    ])
    expect((await person.winnow('measure')).out).toContain(
      'is measured already; the next winnow tick records it',
    )
    const rehearsed = await person.winnow('tick', '--dry-run')
    expect(rehearsed.out).toContain('"outcome":"kept"')
    const taken = await person.winnow('tick')
    expect(taken.err).toMatch(/^exp-001 Kept: bytes 100 -> 50/m)
    expect((await person.winnow('measure')).out).toBe('No order is waiting to be measured.\n')
    await proven(person)
  })

  it('measure an order as a file, without a ledger', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('tick')
    const events = (await person.winnow('log', '--json')).out.trimEnd().split('\n')
    const issued = events.map(line => JSON.parse(line)).findLast(({ kind }) => kind === 'order-issued')
    const { seq: _seq, kind: _kind, at: _at, by: _by, cause: _cause, prev: _prev, ...order } = issued
    person.write('order.json', JSON.stringify(order))
    const files = ['--order', 'order.json', '--spec', '.winnow/size.yaml', '--report', 'report.json']
    const { code, err } = await person.winnow('measure', ...files)
    expect([code, err]).toEqual([0, ''])
    const report = JSON.parse(readFileSync(join(person.dir, 'report.json'), 'utf8'))
    expect(report).toMatchObject({ order: order.id, runner_error: null, tampered: null })

    person.write('order.json', JSON.stringify({ ...order, harness: 'f'.repeat(64) }))
    const other = await person.winnow('measure', ...files)
    const why = 'the harness of the pinned commit differs from the ordered one'
    expect([other.code, other.out, other.err]).toEqual([
      13,
      expect.stringMatching(/^report written to .*report\.json\n$/),
      expect.stringContaining(`error: the runner failed: ${why}`),
    ])
    expect(JSON.parse(readFileSync(join(person.dir, 'report.json'), 'utf8')).runner_error).toBe(why)
  })

  it.each(
    selectCases([
      [['--spec', 'x'], '--spec needs --order'],
      [['--order', 'order.json'], '--order needs --spec as well'],
      [
        ['--order', 'none.json', '--spec', '.winnow/size.yaml', '--report', 'r'],
        'there is no file none.json',
      ],
      [['--order', 'src/value', '--spec', '.winnow/size.yaml', '--report', 'r'], 'src/value is not JSON'],
      [
        ['--order', 'empty.json', '--spec', '.winnow/size.yaml', '--report', 'r'],
        'empty.json is not an order',
      ],
    ]),
  )('refuse %j', async (argv, expected) => {
    const person = project({ ...FILES, 'empty.json': '{}' })
    const { code, err } = await person.winnow('measure', ...argv)
    expect([code, err]).toEqual([2, expect.stringContaining(expected)])
  })
})
