import { describe, expect, it } from 'vitest'
import { isAwaitingSync } from '../../src/model/alerts.ts'
import { SYNC_OBSTACLES } from '../../src/model/event-schemas.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type { SyncFacts } from '../../src/plan/world.ts'
import { buildCheckRun } from '../../src/report/check-run.ts'
import { getExperimentState } from '../../src/report/experiment-state.ts'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { describeVerdict } from '../../src/report/verdict-text.ts'
import { type CampaignBuilder, campaign, HARNESS, oidOf, pointOf, SPEC } from './a-campaign.ts'
import { carryOut, draftsOfKind, settle, world } from './a-world.ts'

const TIP = pointOf('default tip').commit

function clean(built: CampaignBuilder): SyncFacts {
  const { spec, campaign } = built
  const own = { yaml: SPEC, sha256: campaign.spec_sha256, changed: false, parsed: spec }
  return {
    result: 'clean',
    tip: TIP,
    tipTree: oidOf('main'),
    holds: [],
    to: pointOf('synced'),
    spec: own,
    harness: HARNESS,
    unread: false,
  }
}

const AHEAD = { candidates: { 'exp-001': { aheadOfSync: true } } }

/** What the default branch has may not be pushed, and a person has been told. */
function refused(others = 0): CampaignBuilder {
  const alert = {
    kind: 'alert',
    cause: TIP,
    code: 'sync-workflows',
    about: TIP,
    message: 'a. b. c. d',
  } as const
  return campaign()
    .withExperiment({ branch: 'mine', owned: false, pull: 1 })
    .withExperiments(others)
    .add(alert)
}

