import { describe, expect, it } from 'vitest'
import { forecast } from '../../src/report/check-forecast.ts'
import { ceSpec, winnowSpec } from '../spec/problems-of.ts'

function about(subject: string, ...given: Parameters<typeof forecast>): string[] {
  const start = `${subject}: `
  return forecast(...given).flatMap(line => (line.startsWith(start) ? [line.slice(start.length)] : []))
}

const bytes = { 'metric.primary': { name: 'bytes', direction: 'minimize' } }
const speed = { 'metric.primary': { name: 'rps', direction: 'maximize' } }

describe('what a run would do', () => {
  it('lets experiment code read what its user can read, and says so (invariant 6)', () => {
    expect(about('isolation', winnowSpec(bytes), null)).toEqual([
      'none; experiment code runs with your rights and can read your home directory',
    ])
  })

  it.each<[string, Record<string, unknown>, string]>([
    [
      'once',
      { ...bytes, 'measurement.mode': 'once' },
      'less bytes, each idea run once, and a gain once more',
    ],
    [
      'auto',
      speed,
      'more rps; three runs first show whether it repeats exactly, then each idea is run once, and a gain once more',
    ],
    [
      'a stored score',
      { ...bytes, 'measurement.stability': { mode: 'repeat' } },
      'less bytes, repeat runs compared with a stored score',
    ],
  ])('is judged by its rules: %s', (_, changes, expected) => {
    expect(about('judged by', winnowSpec(changes), null)).toEqual([expected])
  })

  it.each<[Record<string, unknown>, string]>([
    [{}, 'any, where bytes repeats exactly'],
    [{ 'evidence.min_effect': 0.05 }, '5 % of the base (evidence.min_effect)'],
    [{ 'measurement.stability': {} }, 'more than 0.02 bytes (noise_threshold)'],
    [
      { 'measurement.stability': { comparison: { method: 'relative', relative_threshold: 0.1 } } },
      'more than 10 % of the base (relative_threshold)',
    ],
  ])('counts a gain from some size on: %j', (changes, expected) => {
    expect(about('smallest gain', winnowSpec({ ...bytes, ...changes }), null)).toEqual([expected])
  })

  it('passes gates of both kinds, with what a person said about them', () => {
    expect(about('gate', winnowSpec(bytes), null)).toEqual(['tests: npm test (pre)'])
    expect(about('gate', ceSpec(), null)).toEqual([
      'build_passed == 1, a broken build is not a fast one',
      'test_pass_rate >= 1.0',
    ])
  })

  it.each<[Record<string, unknown>, string]>([
    [{}, 'at most 4 executions or 2 min an idea, 200 min for 100, besides set-up and gates'],
    [
      { 'measurement.stability': { mode: 'stable' }, 'measurement.baseline': 'cached' },
      'at most 1 execution or 0.5 min an idea, 50 min for 100, besides set-up and gates',
    ],
    [
      { 'measurement.stability': { mode: 'ladder', ladder: { confirmation_repeats: 3 } } },
      'at most 6 executions or 3 min an idea, 300 min for 100, besides set-up and gates',
    ],
  ])('takes as long as the harness was seen to take: %j', (changes, expected) => {
    expect(about('time', winnowSpec({ ...bytes, ...changes }), 30)).toEqual([expected])
    expect(about('time', winnowSpec({ ...bytes, ...changes }), null)).toEqual([])
  })

  it('ends by its rules, and names them', () => {
    const stopping = { max_iterations: 7, max_hours: 1, plateau: 3, max_runner_minutes: 90, max_failures: 2 }
    expect(about('stops after', winnowSpec({ ...bytes, stopping }), null)).toEqual([
      '7 experiments, 3 without a new incumbent, 1 hour, 90 runner minutes, 2 broken in a row',
    ])
  })
})
