import { describe, expect, test } from 'vitest'
import { findOtherAnswers, hasOtherAnswers } from '../../src/decide/same-answers.ts'
import type { Execution, MetricValue } from '../../src/model/report.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { SpecErrors } from '../../src/spec/errors.ts'

const specText = (gate: string, more = '') => `winnow: 1
metric:
  primary: { name: ms, direction: minimize }
  degenerate_gates:
    - ${gate}
measurement: { command: "true"${more} }
scope: { mutable: [src/] }
`
const spec = parseSpec(specText('{ name: sum, check: == base }'), { file: 'spec.yaml' }).spec

function run(
  side: Execution['side'],
  sum: MetricValue | undefined,
  more: Partial<Execution> = {},
): Execution {
  return {
    side,
    role: 'sample',
    build: 0,
    seed: 1,
    status: 'ok',
    exit_code: 0,
    signal: null,
    wall_seconds: 1,
    metrics: { ms: 5, ...(sum === undefined ? {} : { sum }) },
    ...more,
  }
}

const judge = (label: Execution['side'], ...executions: Execution[]) =>
  findOtherAnswers({ spec, report: { executions }, label })

describe('an answer that must be the same', () => {
  test('is equal on both sides', () => {
    expect(judge('exp-001', run('base', 42), run('exp-001', 42))).toBe(null)
    expect(judge('exp-001', run('base', 'a3f'), run('exp-001', 'a3f'))).toBe(null)
    expect(judge('exp-001', run('base', true), run('exp-001', true))).toBe(null)
  })

  test.each([
    [41, 42, 'answers differ: sum is 41, the base prints 42'],
    [42.000001, 42, 'answers differ: sum is 42.000001, the base prints 42'],
    ['a3e', 'a3f', 'answers differ: sum is "a3e", the base prints "a3f"'],
    ['42', 42, 'answers differ: sum is "42", the base prints 42'],
    [undefined, 42, 'answers differ: sum is missing, the base prints 42'],
    [null, 42, 'answers differ: sum is missing, the base prints 42'],
    [false, true, 'answers differ: sum is false, the base prints true'],
  ])('%j is not %j', (own, base, reason) => {
    const found = judge('exp-001', run('base', base), run('exp-001', own))
    expect(found).toMatchObject({ outcome: 'degenerate', reason, violated_objectives: ['sum'] })
  })

  test('counts in every execution, warm-ups and repeats among them', () => {
    const warm = [run('base', 42, { role: 'warmup' }), run('exp-001', 41, { role: 'warmup' })]
    expect(judge('exp-001', ...warm, run('base', 42), run('exp-001', 42))?.outcome).toBe('degenerate')
  })

  test('may depend on the seed: each is compared with the same one', () => {
    const runs = (own: number) => [
      run('base', 42, { seed: 1 }),
      run('exp-001', 42, { seed: 1 }),
      run('base', 43, { seed: 2 }),
      run('exp-001', own, { seed: 2 }),
    ]
    expect(judge('exp-001', ...runs(43))).toBe(null)
    expect(judge('exp-001', ...runs(42))?.reason).toBe('answers differ: sum is 42, the base prints 43')
  })

  test('blames no candidate where the base itself varies', () => {
    const found = judge('exp-001', run('base', 42), run('base', 43, { role: 'repeat' }), run('exp-001', 41))
    expect(found).toMatchObject({
      retry: true,
      reason: 'sum differs between two runs of the base (42 and 43), so no change could pass == base',
    })
  })

  test('is no gate that a base could pass whose copy answers otherwise, or that prints nothing', () => {
    expect(judge('base-copy', run('base', 42), run('base-copy', 43))?.outcome).toBe('degenerate')
    expect(judge('base-copy', run('base', undefined), run('base-copy', undefined))?.reason).toBe(
      'the base does not print sum, which == base needs',
    )
  })

  test('says nothing about a failed execution, or where no base ran', () => {
    expect(judge('exp-001', run('base', 42), run('exp-001', 41, { status: 'crashed' }))).toBe(null)
    expect(judge('sync', run('sync', 41))).toBe(null)
  })

  test('is run a second time where it differs', () => {
    const has = (own: number) =>
      hasOtherAnswers({
        spec,
        report: { executions: [run('base', 42), run('exp-001', own)] },
        label: 'exp-001',
      })
    expect([has(41), has(42)]).toEqual([true, false])
  })
})

describe('a spec with == base', () => {
  const describeProblems = (text: string) => {
    try {
      parseSpec(text, { file: 'spec.yaml' })
    } catch (error) {
      return error instanceof SpecErrors ? error.message : ''
    }
    return ''
  }

  test.each([
    ['{ name: wall_seconds, check: == base }', '', /5.*wall_seconds is never the same/],
    ['{ name: ms, check: == base }', '', /5.*ms is an objective/],
    ['{ name: sum, check: == base }', ', stability: {}, baseline: cached', /5.*no base runs in the same job/],
    ['{ name: sum, check: "!= base" }', '', /5.*"== base": the same answer as the base/],
  ])('%s%s names the line', (gate, more, message) => {
    expect(describeProblems(specText(gate, more))).toMatch(message)
  })
})
