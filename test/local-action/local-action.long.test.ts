import { expect, it } from 'vitest'
import { onGithub } from '../action/a-campaign.ts'
import { waitingRuns } from '../github/measuring-job.ts'
import { runLocally } from './local-action.ts'

// One way in and one way out of every other command: local-action.release.test.ts runs them all.
it('local-action reads action.yml and starts the bundle, which speaks to GitHub and starts a run', async () => {
  const { github, token } = await onGithub()
  const checked = await runLocally(github, { inputs: { command: 'check' } })
  expect(checked).toMatchObject({ code: 0, result: { campaign: 'size' } })
  expect(checked.printed).toContain('next-jobs')
  const inputs = { command: 'tick', 'next-jobs': 'measure', 'github-token': token }
  const ticked = await runLocally(github, { inputs })
  expect(ticked).toMatchObject({ code: 0, result: { campaigns: [{ campaign: 'size' }] } })
  expect(waitingRuns(github)).toMatchObject([{ branch: 'optimize/size' }])
})