describe('a head on top of a default branch that may not be pushed', () => {
  it('waits for a person, which the ledger says once; what is not on top of it is measured', () => {
    const built = refused(1)
    const facts = { ...AHEAD, sync: clean(built) }
    const first = carryOut(built, facts)
    expect(draftsOfKind(first, 'sync-awaited')).toMatchObject([
      { experiment: 'exp-001', head: oidOf('head of exp-001'), obstacle: 'sync-workflows' },
    ])
    expect(draftsOfKind(first, 'order-issued').flatMap(({ candidates }) => candidates)).toMatchObject([
      { label: 'exp-002' },
    ])
    expect(draftsOfKind(carryOut(built, facts), 'sync-awaited')).toEqual([])
    const standing = getExperimentState(built.campaign, built.experiment('exp-001'))
    expect(describeVerdict(standing)).toBe("waiting for a person's sync")
    expect(standing.next).toBe('git switch optimize/size && git merge --no-ff main && git push')
    expect(buildCheckRun(built.campaign, built.experiment('exp-001'))).toMatchObject({ state: 'neutral' })
    expect(renderPullBody(built.campaign, built.experiment('exp-001'))).toMatch(
      /^Waiting for a person's sync: /,
    )
  })

  it('is what the campaign waits for once nothing else is to be measured, and keeps it from stopping', () => {
    const closedShop = `${SPEC}propose: [{ use: patch, dir: ideas }]\n`
    const alert = { kind: 'alert', cause: TIP, code: 'sync-workflows', about: TIP, message: 'a. b' } as const
    const built = campaign(closedShop).withExperiment({ pull: 7, owned: false }).add(alert)
    const facts = () => ({ ...AHEAD, sync: clean(built) })
    expect(settle(built, facts).waiting).toEqual({
      for: 'person',
      what: expect.stringMatching(/^a sync, for exp-001 \(#7\): .* Next step: git switch optimize\/size/),
    })
    expect(built.campaign.status).toBe('running')
  })

  it('goes on when it was merged in, and shows that', () => {
    const built = refused()
    carryOut(built, { ...AHEAD, sync: clean(built) })
    const waiting = renderPullBody(built.campaign, built.experiment('exp-001'))
    const { incumbent: from, harness } = built.campaign
    const to = pointOf('synced')
    const about = { cause: 'order', order: 'a'.repeat(64), from, to }
    built.add(
      { kind: 'synced', ...about, default_tip: TIP, default_tree: oidOf('main'), holds: [], harness },
      { kind: 'incumbent-moved', cause: 'order', from, to, why: 'synced' },
    )
    expect(isAwaitingSync(built.experiment('exp-001'))).toBe(false)
    expect(renderPullBody(built.campaign, built.experiment('exp-001'))).not.toBe(waiting)
    expect(buildCheckRun(built.campaign, built.experiment('exp-001'))).toMatchObject({ state: 'in-progress' })
  })

  it('is asked about anew with another head, and not while somebody has to allow it first', () => {
    const built = refused()
    const facts = { ...AHEAD, sync: clean(built) }
    carryOut(built, { ...facts, outsiders: new Map([['exp-001', 'eve']]) })
    expect(isAwaitingSync(built.experiment('exp-001'))).toBe(false)
    carryOut(built, facts)
    expect(built.experiment('exp-001').awaits_sync).not.toBeNull()
    const branches = new Map([['mine', oidOf('next')]])
    carryOut(built, { ...facts, branches })
    const asked = carryOut(built, { ...facts, branches })
    expect(draftsOfKind(asked, 'sync-awaited')).toMatchObject([{ head: oidOf('next') }])
  })
})

describe('a default branch that cannot be merged in', () => {
  it('keeps everything queued waiting for a person, once, and no check in progress', () => {
    const built = campaign().withExperiments(2)
    const sync: SyncFacts = { result: 'conflict', tip: TIP, paths: ['src/a.txt'] }
    carryOut(built, { sync })
    const then = carryOut(built, { sync })
    expect(
      draftsOfKind(then, 'sync-awaited').map(({ experiment, obstacle }) => [experiment, obstacle]),
    ).toEqual([
      ['exp-001', 'sync-conflict'],
      ['exp-002', 'sync-conflict'],
    ])
    const { actions, waiting } = planCampaign(world(built, { sync: { ...sync, tip: oidOf('later tip') } }))
    expect(actions).toMatchObject([{ do: 'commit', steps: [{ draft: { kind: 'alert' } }] }])
    expect(waiting).toBeNull()
    expect(planCampaign(world(built, { sync })).actions).toEqual([])
    for (const id of ['exp-001', 'exp-002'])
      expect(buildCheckRun(built.campaign, built.experiment(id))).toMatchObject({ state: 'neutral' })
    // What was in the way is gone.
    carryOut(built)
    const next = carryOut(built)
    expect(draftsOfKind(next, 'order-issued').flatMap(({ candidates }) => candidates)).toHaveLength(2)
    expect(built.experiment('exp-001').awaits_sync).toBeNull()
  })

  it('is said in words of its own, whatever is in the way', () => {
    const built = campaign().withExperiment()
    const head = oidOf('head of exp-001')
    const texts = SYNC_OBSTACLES.map(obstacle => {
      built.add({ kind: 'sync-awaited', cause: obstacle, experiment: 'exp-001', head, obstacle })
      return renderPullBody(built.campaign, built.experiment('exp-001')).split('\n')[0]
    })
    expect(new Set(texts).size).toBe(SYNC_OBSTACLES.length)
    for (const text of texts)
      expect(text).toMatch(/Next step: .+\. winnow measures it automatically after that\.$/)
  })
})

describe('what was in the way and is not any more', () => {
  const CONFLICT: SyncFacts = { result: 'conflict', tip: TIP, paths: ['src/a.txt'] }
  const waiting = (built: CampaignBuilder) =>
    Object.values(built.campaign.experiments).flatMap(each => (isAwaitingSync(each) ? [each.id] : []))
  const endedIn = (steps: ReturnType<typeof carryOut>) =>
    draftsOfKind(steps, 'sync-awaited').map(({ experiment, obstacle }) => [experiment, obstacle])

  function conflicting(): CampaignBuilder {
    const built = campaign().withExperiments(2)
    carryOut(built, { sync: CONFLICT })
    carryOut(built, { sync: CONFLICT })
    expect(waiting(built)).toEqual(['exp-001', 'exp-002'])
    return built
  }

  it('is waited for no more when the default branch was set back, before anything is measured', () => {
    const built = conflicting()
    const next = carryOut(built)
    expect(draftsOfKind(next, 'order-issued')).toEqual([])
    expect(endedIn(next)).toEqual([
      ['exp-001', null],
      ['exp-002', null],
    ])
    expect(waiting(built)).toEqual([])
    expect(renderPullBody(built.campaign, built.experiment('exp-001'))).not.toMatch(/person's sync/)
    expect(endedIn(carryOut(built))).toEqual([])
  })

  it('is waited for no more while what replaced it is being merged in, and its alert ends with the sync', () => {
    const built = conflicting()
    const sync = { ...clean(built), tip: oidOf('mended tip') } as SyncFacts
    expect(endedIn(carryOut(built, { sync }))).toHaveLength(2)
    expect(waiting(built)).toEqual([])
    expect(built.campaign.alerts.map(({ code }) => code)).toEqual(['sync-conflict'])
    const { incumbent: from, harness } = built.campaign
    const about = { cause: 'order', order: 'a'.repeat(64), from, to: pointOf('synced') }
    built.add({
      kind: 'synced',
      ...about,
      default_tip: oidOf('mended tip'),
      default_tree: oidOf('main'),
      holds: [],
      harness,
    })
    expect(built.campaign.alerts).toEqual([])
  })

  it('is waited for by those alone that are on top of what may not be pushed', () => {
    const built = refused(1)
    for (const experiment of ['exp-001', 'exp-002'] as const) {
      const about = { experiment, head: oidOf(`head of ${experiment}`) }
      built.add({ kind: 'sync-awaited', cause: experiment, ...about, obstacle: 'sync-conflict' })
    }
    settle(built, () => ({ ...AHEAD, sync: clean(built) }))
    expect(built.experiment('exp-001').awaits_sync?.obstacle).toBe('sync-workflows')
    expect(waiting(built)).toEqual(['exp-001'])
  })

  it('is waited for as long as a head is on top of it, and as nobody knows whether it is', () => {
    const built = refused()
    const facts = { ...AHEAD, sync: clean(built) }
    carryOut(built, facts)
    expect(endedIn(planCampaign({ ...world(built, facts), candidates: new Map() }))).toEqual([])
    expect(endedIn(carryOut(built, facts))).toEqual([])
    expect(waiting(built)).toEqual(['exp-001'])
    carryOut(built, { ...facts, candidates: { 'exp-001': { aheadOfSync: false } } })
    expect(waiting(built)).toEqual([])
  })
})
