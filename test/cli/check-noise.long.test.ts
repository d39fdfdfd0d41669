import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { noisyProject, unfairProject } from './noisy-project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const cost = z.strictObject({
  pairs: z.number(),
  jobs: z.number(),
  executions: z.number(),
  minutes: z.number(),
})
const noisyView = z.object({
  metrics: z.array(z.object({ name: z.string(), compared: z.string() })),
  tried: z.object({
    calibration: z.object({
      deterministic: z.literal(false),
      scale: z.enum(['log', 'linear']),
      noise: z.object({
        pair_sd: z.number(),
        pair_sd_upper90: z.number(),
        between_job_sd: z.number(),
        pairs: z.number(),
      }),
    }),
    prospects: z.object({
      min_effect: z.number(),
      chance_to_keep: z.array(z.object({ min_effects: z.number(), effect: z.number(), chance: z.number() })),
      smallest_visible_gain: z.number().nullable(),
      sees_min_effect: z.boolean(),
      ways_out: z.array(z.object({ way: z.string() })),
      null_idea: cost,
      good_idea: cost,
      campaign: z.object({ ideas: z.number(), minutes: z.array(z.number()).length(2) }),
    }),
  }),
})

describe('winnow check of a noisy metric', () => {
  it('calibrates as a campaign begins, and says all that follows from it', async () => {
    const { winnow, refs } = noisyProject()
    const before = refs()
    const { code, out, err } = await winnow('check')
    expect(code).toBe(0)
    expect(err).toMatch(
      /^(trying the harness: job [1-4] of the base against itself\n){2,4}attacking the harness with \d changes? that must not be kept\n$/,
    )
    for (const line of [
      /^ {2}compared: ms \(primary, lower is better\), in pairs of base and idea, until there is evidence$/m,
      /^ {2}smallest gain: 2 % of the base \(the default of evidence\.min_effect\)$/m,
      /^ {2}repeats exactly: no, ms varies from \S+ to \S+$/m,
      /^ {2}scale: log, gains are shares of the base$/m,
      /^ {2}noise: pairs of the base with itself differ by \d\.\d % \(at most \d\.\d %, (16 pairs in 2|32 pairs in 4) jobs\), jobs by \d\.\d %$/m,
      /^ {2}fair: two copies of the base did not differ in (16|24|32) pairs$/m,
      /^ {2}an idea without effect: \S+ pairs in \S+ jobs, \d+ executions, \S+ min$/m,
      /^ {2}an idea that gains 4\.0 %: \S+ pairs in \S+ jobs, \d+ executions, \S+ min$/m,
      /^ {2}a kept idea: 18 executions, \S+ min more, for its reported effect$/m,
      /^ {2}total improvement: 144 executions, \S+ min, once, before the campaign stops$/m,
      /^ {2}time: \S+ to \S+ min and \d+ to \d+ executions for 100 ideas, with set-up, gates and total improvement/m,
      /^ {4}true gain +0\.0 % +1\.0 % +2\.0 % +3\.0 % +4\.0 % +6\.0 %$/m,
      /^ {4}kept +0 % +\d+ %/m,
      /^ {2}smallest visible gain: \d\.\d % is kept with a chance of 80 %; evidence\.min_effect is 2\.0 %/m,
    ])
      expect(out).toMatch(line)
    expect(refs()).toBe(before)
  })

  releaseTest('answers all of it as JSON', async () => {
    const view = noisyView.parse(await noisyProject().json('check'))
    const { calibration, prospects } = view.tried
    expect(view.metrics).toEqual([{ name: 'ms', compared: 'pairs' }])
    expect([16, 24, 32]).toContain(calibration.noise.pairs)
    expect(calibration.noise.pair_sd).toBeLessThanOrEqual(calibration.noise.pair_sd_upper90)
    expect(prospects.chance_to_keep.map(({ min_effects }) => min_effects)).toEqual([0, 0.5, 1, 1.5, 2, 3])
    const chances = prospects.chance_to_keep.map(({ chance }) => chance)
    expect(chances).toEqual(chances.toSorted((a, b) => a - b))
    expect(prospects.null_idea.executions).toBeCloseTo(
      2 * (prospects.null_idea.pairs + prospects.null_idea.jobs),
    )
    expect(prospects.campaign.ideas).toBe(100)
  })

  releaseTest('shows three ways out where min_effect is hidden, before anything is spent', async () => {
    const loud = noisyProject({ thousandths: 900, spec: text => `${text}evidence: { max_jobs: 2 }\n` })
    const { out, code } = await loud.winnow('check')
    expect(code).toBe(0)
    expect(out).toMatch(/smallest visible gain: .*; evidence\.min_effect is 2\.0 %/)
    expect(out).toContain('  to see more: more jobs alone do not help, not even evidence.max_jobs: 32')
    expect(out).toMatch(
      /^ {2}to see more: (a better metric: one that the same idea moves|no metric would help)/m,
    )
    expect(out).toMatch(/^ {2}to see more: a quieter machine/m)
  })
})

describe('what no campaign can rest on is an error of check', () => {
  releaseTest('a harness that tells two identical copies apart', async () => {
    const { code, err } = await unfairProject().winnow('check')
    expect(code).toBe(2)
    expect(err).toContain('error: the harness is not fair: ms tells two identical copies of the base apart')
    expect(err).toContain('A result depends on which copy runs')
  })

  releaseTest('a linear scale without evidence.min_effect', async () => {
    const linear = noisyProject({ files: { 'src/ms': '-1000000\n' } })
    const { code, err } = await linear.winnow('check')
    expect(code).toBe(2)
    expect(err).toContain(
      'evidence.min_effect is not set, and ms is compared on a linear scale, where 2 % has no meaning: set it to the smallest change worth having',
    )
  })

  it.each(selectCases(['auto', 'paired']))('a log scale with values of 0 or less, in mode %s', async mode => {
    const spec = (text: string) =>
      `${text.replace('bench/ms.sh', `bench/ms.sh, mode: ${mode}`)}evidence: { scale: log }\n`
    const { code, err } = await noisyProject({ spec, files: { 'src/ms': '-1000000\n' } }).winnow('check')
    expect(code).toBe(2)
    expect(err).toContain('evidence.scale is log, but ms is not always above 0; set evidence.scale: linear')
  })
})

describe('winnow check of a time', () => {
  releaseTest('knows that it never repeats, and goes straight to the pairs', async () => {
    const timed = noisyProject({ spec: text => text.replace('name: ms', 'name: wall_seconds') })
    const { code, out } = await timed.winnow('check')
    expect(code).toBe(0)
    expect(out).toContain('compared: wall_seconds (primary, lower is better), in pairs')
    expect(out).toMatch(/^ {2}repeats exactly: no$/m)
    expect(readFileSync(join(timed.dir, 'src/ms'), 'utf8')).toBe('1000000\n')
  })
})
