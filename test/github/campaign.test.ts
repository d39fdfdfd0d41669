import { execFileSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { githubForge } from '../../src/forge/github/forge.ts'
import { shortRef } from '../../src/model/refs.ts'
import { letters, shorter, sizeYard } from '../engine/size-yard.ts'
import { patchOf, proven } from '../engine/yard.ts'
import { emulatedGithub } from './emulator/github.ts'
import { sceneOf } from './scene.ts'
import { IMPATIENT } from './temp-github.ts'

const GRANTS = { contents: 'write', pull_requests: 'write', issues: 'write' } as const

/** A campaign whose remote and pull requests are on the emulated GitHub, run as one job with its token. */
async function onGithub(ideas: readonly string[]) {
  const github = await emulatedGithub()
  onTestFinished(() => github.stop())
  const yard = await sizeYard(ideas, { remote: true })
  execFileSync('git', ['-C', yard.repo, 'push', '-q', github.bare, 'main'])
  const token = github.jobToken(GRANTS)
  const { url, env } = github.remote(token)
  yard.git('remote', 'set-url', 'origin', url)
  const post = () =>
    yard.another({
      env,
      forge: refs =>
        githubForge({
          apiUrl: `${github.url}/api/v3`,
          repository: 'team/project',
          token,
          version: '0.0.0',
          say: () => undefined,
          patience: IMPATIENT,
          base: shortRef(refs.optimize),
          clock: Date.now,
          sleep: milliseconds => new Promise(resolve => setTimeout(resolve, Math.min(milliseconds, 20))),
          random: Math.random,
        }),
    })
  return { github, yard, post, scene: sceneOf(github), ada: github.token('ada') }
}

describe('a campaign on GitHub', () => {
  test('goes from its start to its proofs: engine ideas, a branch, a pull request, a fork', async () => {
    const broken = patchOf(
      { 'src/c.txt': [letters('c', 15), 'broken\n'] },
      { hypothesis: 'breaks the tests' },
    )
    const { github, post, scene, ada } = await onGithub([shorter('a', 3), broken])
    const here = await post()
    expect(await here.start()).toBe('started')
    scene.commit('small', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
    const theirs = { title: 'mine', head: 'small', base: 'optimize/size', body: 'It is **mine**.' }
    expect((await scene.ask(ada, 'POST /pulls', theirs)).status).toBe(201)
    const fork = github.fork('eve')
    scene.git('push', '-q', fork, `${scene.tip('main')}:refs/heads/optimize-exp/size/exp-001`)
    const longer = scene.commit('spare', { 'src/c.txt': letters('c', 20) }, [scene.tip('main')])
    scene.git('push', '-q', fork, `+${longer}:refs/heads/optimize-exp/size/exp-001`)
    scene.git('update-ref', '-d', 'refs/heads/spare')
    const eve = github.token('eve')
    const forked = { title: 'longer', head: 'eve:optimize-exp/size/exp-001', base: 'optimize/size' }
    expect((await scene.ask(eve, 'POST /pulls', forked)).status).toBe(201)

    github.spent()
    expect(await here.run()).toEqual({ for: 'ideas' })
    const requests = github.spent()

    expect(await here.outcomes()).toEqual({
      a3: 'kept',
      mine: 'runner_up_kept',
      longer: 'dropped',
      'breaks the tests': 'degenerate',
    })
    await proven(here.place)
    const pulls = new Map(github.world.pulls.map(pull => [pull.title, pull]))
    expect(pulls.get('a3')).toMatchObject({ state: 'closed', merge: {}, draft: true })
    expect(pulls.get('a3')?.body).toMatch(/^Kept/)
    expect(pulls.get('mine')).toMatchObject({ state: 'closed', merge: {}, body: 'It is **mine**.' })
    expect(pulls.get('longer')).toMatchObject({ state: 'closed', merge: null })
    expect(pulls.get('breaks the tests')).toMatchObject({ state: 'closed', merge: null })
    expect(pulls.get('breaks the tests')?.body).toMatch(/^Broken/i)
    const said = github.world.comments.map(({ number, body }) => `#${number} ${body.split('\n')[0]}`)
    expect(said).toEqual([expect.stringMatching(new RegExp(`^#${pulls.get('longer')?.number} `))])
    const writes = requests.filter(route => !route.startsWith('GET ') && route !== 'POST /graphql')
    expect(writes.length).toBeLessThanOrEqual(4 * 3)

    github.spent()
    await here.tick()
    expect(github.spent().length).toBeLessThanOrEqual(3)
  })
})
