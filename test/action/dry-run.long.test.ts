import { expect } from 'vitest'
import { waitingRuns, wholeRun } from '../github/measuring-job.ts'
import { wokenJobs } from '../github/job-in-process.ts'
import { BUNDLED, IN_PROCESS, job, onGithub } from './a-campaign.ts'
import { releaseTest } from '../support/cases.ts'

releaseTest(
  'a dry run says what tick would do next, and nothing is written anywhere',
  async () => {
    const { github, scene, token } = await onGithub()
    const state = () => ({
      refs: scene.git('for-each-ref'),
      world: structuredClone([
        github.world.pulls,
        github.world.checks,
        github.world.runs.map(({ status }) => status),
      ]),
    })
    const dry = async (value = 'true', jobs = IN_PROCESS) => {
      const before = state()
      const ended = await jobs.ticking(github, token, {}, { 'next-jobs': '', 'dry-run': value })
      expect(state()).toEqual(before)
      return ended
    }
    const first = await dry('true', BUNDLED)
    expect([first.code, first.orders, first.outputs['propose']]).toEqual([0, [], ''])
    expect(first.result).toMatchObject({
      dry_run: true,
      campaigns: [
        {
          campaign: 'size',
          would: expect.arrayContaining([
            'start a run on optimize/size: size: measure calibration',
            'Nothing was written. It would write:',
            expect.stringMatching(/^ {2}event 0 campaign-started /),
          ]),
        },
      ],
    })
    expect(first.stdout).toContain('event 0 campaign-started')
    const debugged = await BUNDLED.ticking(github, token, { RUNNER_DEBUG: '1' })
    expect(debugged.stdout).toMatch(/^POST \/api\/graphql 200, \d+ ms$/m)
    expect(debugged.stdout).toMatch(/^size took \d+ ms\.$/m)
    expect(first.stdout + debugged.stdout).not.toContain(token)
    expect(first.stdout).not.toMatch(/ \d+ ms/)
    expect((await dry()).result).toMatchObject({
      campaigns: [{ would: ['Waiting for a measurement.', 'Nothing would be written.'] }],
    })
    for (const run of waitingRuns(github)) await wholeRun(github, run, wokenJobs({ github, token }))
    // The last job of that run has started the next one.
    expect(waitingRuns(github).map(({ title }) => title)).toEqual(['size: measure exp-001'])
    expect((await dry()).result).toMatchObject({
      campaigns: [{ would: ['Waiting for a measurement.', 'Nothing would be written.'] }],
    })
    const unclear = await dry('yes')
    expect([unclear.code, unclear.stdout]).toEqual([2, expect.stringContaining('the input dry-run is "yes"')])
    for (const command of ['run', 'measure']) {
      const { code, stdout } = await job(github, 'main', { inputs: { command, 'dry-run': 'true' } })
      expect([code, stdout]).toEqual([
        2,
        expect.stringContaining(`command ${command} does not support dry-run`),
      ])
    }
  },
  240_000,
)
