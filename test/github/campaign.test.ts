import { describe, expect, test } from 'vitest'
import { letters, shorter } from '../support/size-repository.ts'
import { patchOf, proven } from '../support/repository.ts'
import { GRANTS, tickJob } from './tick-job.ts'

/** Neither checks nor workflow runs: a campaign goes without. */
const { checks: _, actions: __, ...GRANTED } = GRANTS

/** A campaign whose remote and pull requests are on the emulated GitHub, run as one job with its token. */
async function onGithub(ideas: readonly string[]) {
  const { github, testRepository: repository, scene, env, forge } = await tickJob(ideas, { grants: GRANTED })
  const openClient = () => repository.another({ env, forge })
  return { github, repository, openClient, scene, ada: github.token('ada') }
}

describe('a campaign on GitHub', () => {
  test('goes from its start to its proofs: engine ideas, a branch, a pull request, a fork', async () => {
    const broken = patchOf(
      { 'src/c.txt': [letters('c', 15), 'broken\n'] },
      { hypothesis: 'breaks the tests' },
    )
    const { github, openClient, scene, ada } = await onGithub([shorter('a', 3), broken])
    const here = await openClient()
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
    expect(pulls.get('a3')?.body).toMatch(/^\*\*Kept: /)
    expect(pulls.get('mine')).toMatchObject({ state: 'closed', merge: {}, body: 'It is **mine**.' })
    expect(pulls.get('longer')).toMatchObject({ state: 'closed', merge: null })
    expect(pulls.get('breaks the tests')).toMatchObject({ state: 'closed', merge: null })
    expect(pulls.get('breaks the tests')?.body).toMatch(/^\*\*Broken/)
    const said = github.world.comments.map(({ number, body }) => `#${number} ${body.split('\n')[0]}`)
    const told = ['mine', 'longer'].map(title => `#${pulls.get(title)?.number}`)
    expect(new Set(said.map(each => each.split(' ')[0]))).toEqual(new Set(told))
    expect(said).toHaveLength(told.length)
    const writes = requests.filter(route => !route.startsWith('GET ') && route !== 'POST /graphql')
    expect(writes.length).toBeLessThanOrEqual(4 * 4)

    github.spent()
    await here.tick()
    expect(github.spent().length).toBeLessThanOrEqual(3)
  })
})
