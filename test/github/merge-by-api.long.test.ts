import { describe, expect, test } from 'vitest'
import type { LedgerEvent } from '../../src/model/event.ts'
import { letters, shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import type { EmulatedGithub } from './emulator/github.ts'
import { type ActionsRepository, createActionsRepository } from './actions-repository.ts'
import { waitingRuns, wholeRun } from './measuring-job.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const VIA_API = 'merge: { via: api }\n'
const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge'

/** A campaign in a repository that admits no push to its optimize branch. */
async function guarded(ideas: readonly string[], spec = VIA_API): Promise<ActionsRepository> {
  const there = await createActionsRepository(ideas, { spec })
  await (await there.openClient()).start()
  there.github.protect('optimize/size')
  return there
}

async function merges(there: ActionsRepository): Promise<LedgerEvent<'merged'>[]> {
  return (await (await there.openClient()).events()).flatMap(event =>
    event.kind === 'merged' ? [event] : [],
  )
}

function asked({ api }: EmulatedGithub): number {
  return api.log.filter(({ route }) => route === MERGE).length
}

describe('merge.via: api', () => {
  test('lands what was measured through pull requests, and is proven', async () => {
    const there = await guarded([shorter('a', 3), shorter('b', 5)])
    expect(await there.settle()).toEqual({ for: 'ideas' })
    const here = await there.openClient()
    expect(await here.outcomes()).toEqual({ a3: 'kept', b5: 'runner_up_kept' })
    await proven(here.place)
    const landed = await merges(there)
    expect(landed.map(({ via }) => via)).toEqual(['api', 'api'])
    expect(there.scene.tip('optimize/size')).toBe(landed[1]?.commit)
    const [first] = landed
    const message = there.scene.git('log', '-1', '--format=%an%n%B', first?.commit ?? '')
    expect(message).toMatch(/^GitHub\noptimize\(size\): a3 \(#\d+\)\n\nKept: /)
    expect(message).toContain(`Winnow-Ledger: ${first?.decided.seq}:${first?.decided.sha256}`)
    expect(there.scene.git('rev-parse', `${first?.commit}^2`)).toBe(first?.head)
    const kept = there.scene.git('rev-list', 'optimize-closed/size').split('\n')
    expect(kept).toEqual(expect.arrayContaining(landed.map(({ results }) => results)))
    expect(there.github.world.pulls.filter(({ base }) => base === 'optimize/size')).toMatchObject([
      { merge: { by: 'github-actions[bot]' }, draft: false },
      { merge: { by: 'github-actions[bot]' }, draft: false },
    ])
    expect(there.scene.git('for-each-ref', 'refs/heads/optimize-exp')).toBe('')
    expect(asked(there.github)).toBe(2)
  })
})

describe('a job that is killed', () => {
  releaseTest.each(['before:commit', 'after:commit', 'after:merge', 'step:landed'])(
    'at %s of a landing loses nothing, and merges once',
    async point => {
      const there = await guarded([shorter('a', 3)])
      let killed = false
      const fault = (reached: string) => {
        if (killed || reached !== point) return
        killed = true
        throw new Error('killed')
      }
      for (let wakes = 0; wakes < 12 && (await merges(there)).length === 0; wakes++) {
        await there.wake()
        for (const run of waitingRuns(there.github)) {
          // In the run of the base these points are about something else.
          const isOfBase = run === there.github.world.runs[0]
          await wholeRun(there.github, run, {
            tick: each => there.tickOf(each),
            async settle(each, ended) {
              const settled = there.settleOf(each, ended, isOfBase ? {} : { fault })
              await settled.catch((error: unknown) => expect(error).toMatchObject({ message: 'killed' }))
            },
          })
        }
      }
      expect(killed).toBe(true)
      expect(await there.settle()).toEqual({ for: 'ideas' })
      const here = await there.openClient()
      expect(await here.outcomes()).toEqual({ a3: 'kept' })
      expect(await merges(there)).toHaveLength(1)
      expect(asked(there.github)).toBe(1)
      await proven(here.place)
    },
  )
})

/** GitHub answers what it is asked to merge by this, until it is mended. */
function refuse({ github }: ActionsRepository, status: number, message: string): () => void {
  github.api.intercept = (_, route) => (route === MERGE ? { status, body: { message } } : null)
  return () => void (github.api.intercept = null)
}

describe('what GitHub does not merge', () => {
  releaseTest('is said once by name, and merged at the next look when that is mended', async () => {
    const there = await guarded([shorter('a', 3)])
    const mend = refuse(there, 405, 'Required status check "ci" is expected.')
    const says =
      'GitHub did not merge #1 (exp-001) into optimize/size: Required status check "ci" is expected. ' +
      'Let the check pass on its head, or exclude the branch from that rule. The next tick tries again.'
    expect(await there.settle()).toEqual({ for: 'person', what: says })
    expect(await there.wake()).toEqual({ for: 'person', what: says })
    const here = await there.openClient()
    expect(await here.alerts()).toEqual([says])
    expect(await here.campaign()).toMatchObject({ status: 'running', experiments: { 'exp-001': WAITS } })
    expect(there.github.world.checks.at(-1)).toMatchObject({ conclusion: 'success' })
    await proven(here.place)

    mend()
    expect(await there.settle()).toEqual({ for: 'ideas' })
    expect(await merges(there)).toMatchObject([{ via: 'api' }])
    await proven(here.place)
  })

  releaseTest('because its head is another one now is measured as that', async () => {
    const there = await guarded([shorter('a', 3)])
    const mend = refuse(there, 409, 'Head branch was modified. Review and try the merge again.')
    expect(await there.settle()).toEqual({ for: 'person', what: expect.stringContaining('was modified') })
    const here = await there.openClient()
    expect(await here.alerts()).toEqual([])
    there.scene.commit('optimize-exp/size/exp-001', { 'src/b.txt': letters('b', 2) })
    mend()
    expect(await there.settle()).toEqual({ for: 'ideas' })
    expect(await here.reasonOf('a3')).toMatch(/bytes 48 -> 23/)
    expect(await here.kinds()).toEqual(expect.arrayContaining(['head-moved', 'merged']))
    expect(await merges(there)).toHaveLength(1)
    await proven(here.place)
  })

  releaseTest(
    'is not merged after the campaign was stopped, waits with its pull request, and is once it goes on',
    async () => {
      const there = await guarded([shorter('a', 3)])
      const mend = refuse(there, 405, 'Required status check "ci" is expected.')
      await there.settle()
      const here = await there.openClient()
      await here.person({ kind: 'campaign-stopped', code: 'person', reason: 'enough' })
      mend()
      expect(await there.settle()).toEqual({ for: 'nothing', reason: 'enough' })
      expect((await here.campaign()).experiments).toMatchObject({
        'exp-001': { status: 'queued', verdict: null, outcome: null, closed: false },
      })
      expect(await merges(there)).toEqual([])
      expect(there.github.world.pulls).toMatchObject([{ state: 'open', merge: null }])
      await proven(here.place)
      await here.person({ kind: 'campaign-resumed', reason: 'goes on' })
      expect(await there.settle()).toEqual({ for: 'ideas' })
      expect(await here.outcomes()).toEqual({ a3: 'kept' })
      expect(await merges(there)).toMatchObject([{ via: 'api' }])
      await proven(here.place)
    },
  )
})

const WAITS = { status: 'landing', verdict: 'kept', closed: false }

releaseTest(
  'a merge of something else is a foreign tip, and what was decided on the old one is measured again',
  async () => {
    const there = await guarded([shorter('a', 3)])
    refuse(there, 405, 'Required status check "ci" is expected.')
    await there.settle()
    const mine = { 'src/b.txt': letters('b', 5) }
    const tip = there.scene.commit('optimize/size', mine, [there.scene.tip('optimize/size')])
    there.github.api.intercept = null
    expect(await there.settle()).toEqual({ for: 'ideas' })
    const here = await there.openClient()
    expect(await here.reasonOf('a3')).toMatch(/bytes 38 -> 26/)
    expect(await merges(there)).toMatchObject([{ base: { commit: tip }, via: 'api' }])
    const states = (await here.events()).flatMap(event => (event.kind === 'foreign-tip' ? [event.state] : []))
    expect(states).toEqual(['found', 'adopted'])
    expect((await here.kinds()).filter(kind => kind === 'decided')).toHaveLength(2)
    await proven(here.place)
  },
)

describe('merge.auto: false', () => {
  releaseTest('moves a merge of something else back, and lets go of what was merged so', async () => {
    const there = await createActionsRepository([shorter('a', 3)], { spec: 'merge: { auto: false }\n' })
    const here = await there.openClient()
    await here.start()
    await there.settle()
    const [incumbent, head] = [there.scene.tip('optimize/size'), there.scene.tip('optimize-exp/size/exp-001')]
    there.scene.commit('optimize/size', { 'src/b.txt': letters('b', 90) }, [incumbent, head])
    expect(await there.settle()).toEqual({ for: 'ideas' })
    expect(there.scene.tip('optimize/size')).toBe(incumbent)
    expect(await here.outcomes()).toEqual({ a3: 'withdrawn' })
    expect(await here.reasonOf('a3')).toBe(
      'its pull request #1 was merged, and the branch was then moved off that merge',
    )
    await proven(here.place)
  })

  test.each(selectCases(['merge', 'squash']))(
    'waits for a person, and knows their %s for what it is',
    async method => {
      const there = await guarded([shorter('a', 3), shorter('b', 5)], 'merge: { auto: false }\n')
      const waiting = 'exp-001 (#1) is kept: merge it unchanged, and the campaign continues'
      expect(await there.settle()).toEqual({ for: 'person', what: waiting })
      expect(await there.settle()).toEqual({ for: 'person', what: waiting })
      expect(there.github.world.pulls[0]).toMatchObject({
        state: 'open',
        draft: false,
        body: expect.stringContaining('**Merge this pull request** exactly as it is now'),
      })
      const merge = (number: number) =>
        there.scene.ask(there.ada, `PUT /pulls/${number}/merge`, { merge_method: method })
      expect((await merge(1)).status).toBe(200)
      expect(await there.settle()).toEqual({ for: 'person', what: expect.stringMatching(/^exp-002 \(#2\)/) })
      await merge(2)
      expect(await there.settle()).toEqual({ for: 'ideas' })
      const here = await there.openClient()
      expect(await here.outcomes()).toEqual({ a3: 'kept', b5: 'runner_up_kept' })
      expect((await merges(there)).map(({ via }) => via)).toEqual(['person', 'person'])
      expect((await here.kinds()).filter(kind => kind === 'foreign-tip')).toEqual([])
      expect(asked(there.github)).toBe(2)
      await proven(here.place)
    },
  )
})
