import { describe, expect, it } from 'vitest'
import { noisyProject, unfairProject } from './noisy-project.ts'
import { type Project, proven } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

/** A run that begins, and pauses before its first experiment: what it says, and that it says so again. */
async function pausedBy(person: Project): Promise<string> {
  const { code, out } = await person.winnow('run')
  expect(code).toBe(13)
  expect((await person.winnow('status')).out).toContain('Campaign ms (the harness is not probed): paused, ')
  expect((await person.winnow('log')).out).toContain('paused: ')
  expect(person.git('rev-parse', 'optimize/ms')).toBe(person.git('rev-parse', 'main'))
  await proven(person)
  return out
}

describe('a campaign does not begin', () => {
  it('with a harness that tells two identical copies apart', async () => {
    const said = await pausedBy(unfairProject())
    expect(said).toMatch(
      /the campaign is paused: the harness is not fair: ms tells two identical copies of the base apart \(evidence of 20 in two independent calibrations, 32 pairs in all\)\. A result depends on which copy runs: look for caches/,
    )
    expect(said).toContain('Fix it, then run winnow resume')
  })

  releaseTest('on a linear scale without evidence.min_effect', async () => {
    expect(await pausedBy(noisyProject({ files: { 'src/ms': '-1000000\n' } }))).toContain(
      'the campaign is paused: evidence.min_effect is not set, and ms is compared on a linear scale, where 2 % has no meaning: set it to the smallest change worth having, in its own units, with evidence.scale: linear',
    )
  })

  releaseTest('with a min_effect of 0, which no noisy metric can show', async () => {
    const none = noisyProject({ spec: text => `${text}evidence: { min_effect: 0 }\n` })
    expect(await pausedBy(none)).toContain(
      'the campaign is paused: evidence.min_effect is 0, which a noisy metric can never prove',
    )
  })

  it.each(selectCases(['auto', 'paired']))(
    'on a log scale with values of 0 or less, in mode %s',
    async mode => {
      const spec = (text: string) =>
        `${text.replace('bench/ms.sh', `bench/ms.sh, mode: ${mode}`)}evidence: { scale: log }\n`
      const below = noisyProject({ spec, files: { 'src/ms': '-1000000\n' } })
      expect(await pausedBy(below)).toContain(
        'the campaign is paused: evidence.scale is log, but ms is not always above 0',
      )
    },
  )
})

describe('a campaign that was calibrated', () => {
  it('says so in its log and in its status, in one line each', async () => {
    const person = noisyProject()
    await person.winnow('run')
    const noise = String.raw`pairs of the base with itself differ by \d\.\d % \(at most \d\.\d %, (16 pairs in 2|32 pairs in 4) jobs\), log scale, fair to both sides`
    expect((await person.winnow('log')).out).toMatch(
      new RegExp(String.raw`calibrated: noisy, ms varies from \S+ to \S+; ${noise}$`, 'm'),
    )
    expect((await person.winnow('status')).out).toMatch(new RegExp(`^  calibration: noisy, ${noise}$`, 'm'))
  })
})
