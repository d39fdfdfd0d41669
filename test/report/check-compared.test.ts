import { describe, expect, it } from 'vitest'
import { listComparedMetrics, renderComparedMetrics } from '../../src/report/check.ts'
import { winnowSpec } from '../spec/problems-of.ts'

const bytes = { 'metric.primary': { name: 'bytes', direction: 'minimize' } }
const speed = { 'metric.primary': { name: 'rps', direction: 'maximize' } }
const seconds = { 'metric.primary': { name: 'wall_seconds', direction: 'minimize' } }

function said(changes: Record<string, unknown>, deterministic: boolean | null = null): string[] {
  const spec = winnowSpec(changes)
  return renderComparedMetrics(spec, listComparedMetrics(spec, deterministic))
}

describe('how metrics are compared', () => {
  it.each<[string, Record<string, unknown>, boolean | null, string]>([
    [
      'once',
      { ...bytes, 'measurement.mode': 'once' },
      null,
      'bytes (primary, lower is better), each idea runs once, a gain twice',
    ],
    [
      'not known yet',
      speed,
      null,
      'rps (primary, higher is better), each idea run once if it repeats exactly, else in pairs of base and idea',
    ],
    ['shown to repeat', speed, true, 'rps (primary, higher is better), each idea runs once, a gain twice'],
    [
      'shown to vary',
      speed,
      false,
      'rps (primary, higher is better), in pairs of base and idea, until there is evidence',
    ],
    [
      'a time',
      seconds,
      null,
      'wall_seconds (primary, lower is better), in pairs of base and idea, until there is evidence',
    ],
    [
      'a stored score',
      { ...bytes, 'measurement.stability': { mode: 'repeat' }, 'measurement.baseline': 'cached' },
      null,
      'bytes (primary, lower is better), repeat runs compared with a stored score',
    ],
    [
      'a base measured beside it',
      { ...bytes, 'measurement.stability': { mode: 'repeat' }, 'measurement.baseline': 'fresh' },
      null,
      'bytes (primary, lower is better), repeat runs compared with runs of the base',
    ],
  ])('%s', (_, changes, deterministic, expected) => {
    expect(said(changes, deterministic)[0]).toBe(`compared: ${expected}`)
  })

  it('is described for exactly the metrics that can change a verdict', () => {
    const objectives = [
      { name: 'rss', direction: 'minimize', role: 'guardrail' },
      { name: 'score', direction: 'maximize', role: 'required' },
      { name: 'seen', direction: 'maximize', role: 'secondary' },
    ]
    const policy = { 'policy.tie_breakers': [{ lower: 'lines' }] }
    const metrics = listComparedMetrics(
      winnowSpec({ ...bytes, 'metric.objectives': objectives, ...policy }),
      false,
    )
    expect(metrics.map(({ name, role, compared }) => [name, role, compared])).toEqual([
      ['bytes', 'primary', 'pairs'],
      ['rss', 'guardrail', 'pairs'],
      ['score', 'required', 'pairs'],
      ['lines', 'tie-breaker', 'pairs'],
    ])
  })
})

describe('the smallest gain', () => {
  const noisy = '2 % of the base (the default of evidence.min_effect)'

  it.each<[Record<string, unknown>, boolean | null, string]>([
    [{}, null, `any, where bytes repeats exactly; else ${noisy}`],
    [{}, true, 'any, where bytes repeats exactly'],
    [{}, false, noisy],
    [{ 'evidence.min_effect': 0.05 }, null, '5 % of the base (evidence.min_effect)'],
    [{ evidence: { min_effect: 3, scale: 'linear' } }, null, '3 bytes (evidence.min_effect)'],
    [{ 'measurement.stability': {} }, null, 'more than 0.02 bytes (noise_threshold)'],
    [
      { 'measurement.stability': { comparison: { method: 'relative', relative_threshold: 0.1 } } },
      null,
      'more than 10 % of the base (relative_threshold)',
    ],
  ])('%j', (changes, deterministic, expected) => {
    expect(said({ ...bytes, ...changes }, deterministic).at(-1)).toBe(`smallest gain: ${expected}`)
  })
})
