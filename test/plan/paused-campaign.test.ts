import { describe, expect, it } from 'vitest'
import { planCampaign } from '../../src/plan/stages.ts'
import type { PullFacts, SyncFacts, World } from '../../src/plan/world.ts'
import { buildCheckRun } from '../../src/report/check-run.ts'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { campaign, type CampaignBuilder, oidOf } from './a-campaign.ts'
import { carryOut, draftsOfKind, endings, proposal, world } from './a-world.ts'
import { changesOf, differencesOf, withChanges } from './desired.ts'

const HEAD = oidOf('head of mine')

function somebodys(rest: Partial<PullFacts> = {}): PullFacts {
  const words = { title: 'mine', body: '', said: '' }
  return { number: 7, branch: 'mine', base: 'optimize/size', state: 'open', head: HEAD, ...words, ...rest }
}

/** A pull request comes in, where heads show how they stand. */
function arrived(built: CampaignBuilder, pull = somebodys(), rest: Partial<World> = {}): World {
  const mine = proposal('mine', {
    source: { use: 'external', key: 'pull:7' },
    head: { commit: pull.head, base: built.campaign.incumbent },
    branch: pull.branch,
    pull: pull.number,
  })
  return { ...world(built, { pulls: [pull], proposals: [mine] }), ...rest }
}

const paused = { kind: 'campaign-paused', cause: 'x', reason: 'release @week', source: 'person' } as const
const stopped = { kind: 'campaign-stopped', cause: 'x', code: 'max_hours', reason: '8 hours' } as const

describe('a pull request that comes while the campaign stands still', () => {
  it.each([
    ['paused', paused, /^Campaign size is paused: release @\u200bweek\. .*`\/winnow resume`\.$/m],
    ['stopped', stopped, /^Campaign size has stopped: 8 hours\. .*`\/winnow resume`\.$/m],
  ] as const)('is told that it is %s, once, and nothing is opened or measured', (_, event, words) => {
    const built = campaign().ready().add(event)
    const planned = planCampaign(arrived(built))
    const [greeting, ...more] = differencesOf(arrived(built))
    expect(more).toEqual([])
    expect(greeting).toMatchObject({
      check: { head: HEAD, state: 'neutral' },
      changes: [{ kind: 'comment', number: 7, body: expect.stringMatching(words) }],
    })
    expect([...draftsOfKind(planned, 'experiment-opened'), ...draftsOfKind(planned, 'order-issued')]).toEqual(
      [],
    )
    const told = withChanges(somebodys(), greeting?.changes ?? [])
    expect(differencesOf(arrived(built, told))).toEqual([])
    const again = planCampaign(arrived(built, told))
    expect(again.actions).toEqual([])
    expect(again.waiting).not.toBeNull()
    // Another head has no check yet, and what is said has to be true.
    expect(differencesOf(arrived(built, { ...told, head: oidOf('next') }))).toMatchObject([
      { check: { head: oidOf('next') } },
    ])
  })

  it('becomes an experiment when it goes on, and is greeted by none of this while it runs', () => {
    const built = campaign().ready().add(paused)
    expect(differencesOf(arrived(built))).toHaveLength(1)
    built.add({ kind: 'campaign-resumed', cause: 'y', reason: '' })
    const planned = planCampaign(arrived(built))
    expect(differencesOf(arrived(built))).toEqual([])
    expect(draftsOfKind(planned, 'experiment-opened')).toMatchObject([{ pull: 7 }])
  })

  it('is told what keeps every round from starting, where the default branch does', () => {
    const built = campaign().ready()
    const sync: SyncFacts = { result: 'conflict', tip: oidOf('tip'), paths: ['src/a.txt'] }
    carryOut(built, { sync })
    const { actions, waiting, obstacle } = planCampaign(arrived(built, somebodys(), { sync }))
    expect([actions, waiting?.for, obstacle]).toEqual([[], 'person', 'sync-conflict'])
    expect(changesOf(arrived(built), { obstacle: obstacle ?? null })).toMatchObject([
      { number: 7, body: expect.stringContaining('main conflicts with kept changes') },
    ])
  })

  it('is told nothing where the spec wants no comments', () => {
    const built = campaign().ready().add(paused)
    const { spec } = built
    const quiet = { ...spec, report: { ...spec.report, comment: 'never' } as const }
    expect(differencesOf(arrived(built, somebodys(), { spec: quiet }))).toEqual([])
  })
})

describe('an experiment of a paused campaign', () => {
  it('shows that it waits for that, and not that it is being measured; and goes on showing what it did', () => {
    const built = campaign().withExperiments(2).ordered('exp-002')
    const before = buildCheckRun(built.campaign, built.experiment('exp-001'))
    built.add(paused)
    const waiting = built.experiment('exp-001')
    expect(buildCheckRun(built.campaign, waiting)).toMatchObject({
      state: 'neutral',
      title: 'Waiting: the campaign is paused',
    })
    expect(renderPullBody(built.campaign, waiting)).toMatch(
      /^\*\*Waiting:\*\* campaign size is paused: release /,
    )
    // What is measured already is measured on.
    expect(buildCheckRun(built.campaign, built.experiment('exp-002'))).toMatchObject({ state: 'in-progress' })
    built.add({ kind: 'campaign-resumed', cause: 'y', reason: '' })
    expect(buildCheckRun(built.campaign, built.experiment('exp-001'))).toEqual(before)
  })

  it('is withdrawn where a person closes its pull request, and its check is completed', () => {
    const built = campaign().withExperiment({ pull: 7, branch: 'mine', owned: false }).add(paused)
    const closed = { pulls: [somebodys({ state: 'closed' })] }
    const planned = carryOut(built, closed)
    expect(endings(planned)).toEqual({ 'exp-001': 'withdrawn' })
    expect(buildCheckRun(built.campaign, built.experiment('exp-001'))).toMatchObject({ state: 'neutral' })
  })

  it('is left as it is where a refused push paused the campaign: what ends it would be pushed as well', () => {
    const built = campaign().withExperiment({ pull: 7, branch: 'mine', owned: false })
    built.add({ ...paused, source: 'engine' })
    expect(endings(planCampaign(world(built, { pulls: [somebodys({ state: 'closed' })] })))).toEqual({})
  })
})
