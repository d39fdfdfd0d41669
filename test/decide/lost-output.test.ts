import { describe, expect, it } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { describeLostOutput, describeOtherOutput } from '../../src/decide/lost-output.ts'
import type { Execution, Side } from '../../src/model/report.ts'
import { anOrder, aReport, aSpec, run } from './a-spec.ts'

const label = 'exp-001'

interface Printed {
  lines?: number
  metrics?: Execution['metrics']
  tasks?: Record<string, number>
}

function printed(side: Side, { lines = 133, metrics = { bytes: 5 }, tasks }: Printed = {}): Execution {
  return run(side, metrics, { printed_lines: lines, ...(tasks === undefined ? {} : { tasks }) })
}

/** Pairs of executions: each side prints the next of its outputs, the last one again and again. */
function report(base: Printed[], own: Printed[], pairs = 4) {
  const nth = (outputs: Printed[], at: number) => outputs[Math.min(at, outputs.length - 1)]
  const runs = Array.from({ length: pairs }, (_, at) => [
    printed('base', nth(base, at)),
    printed(label, nth(own, at)),
  ])
  return aReport(runs.flat())
}

describe('an idea whose harness printed less than on the base', () => {
  it('is broken where nothing is left, or less than half of many lines', () => {
    expect(describeLostOutput(report([{}], [{ lines: 0 }]), label)).toBe(
      'printed 0 of the 133 lines that the base prints',
    )
    expect(describeLostOutput(report([{}], [{ lines: 66 }]), label)).toMatch(/^printed 66 of the 133 lines/)
    expect(describeLostOutput(report([{}], [{ lines: 67 }]), label)).toBeNull()
  })

  it('is broken where it lacks a metric or a task that the spec does not need', () => {
    const both = { metrics: { bytes: 5, rows: 10 } }
    expect(describeLostOutput(report([both], [{}]), label)).toBe(
      'did not print rows, which the base always prints',
    )
    const tasks = { tasks: { parse: 1, render: 2 } }
    expect(describeLostOutput(report([tasks], [{ tasks: { parse: 1 } }]), label)).toBe(
      'did not print tasks.render, which the base always prints',
    )
  })

  it('gets a verdict that names it', () => {
    const { outcome, reason } = assessCandidate({
      spec: aSpec(),
      order: anOrder({ rule: 'once', min_effect: 0, scale: 'log' }),
      report: report([{}], [{ lines: 0, metrics: { bytes: 1 } }], 2),
      label,
      baseline: null,
    })
    expect([outcome, reason]).toEqual([
      'error',
      'the harness printed 0 of the 133 lines that the base prints',
    ])
  })
})

describe('an idea is not broken', () => {
  it('where the base varies as well', () => {
    const rows = { metrics: { bytes: 5, rows: 10 } }
    expect(describeLostOutput(report([rows, {}], [{}]), label)).toBeNull()
    expect(describeLostOutput(report([{}, { lines: 0 }], [{ lines: 0 }]), label)).toBeNull()
  })

  it('where only a few warnings are gone', () => {
    expect(describeLostOutput(report([{ lines: 3 }], [{ lines: 1 }]), label)).toBeNull()
  })

  it('for one odd execution among several', () => {
    const rows = { metrics: { bytes: 5, rows: 10 } }
    expect(describeLostOutput(report([rows], [{}, rows]), label)).toBeNull()
    expect(describeLostOutput(report([{}], [{ lines: 0 }, {}]), label)).toBeNull()
  })

  it('where it prints more, or the base ran only once', () => {
    expect(describeLostOutput(report([{}], [{ lines: 200 }]), label)).toBeNull()
    expect(describeLostOutput(report([{}], [{ lines: 0 }], 1), label)).toBeNull()
  })

  it('where no idea is judged, or the report does not say how much was printed', () => {
    const other = aReport(
      report([{}], [{ lines: 0 }]).executions.map(each =>
        each.side === label ? { ...each, side: 'sync' as const } : each,
      ),
    )
    expect(describeLostOutput(other, 'sync')).toBeNull()
    const old = aReport(
      [...Array(4)].flatMap(() => [run('base', { bytes: 5, rows: 1 }), run(label, { bytes: 5 })]),
    )
    expect(describeLostOutput(old, label)).toBeNull()
  })
})

describe('a person reads an idea', () => {
  it('that printed fewer lines than a base which never varies', () => {
    expect(describeOtherOutput(report([{}], [{}, { lines: 132 }, {}]), label)).toBe(
      'printed 132 of the 133 lines that the base always prints',
    )
    expect(describeOtherOutput(report([{}, { lines: 132 }, {}], [{ lines: 131 }]), label)).toBeNull()
    expect(describeOtherOutput(report([{}], [{}]), label)).toBeNull()
  })

  it('that printed more lines than a base which never varies', () => {
    expect(describeOtherOutput(report([{ lines: 1 }], [{ lines: 2 }]), label)).toBe(
      'printed 2 lines, and the base always prints 1',
    )
    expect(describeOtherOutput(report([{ lines: 1 }, { lines: 3 }], [{ lines: 2 }]), label)).toBeNull()
  })

  it('that once did not print a metric', () => {
    const rows = { metrics: { bytes: 5, rows: 10 } }
    expect(describeOtherOutput(report([rows], [{}, rows]), label)).toBe(
      'did not always print rows, which the base always prints',
    )
  })
})
