import { describe, expect, it } from 'vitest'
import { type Assessment, createFinding } from '../../src/decide/assessment.ts'
import {
  estimateComparisonSeconds,
  estimateInitialSeconds,
  findBenchmarkFiles,
  renderComparisonForecast,
  renderComparisonLiveLine,
  renderComparisonProgress,
  renderComparisonReport,
} from '../../src/report/compare-report.ts'
import { buildCompareView, type ComparisonResult, toCompareExitCode } from '../../src/report/compare.ts'
import { formatDuration } from '../../src/report/terminal.ts'
import { aJob, aRule, gainsOf, someTerms } from '../decide/paired/a-case.ts'
import { run } from '../decide/a-spec.ts'
import { winnowSpec } from '../spec/problems-of.ts'
import { NOISE, POINT } from './campaign-of.ts'
import { reported } from './pairs-of-a-story.ts'

const spec = winnowSpec()
const WALL = 'wall_seconds'

function assessed(outcome: Assessment['outcome'], more: Partial<Assessment> = {}): Assessment {
  return { ...createFinding(outcome, 'why'), warnings: [], ...more }
}

/** Two jobs of a branch that gains so much, as far as they were measured. */
function compared(gain: number, more: Partial<ComparisonResult> = {}, pairs = [8, 8]): ComparisonResult {
  const jobs = pairs.map((count, at) => aJob(String(at), gainsOf(WALL, gain, count)))
  const paired = { spec, rule: aRule({ metrics: [WALL] }), terms: someTerms(), jobs }
  const calibration = { deterministic: false, scale: 'log', reason: '', noise: NOISE } as const
  return {
    spec,
    base: { name: 'main', point: POINT },
    head: { name: 'my-branch', point: POINT },
    label: 'exp-001',
    trial: { calibration, prospects: null },
    paired,
    assessment: assessed('eligible'),
    report: null,
    executions: { calibration: 36, comparison: 36, saved: 0 },
    seconds: 190,
    minutes: 1,
    end: 'decided',
    models: null,
    failure: null,
    ...more,
  }
}

const sentence = (...given: Parameters<typeof compared>) => buildCompareView(compared(...given)).sentence

describe('a benchmark that prints its number', () => {
  const timed = (printed: Record<string, number>, primary = WALL) => {
    const metrics = { [WALL]: 1, cpu_seconds: 1, ...printed }
    const { report } = reported({ executions: [run('base', metrics), run('exp-001', metrics)] })
    const own = { ...spec, metric: { ...spec.metric, primary: { ...spec.metric.primary, name: primary } } }
    const all = compared(0.04, { report, spec: own })
    return renderComparisonReport(buildCompareView(all), all, []).filter(line => line.includes('timed:'))
  }

  it('is suggested when the whole duration was compared', () => {
    expect(timed({ ms: 5, bytes: 7 })).toEqual([
      '  timed: all that the command does; it also prints ms, bytes, and --metric ms compares that',
    ])
  })

  it('is not suggested without printed numbers, or when one was compared', () => {
    expect([...timed({}), ...timed({ ms: 5 }, 'ms')]).toEqual([])
  })
})

