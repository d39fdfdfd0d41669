import { describe, expect, it } from 'vitest'
import { renderForecast } from '../../src/report/check.ts'
import { describeCampaignTime } from '../../src/report/check-effort.ts'
import { ceSpec, winnowSpec } from '../spec/problems-of.ts'

function about(subject: string, ...given: Parameters<typeof renderForecast>): string[] {
  const start = `${subject}: `
  return renderForecast(...given).flatMap(line => (line.startsWith(start) ? [line.slice(start.length)] : []))
}

const bytes = { 'metric.primary': { name: 'bytes', direction: 'minimize' } }

describe('the forecast of a run', () => {
  it('warns that experiment code can read what its user can read (invariant 6)', () => {
    const rights =
      'experiment code runs with your rights and can read your home directory, and one idea can reach the files of another'
    expect(about('isolation', winnowSpec(bytes), 'local')).toEqual([`none; ${rights}`])
    const none = winnowSpec({ ...bytes, 'measurement.isolation': 'none' })
    expect(about('isolation', none, 'github')).toEqual([`none; ${rights}`])
    expect(about('isolation', winnowSpec(bytes), 'github')).toEqual([
      `a user for each side in measuring jobs, where the commands work that way; here none: ${rights}`,
    ])
  })

  it('mentions separate users when the spec asks for them', () => {
    const uid = winnowSpec({ ...bytes, 'measurement.isolation': 'uid' })
    for (const where of ['local', 'github'] as const)
      expect(about('isolation', uid, where)).toEqual([
        'uid; each side runs as its own user, which can read neither the other side nor your private files',
      ])
  })

  it('lists gates of both kinds with their descriptions', () => {
    expect(about('gate', winnowSpec(bytes), 'local')).toEqual(['tests: npm test (pre)'])
    expect(about('gate', ceSpec(), 'local')).toEqual([
      'build_passed == 1, a broken build is not a fast one',
      'test_pass_rate >= 1.0',
    ])
  })

  it.each<[Record<string, unknown>, string]>([
    [{}, 'at most 4 executions or 2 min an idea, 200 min for 100, plus setup and gates'],
    [
      { 'measurement.stability': { mode: 'stable' }, 'measurement.baseline': 'cached' },
      'at most 1 execution or 0.5 min an idea, 50 min for 100, plus setup and gates',
    ],
    [
      { 'measurement.stability': { mode: 'ladder', ladder: { confirmation_repeats: 3 } } },
      'at most 6 executions or 3 min an idea, 300 min for 100, plus setup and gates',
    ],
  ])('estimates time from the measured execution: %j', (changes, expected) => {
    expect(describeCampaignTime(winnowSpec({ ...bytes, ...changes }), 30)).toEqual(`time: ${expected}`)
  })

  it('lists the rules that end the campaign', () => {
    const stopping = { max_iterations: 7, max_hours: 1, plateau: 3, max_runner_minutes: 90, max_failures: 2 }
    expect(about('stops after', winnowSpec({ ...bytes, stopping }), 'local')).toEqual([
      '7 experiments, 3 without a new incumbent, 1 hour, 90 runner minutes, 2 that crash or run out of time',
    ])
  })
})
