import { expect, test } from 'vitest'
import { RIGHTS } from '../../src/init/workflows/setup.ts'
import { letters } from '../support/size-repository.ts'
import { waitingRuns, wholeRun } from '../github/measuring-job.ts'
import { woken, wokenJobs } from '../github/job-in-process.ts'
import { onGithub, tickGrants } from './a-campaign.ts'
import { selectCases } from '../support/cases.ts'

type Scope = keyof typeof RIGHTS.tick.permissions

interface Lack {
  code: number
  said: RegExp
  /** How far the campaign comes first. */
  after: 'nothing' | 'the baseline' | 'a comment'
}

/** What goes wrong without each of them, and how it is told: no right is given that nothing needs. */
const WITHOUT: Readonly<Record<Scope, Lack>> = {
  actions: { code: 69, said: /lacks actions: write\. Give the job that permission/, after: 'nothing' },
  contents: { code: 69, said: /cannot push to .* needs contents: write/s, after: 'nothing' },
  'pull-requests': {
    code: 69,
    said: /lacks pull-requests: read\. Give the job that permission/,
    after: 'nothing',
  },
  checks: { code: 0, said: /exp-001 has no check: .* lacks checks: write/, after: 'the baseline' },
  issues: { code: 0, said: /comment of ada has no reaction: .* lacks issues: write/, after: 'a comment' },
}

/** The wake-up in which the job would need what it has not. */
async function without(scope: string, { after }: Lack) {
  const { [scope.replaceAll('-', '_')]: _, ...grants } = tickGrants()
  const { github, scene, token } = await onGithub({}, grants)
  let settled = ''
  if (after !== 'nothing') {
    expect((await woken({ github, token })).code).toBe(0)
    const jobs = wokenJobs({ github, token, hear: out => void (settled += out) })
    for (const run of waitingRuns(github)) await wholeRun(github, run, jobs)
  }
  if (after === 'a comment') {
    const ada = github.token('ada')
    scene.commit('small', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
    const pull = { title: 'mine', head: 'small', base: 'optimize/size' }
    const { body } = await scene.ask(ada, 'POST /pulls', pull)
    await scene.ask(ada, `POST /issues/${String(body['number'])}/comments`, { body: '/winnow status' })
  }
  const { code, out } = await woken({ github, token })
  const answers = github.world.comments.filter(({ author }) => author.kind === 'actions')
  return { scope, code, stdout: settled + out, answers: answers.length }
}

test('each right of the jobs that write is needed, and missed by its name', async () => {
  for (const job of ['tick', 'settle'] as const)
    expect(Object.keys(RIGHTS[job].permissions).toSorted()).toEqual(Object.keys(WITHOUT).toSorted())
  const lacks = selectCases(Object.entries(WITHOUT), 4)
  const found = []
  for (const [scope, lack] of lacks) found.push(await without(scope, lack))
  expect(found).toEqual(
    lacks.map(([scope, { code, said }]) => ({
      scope,
      code,
      stdout: expect.stringMatching(said),
      // What cannot be reacted to is answered all the same.
      answers: scope === 'issues' ? 1 : 0,
    })),
  )
}, 240_000)