describe('the sentence of a comparison', () => {
  it('states the effect and its interval', () => {
    expect(sentence(0.042)).toBe('my-branch is 4.1 % faster than main (between 4.0 and 4.2 %).')
  })

  it('distinguishes worse, no gain and not proven', () => {
    const worse = { assessment: assessed('dropped', { worse: true }) }
    expect(sentence(-0.03, worse)).toMatch(
      /^my-branch is 3\.0 % slower than main \(between 2\.\d and 3\.\d %\)/,
    )
    const none = { assessment: assessed('dropped') }
    expect(sentence(0.004, none)).toMatch(
      /^No gain of 2 % or more: my-branch is probably 0\.4 % faster than main/,
    )
    const open = { assessment: assessed('inconclusive') }
    expect(sentence(0.012, open)).toMatch(
      /^Not proven in 2 jobs: my-branch is probably 1\.2 % faster than main/,
    )
  })

  it('states the result so far when it ended early', () => {
    const early = { assessment: null, end: 'interrupted' } as const
    expect(sentence(0.05, early, [4])).toBe(
      'Interrupted, and not proven: my-branch is probably 4.9 % faster than main (too few pairs for an interval) so far.',
    )
    expect(sentence(0.05, { assessment: null, end: 'time' })).toMatch(
      /^Not proven within 60 s of measuring: /,
    )
    expect(sentence(0.05, early, [])).toBe(
      'Interrupted before my-branch and main were compared: there is no result yet.',
    )
  })

  it('capitalizes names that are no branch, and gives the reason of a failure', () => {
    const head = { name: 'your work tree', point: POINT }
    expect(sentence(0.042, { head })).toMatch(/^Your work tree is 4\.1 % faster than main/)
    const reason = 'the harness crashed: ended with exit code 3\nin: x'
    expect(sentence(0, { assessment: assessed('error', { reason }) })).toBe(
      'my-branch is broken: the harness crashed: ended with exit code 3',
    )
  })

  it.each([
    ['eligible', false, 'decided', 0],
    ['dropped', false, 'decided', 10],
    ['dropped', true, 'decided', 15],
    ['inconclusive', false, 'decided', 11],
    ['refused', false, 'decided', 12],
    ['degenerate', false, 'decided', 13],
    ['timeout', false, 'decided', 13],
    ['eligible', false, 'interrupted', 130],
  ] as const)('%s, worse %s, %s exits with %d', (outcome, worse, end, code) => {
    const view = buildCompareView(compared(0, { assessment: assessed(outcome, { worse }), end }))
    expect(toCompareExitCode(view, end)).toBe(code)
  })
})

describe('the basis of a comparison', () => {
  it('aggregates both sides over all jobs, like the effect', () => {
    const last = { [WALL]: 77, cpu_seconds: 77 }
    const { report } = reported({ executions: [run('base', last), run('exp-001', last)] })
    const all = compared(0.05, { report }, [8, 1])
    const pairs = all.paired?.jobs.flatMap(job => job.pairs) ?? []
    const middle = (side: 'base' | 'candidate') =>
      pairs.map(pair => Number(pair[side]?.[WALL])).toSorted((a, b) => a - b)[4]
    const { base, head } = buildCompareView(all)
    expect([base.metrics, head.metrics]).toEqual([
      { [WALL]: middle('base') },
      { [WALL]: middle('candidate') },
    ])
  })

  it('counts executions once, including half a pair at the end', () => {
    const executions = { calibration: 36, comparison: 37, saved: 0 }
    const all = compared(0.042, { executions, end: 'interrupted', assessment: null })
    const counts = renderComparisonReport(buildCompareView(all), all, []).filter(line =>
      line.includes('execution'),
    )
    expect(counts).toEqual(['  cost: 73 executions, 36 of them of main with itself, 3 min of this machine'])
  })

  it('says how many runs of the base served both comparisons', () => {
    const all = compared(0.042, { executions: { calibration: 36, comparison: 11, saved: 11 } })
    expect(renderComparisonReport(buildCompareView(all), all, []).at(-1)).toBe(
      '  cost: 47 executions, 36 of them of main with itself (11 fewer: runs of main served both comparisons), 3 min of this machine',
    )
  })

  it('names the quieter metric of the same runs, and the option that compares it', () => {
    const quieter = { metric: 'cpu_seconds', pair_sd: 0.004, visible_gain: 0.022, primary_visible_gain: null }
    const calibration = { deterministic: false, scale: 'log', reason: '', noise: NOISE, quieter } as const
    const all = compared(0.042, {
      trial: { calibration, prospects: null, quieterLine: '--metric cpu_seconds' },
    })
    expect(renderComparisonReport(buildCompareView(all), all, [])).toContain(
      '  cpu_seconds is quieter: pairs differ by 0.4 % instead of 3.0 %; smallest visible gain 2.2 % instead of none; it counts no waiting; --metric cpu_seconds compares it',
    )
    expect(buildCompareView(all).quieter).toEqual(quieter)
  })

  it('mentions the single machine and the unprotected benchmark', () => {
    const all = compared(0.042)
    const lines = renderComparisonReport(buildCompareView(all), all, ['src/a.ts', 'bench/run.js'])
    expect(lines[1]).toMatch(
      /^ {2}evidence \S+ \(needed to be sure: 100\) ▕█{20}▏ 16 pairs in 2 jobs on this machine$/,
    )
    expect(lines.slice(2)).toEqual([
      expect.stringContaining('Noise: the base differs from itself by 3.0 %'),
      expect.stringContaining('effects specific to this machine are not averaged out'),
      expect.stringContaining('the files that the command names are identical'),
      '  cost: 72 executions, 36 of them of main with itself, 3 min of this machine',
    ])
  })

  it.each([
    ['node bench/run.js', '.', ['bench/run.js', 'src/a.ts'], ['bench/run.js']],
    ['sh ./bench', '.', ['bench/run.js'], ['bench/run.js']],
    ['npm run bench', '.', ['package.json', 'src/a.ts'], ['package.json']],
    ['node size.js', 'pkg', ['pkg/size.js', 'size.js'], ['pkg/size.js', 'size.js']],
    ['node ../src/a.ts', './pkg/', ['src/a.ts'], ['src/a.ts']],
    ["sh -c 'cat src/a.ts | wc'", '.', ['src/a.ts'], ['src/a.ts']],
    ['true', '.', ['src/a.ts'], []],
  ])('%s in %s names, of %j, %j', (command, working_directory, differing, named) => {
    expect(findBenchmarkFiles(differing, { command, working_directory })).toEqual(named)
  })
})

