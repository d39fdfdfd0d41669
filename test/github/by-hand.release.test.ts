import { describe, expect, test } from 'vitest'
import { letters, shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { campaignOnGithub } from './campaign-on-github.ts'

/** Every wake-up is a job with a clone of its own. */
const PATIENCE = 240_000

describe('what people do by hand', () => {
  test('to pull requests and branches ends experiments, their runs and their checks, and nothing is left open', {
    timeout: PATIENCE,
  }, async () => {
    const here = await campaignOnGithub({
      'ideas/01.patch': shorter('a', 14),
      'ideas/02.patch': shorter('b', 14),
    })
    const { github, asks } = here
    await here.wakes()
    await here.offers('closed', { 'src/c.txt': letters('c', 5) })
    await here.offers('gone', { 'src/c.txt': letters('c', 6) })
    await here.offers('forced', { 'src/c.txt': letters('c', 7) })
    await here.machines()
    await here.wakes()
    expect(here.waiting()).toHaveLength(1)
    const [first = '', second = ''] = ['a14', 'b14'].map(title => here.pull(title).branch)
    await asks(`PATCH /pulls/${here.pull('closed').number}`, { state: 'closed' })
    await asks(`PATCH /pulls/${here.pull('a14').number}`, { state: 'closed' })
    here.git('update-ref', '-d', 'refs/heads/gone')
    here.git('update-ref', '-d', `refs/heads/${second}`)
    // A clone made now has not got what was there before it.
    const forced = here.commit('forced', { 'src/c.txt': letters('c', 8) }, [here.tip('main')])

    await here.wakes()
    const client = await here.openClient()
    expect(await client.experiment('forced')).toMatchObject({ head: forced, status: 'ordered' })
    expect(await client.outcomes()).toEqual({
      closed: 'withdrawn',
      gone: 'withdrawn',
      a14: 'withdrawn',
      b14: 'withdrawn',
      forced: null,
    })
    expect(await client.reasonOf('closed')).toMatch(/pull request #\d+ was closed/)
    // Each of its orders is unwanted, and so is the whole run; the next one has the new head.
    expect(github.world.runs.slice(1).map(({ conclusion }) => conclusion)).toEqual(['cancelled', null])
    const checks = github.world.checks.filter(({ head }) => head !== forced)
    expect(checks.map(({ status }) => status)).toEqual(checks.map(() => 'completed'))
    expect(here.git('for-each-ref', `refs/heads/${first}`)).toBe('')
    expect(here.pull('a14').body).toMatch(/was closed/)
    await here.settle()
    expect(await client.outcomes()).toMatchObject({ forced: 'kept' })
    expect(github.world.checks.filter(({ status }) => status !== 'completed')).toEqual([])
    await proven(client.place)
  })

  test('to the campaign’s branches is measured or put back', {
    timeout: PATIENCE,
  }, async () => {
    const here = await campaignOnGithub({ 'ideas/01.patch': shorter('a', 3) })
    await here.settle()
    const kept = here.tip('optimize/size')
    here.git('update-ref', '-d', 'refs/heads/optimize/size')
    await here.wakes()
    expect(here.tip('optimize/size')).toBe(kept)
    const client = await here.openClient()
    expect(await client.alerts()).toContainEqual(expect.stringMatching(/was deleted; it is restored/))

    // Merged by hand, and so not measured: as any commit that is not winnow's.
    const mine = await here.offers('mine', { 'src/b.txt': letters('b', 5) })
    await here.asks(`PUT /pulls/${mine.number}/merge`, {})
    const merged = here.tip('optimize/size')
    await here.settle()
    const tips = (await client.events()).filter(({ kind }) => kind === 'foreign-tip')
    expect(tips).toMatchObject([
      { state: 'found', to: { commit: merged } },
      { state: 'adopted', to: { commit: merged } },
    ])
    expect(here.tip('optimize/size')).toBe(merged)
    await proven(client.place)

    // GitHub closes a pull request whose branch is gone, and who closes that one wants a pause.
    here.git('update-ref', '-d', 'refs/heads/optimize-campaign/size')
    expect(await here.wakes()).toMatch(
      /paused: its pull request #\d+ was closed; winnow resume opens another/,
    )
  })
})
