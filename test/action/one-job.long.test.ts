import { expect, test } from 'vitest'
import { SIZE_SPEC } from '../support/size-repository.ts'
import { waitingRuns } from '../github/measuring-job.ts'
import { job, onGithub, ticking } from './a-campaign.ts'
import { releaseTest } from '../support/cases.ts'

test('a job that may not: paused, without a token, in another clone; of two campaigns one does not stop the other', async () => {
  const broken = SIZE_SPEC.replace('minimize', 'sideways')
  const { github, token } = await onGithub({ '.winnow/other.yaml': broken })
  const paused = await ticking(github, token, { WINNOW_PAUSED: 'true' })
  expect([paused.code, paused.result]).toEqual([0, { paused: true, campaigns: [], later: [], broken: [] }])
  const without = await ticking(github, '')
  expect([without.code, without.stdout]).toEqual([2, expect.stringContaining('needs the input github-token')])
  const elsewhere = await ticking(github, token, { GITHUB_REPOSITORY: 'eve/project' })
  expect([elsewhere.code, elsewhere.stdout]).toEqual([2, expect.stringContaining('origin of this clone is')])
  expect(github.world.runs).toEqual([])
  const both = await ticking(github, token)
  expect(both.code).toBe(2)
  expect(both.result).toMatchObject({ broken: ['other'], campaigns: [{ campaign: 'size' }] })
  const folded = both.orders.map(({ command, data }) =>
    command === 'error' ? command : `${command} ${data}`,
  )
  expect(folded).toEqual(expect.arrayContaining(['group other', 'endgroup ', 'error', 'group size']))
  expect(folded.indexOf('error')).toBeGreaterThan(folded.indexOf('group other') + 1)
  expect(waitingRuns(github)).toHaveLength(1)
})

releaseTest(
  'runners and services are for measuring jobs: ordered there, refused by a job or a machine that measures itself',
  async () => {
    const spec = `${SIZE_SPEC}execution: { runs_on: [self-hosted, bench], services: { db: { image: "postgres:17" } } }\n`
    const { github, token } = await onGithub({ '.winnow/size.yaml': spec })
    const alone = await job(github, 'main', { inputs: { command: 'run', 'github-token': token } })
    expect([alone.code, alone.stdout]).toEqual([2, expect.stringContaining('execution.runs_on: choosing a')])
    expect(github.world.pulls).toEqual([])
    const ticked = await ticking(github, token)
    expect(ticked.code).toBe(0)
    expect(waitingRuns(github)).toHaveLength(1)
    const later = await job(github, 'main', { inputs: { command: 'run', 'github-token': token } })
    expect([later.code, later.stdout]).toEqual([2, expect.stringContaining('execution.services: starting')])
  },
)