describe('the progress of a comparison', () => {
  const prospects = {
    pairs_per_job: 8,
    max_jobs: 8,
    smallest_visible_gain: 0.034,
    null_idea: { minutes: 1 },
    good_idea: { minutes: 2.5 },
  }
  const { trial, paired } = compared(0.03, {}, [8])
  const names = { base: { name: 'main' }, head: { name: 'my-branch' } }

  it('logs the forecast and the result of each job', () => {
    const known = { seconds: 1, calibration: trial?.calibration ?? null, prospects: whole(prospects) }
    const fair = 'fair: main did not differ from itself; a gain of 3.4 % would be seen with a chance of 80 %'
    expect(renderComparisonForecast(known, names, false)).toEqual([fair])
    expect(renderComparisonForecast(known, names, true)).toEqual([
      fair,
      `main against my-branch: mostly 60 s to 3 min, at most ${formatDuration(estimateComparisonSeconds(known))}`,
    ])
    expect(formatDuration(estimateInitialSeconds(spec, 60))).toBe('1 h 56 min')
    expect(renderComparisonProgress(null, spec, 1)).toBe('job 1 of at most 8: begins')
    expect(renderComparisonProgress(paired, spec, 2)).toMatch(
      /^job 2 of at most 8: wall_seconds probably 3\.0 % faster/,
    )
    const executions = { calibration: 3, comparison: 0, saved: 0 }
    expect(renderComparisonLiveLine({ trial: null, paired: null, executions }, names, 12)).toBe(
      'main against itself: 3 executions, 12 s',
    )
    expect(renderComparisonLiveLine({ trial: known, paired, executions }, names, 12)).toMatch(
      /^my-branch against main: 8 pairs, 12 s of at most .*; wall_seconds probably 3\.0 % faster/,
    )
  })
})

function whole(some: object): NonNullable<Parameters<typeof renderComparisonForecast>[0]['prospects']> {
  const cost = { pairs: 9, jobs: 1.5, executions: 21, minutes: 1 }
  const rest = {
    min_effect: 0.02,
    null_effect: 0.01,
    level: 0.01,
    pairs_per_job: 8,
    max_jobs: 8,
    single_machine: true,
    chance_to_keep: [],
    smallest_visible_gain: null,
    sees_min_effect: true,
    ways_out: [],
    null_idea: cost,
    good_idea: cost,
    each_keep: cost,
    keep_check: cost,
    headline: cost,
    campaign: { ideas: 1, minutes: [1, 1] as [number, number], executions: [1, 1] as [number, number] },
  }
  return { ...rest, ...some }
}

describe('a duration', () => {
  it.each([
    [0.4, 'less than 1 s'],
    [42, '42 s'],
    [190, '3 min'],
    [3_600, '1 h'],
    [11_400, '3 h 10 min'],
  ])('of %d s is %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text)
  })
})
