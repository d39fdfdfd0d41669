import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { letters, SIZE_SPEC } from '../support/size-repository.ts'
import { waitingRuns } from '../github/measuring-job.ts'
import { jobClone } from './a-job.ts'
import { step } from './a-runner.ts'
import { onGithub, throughRun, ticking } from './a-campaign.ts'

test('the bundled action carries a campaign from its spec to its end, tick by tick and run by run', async () => {
  // These jobs measure without users of their own for the sides.
  const spec = `${SIZE_SPEC}merge: { unisolated: allow, forgeable: allow }\n`
  const { github, scene, token } = await onGithub({ '.winnow/size.yaml': spec })
  const statuses: unknown[] = []
  const fork = github.fork('eve')
  const theirs = scene.commit('spare', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
  scene.git('push', '-q', fork, `${theirs}:refs/heads/faster`)
  scene.git('update-ref', '-d', 'refs/heads/spare')
  const [eve, ada] = [github.token('eve', { permission: 'read' }), github.token('ada')]
  let offered: string | null = null
  for (let wakes = 0; wakes < 12; wakes++) {
    // The last job of each run starts the next one: nothing else has to.
    const [next] = waitingRuns(github)
    const ended = next ? await throughRun(github, token, next) : await ticking(github, token)
    expect([ended.code, ended.stderr, ended.orders]).toEqual([0, '', []])
    expect(ended.stdout + JSON.stringify(ended.outputs)).not.toContain(token)
    expect(ended.outputs).toMatchObject({ propose: '' })
    statuses.push(ended.result)
    const runs = waitingRuns(github)
    if (runs.length === 0 && offered !== null) {
      if (github.world.comments.some(({ author }) => author.login === 'ada')) break
      expect(ended.result).toMatchObject({
        campaigns: [
          { waiting: { for: 'person', what: expect.stringContaining(`/winnow measure ${theirs}`) } },
        ],
      })
      for (const [who, words] of [
        [eve, theirs],
        [ada, theirs],
      ] as const)
        await scene.ask(who, `POST /issues/${offered}/comments`, { body: `/winnow measure ${words}` })
    }
    if (offered === null) {
      const pull = { title: 'theirs', head: 'eve:faster', base: 'optimize/size' }
      offered = String((await scene.ask(eve, 'POST /pulls', pull)).body['number'])
    }
  }
  expect(statuses.at(-1)).toMatchObject({
    paused: false,
    later: [],
    broken: [],
    campaigns: [{ campaign: 'size', status: 'running', waiting: { for: 'ideas' }, verdicts: { kept: 2 } }],
  })
  expect(
    execFileSync('git', ['-C', github.bare, 'show', 'optimize/size:src/a.txt'], { encoding: 'utf8' }),
  ).toBe(letters('a', 3))
  const { runs, comments } = github.world
  const handled = comments.filter(({ body }) => body.startsWith('/winnow')).length
  // Two experiments, and the campaign's own pull request.
  const allowed = 3 * statuses.length + 8 * (2 + 1) + 2 * runs.length + 9 * handled
  const asked = github.api.log.filter(({ who, free }) => who === 'github-actions[bot]' && !free)
  expect(asked.length).toBeLessThanOrEqual(allowed)
  const workspace = jobClone(github.bare, 'optimize/size').dir
  for (const command of ['audit', 'replay']) {
    const proof = await step({ inputs: { command, campaign: 'size' }, workspace })
    expect([proof.code, proof.stderr]).toEqual([0, ''])
  }
}, 240_000)
