import { describe, expect, it } from 'vitest'
import { changesOf, withChanges } from './desired.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import { campaign, type CampaignBuilder, SPEC } from './a-campaign.ts'
import { actionsOf, carryOut, draftsOfKind, endings, settle, world } from './a-world.ts'
import { adding, LEFT_PAD, published } from './an-addition.ts'

const REACT = { ...LEFT_PAD, name: 'react', version: '19.2.0', integrity: 'sha512-y' }
const both = { 'exp-001': { additions: adding(LEFT_PAD, REACT) } }
const one = { 'exp-001': { additions: adding(LEFT_PAD) } }
const none = {}

const CE = `name: size
description: Fewer bytes below src.
metric:
  primary: { type: hard, name: bytes, direction: minimize }
  degenerate_gates: [{ name: passed, check: "== 1" }]
measurement: { command: sh bench/size.sh }
scope: { mutable: [src/], immutable: [bench/] }
dependencies: { approved: [left-pad] }
`

/** Opened, and found to add these packages. */
function asked(candidates = both, yaml = SPEC): CampaignBuilder {
  const built = campaign(yaml).withExperiment()
  carryOut(built, { candidates })
  return built
}

function approve(built: CampaignBuilder, packages: string[], digest?: string): CampaignBuilder {
  const { approval } = built.experiment('exp-001')
  const set = digest ?? approval?.digest ?? ''
  const cause = `nonce ${built.events.length}`
  return built.add({ kind: 'approved', cause, experiment: 'exp-001', digest: set, packages })
}

function ordersOf(built: CampaignBuilder, candidates: typeof both | typeof one | typeof none) {
  return draftsOfKind(planCampaign(world(built, { candidates })), 'order-issued')
}

describe('packages that a change adds', () => {
  it('are asked for, with everything a person has to know, and nothing is ordered', () => {
    const built = campaign().withExperiment()
    const planned = planCampaign(world(built, { candidates: both }))
    expect(draftsOfKind(planned, 'approval-requested')).toMatchObject([
      {
        experiment: 'exp-001',
        packages: ['left-pad', 'react'],
        additions: [LEFT_PAD, REACT],
        why: 'idea 1',
        digest: both['exp-001'].additions.digest,
      },
    ])
    expect(draftsOfKind(planned, 'order-issued')).toEqual([])
    settle(built, () => ({ candidates: both }))
    expect(built.experiment('exp-001').status).toBe('deferred')
  })

  it('do not keep others from being measured', () => {
    const built = campaign().withExperiments(2)
    const orders = draftsOfKind(planCampaign(world(built, { candidates: both })), 'order-issued')
    expect(orders.map(({ candidates }) => candidates[0]?.label)).toEqual(['exp-002'])
  })

  it('are only those that the spec does not approve', () => {
    const built = asked(both, `${SPEC}dependencies: { approved: [react], min_release_age_days: 0 }\n`)
    expect(built.experiment('exp-001').approval?.packages).toEqual(['left-pad'])
    const all = asked(one, `${SPEC}dependencies: { approved: [left-pad], min_release_age_days: 0 }\n`)
    expect(all.kinds()).not.toContain('approval-requested')
    expect(all.experiment('exp-001').status).toBe('ordered')
  })

  it('are one set with those that the idea only says it needs', () => {
    const built = campaign().withExperiment({ required_deps: ['left-pad', 'zlib'] })
    carryOut(built, { candidates: one })
    const { approval } = built.experiment('exp-001')
    expect(approval?.packages).toEqual(['left-pad', 'zlib'])
    expect(approval?.digest).not.toBe(one['exp-001'].additions.digest)
  })

  it('are refused where the spec says deny', () => {
    const built = campaign(`${SPEC}dependencies: { approval: deny }\n`).withExperiment()
    expect(endings(carryOut(built, { candidates: one }))).toEqual({ 'exp-001': 'refused' })
    expect(built.experiment('exp-001').reason).toBe(
      'needs left-pad 1.3.0 (npm), and dependencies.approval is deny',
    )
  })
})

describe('what the spec approves by its name', () => {
  const spec = `${SPEC}dependencies: { approved: [left-pad, react], min_release_age_days: 7 }\n`
  /** The world of these tests is at 2026-01-01. */
  const old = published('2025-12-25T01:00:00.000Z', LEFT_PAD)
  const young = published('2025-12-25T01:00:00.001Z', LEFT_PAD)

  function found(releases: ReturnType<typeof published>, candidates: typeof both | typeof one = one) {
    const built = campaign(spec).withExperiment()
    carryOut(built, { candidates, releases })
    return built
  }

  it('is measured whatever its age, and with none known, where the spec asks for no age', () => {
    const plain = `${SPEC}dependencies: { approved: [left-pad] }\n`
    for (const releases of [young, published(null, LEFT_PAD), published(null)]) {
      const built = campaign(plain).withExperiment()
      carryOut(built, { candidates: one, releases })
      expect(built.experiment('exp-001').status).toBe('ordered')
    }
  })

  it('needs no age in a ce-optimize spec either', () => {
    const built = campaign(CE).withExperiment()
    carryOut(built, { candidates: one, releases: published(null, LEFT_PAD) })
    expect(built.spec).toMatchObject({ rules: 'ce', dependencies: { min_release_age_days: 0 } })
    expect(built.experiment('exp-001').status).toBe('ordered')
  })

  it('is not old enough by a range, which may come to something newer tomorrow', () => {
    const range = new Map([...old].map(([key, date]) => [key, date && { ...date, by: 'range' as const }]))
    expect(found(range).experiment('exp-001').status).toBe('deferred')
    const name = new Map([...old].map(([key, date]) => [key, date && { ...date, by: 'name' as const }]))
    expect(found(name).experiment('exp-001').status).toBe('ordered')
  })

  it('is measured where its release is old enough, and the ledger has what that was seen by', () => {
    const built = found(old)
    const { status, approval } = built.experiment('exp-001')
    expect([status, approval?.packages, approval?.min_age_days]).toEqual(['ordered', [], 7])
    expect(approval?.additions).toMatchObject([{ name: 'left-pad', released: '2025-12-25T01:00:00.000Z' }])
    expect(built.kinds().filter(kind => kind === 'approval-requested')).toHaveLength(1)
  })

  it('waits for a person where it is younger, or nobody knows how old, or it is from tomorrow', () => {
    const future = published('2026-06-01T00:00:00.000Z', LEFT_PAD)
    for (const releases of [young, published(null, LEFT_PAD), published(null), future]) {
      const built = found(releases)
      expect(built.experiment('exp-001')).toMatchObject({
        status: 'deferred',
        approval: { packages: ['left-pad'] },
      })
    }
  })

  it('is as old as the youngest of the set, each for itself', () => {
    const built = found(new Map([...old, ...published('2025-12-31T00:00:00.000Z', REACT)]), both)
    expect(built.experiment('exp-001').approval?.packages).toEqual(['react'])
  })

  it('goes on by itself once it is old enough, and by an approval at once', () => {
    const later = { candidates: one, releases: young, now: '2026-01-01T01:00:01.000Z' }
    const waited = found(young)
    carryOut(waited, later)
    expect(waited.kinds()).toContain('approved')
    expect(draftsOfKind(planCampaign(world(waited, later)), 'order-issued')).toHaveLength(1)
    expect(ordersOf(approve(found(published(null, LEFT_PAD)), ['left-pad']), one)).toHaveLength(1)
  })

  it('is refused where nobody may be asked', () => {
    const deny = spec.replace('approved:', 'approval: deny, approved:')
    const built = campaign(deny).withExperiment()
    expect(endings(carryOut(built, { candidates: one, releases: young }))).toEqual({ 'exp-001': 'refused' })
    const passes = campaign(deny).withExperiment()
    expect(endings(carryOut(passes, { candidates: one, releases: old }))).toEqual({})
  })

  it('asks for a range of a manifest what the lockfile says it comes to', () => {
    const range = {
      ...LEFT_PAD,
      version: '^1.3.0',
      source: 'registry',
      integrity: null,
      path: 'package.json',
    }
    const built = found(old, { 'exp-001': { additions: adding(LEFT_PAD, range) } })
    expect(built.experiment('exp-001').status).toBe('ordered')
    const alone = found(old, { 'exp-001': { additions: adding(range) } })
    expect(alone.experiment('exp-001').status).toBe('deferred')
  })
})

describe('an approval', () => {
  it('of the whole set lets the experiment go on', () => {
    const built = approve(asked(), ['left-pad', 'react'])
    expect(ordersOf(built, both)).toHaveLength(1)
  })

  it('of some of them leaves it waiting for the rest', () => {
    const built = approve(asked(), ['react'])
    expect(built.experiment('exp-001').status).toBe('deferred')
    expect(settle(built, () => ({ candidates: both })).waiting).toEqual({
      for: 'person',
      what: expect.stringContaining('approval of left-pad 1.3.0 (npm) for exp-001. winnow approve'),
    })
    expect(ordersOf(approve(built, ['left-pad']), both)).toHaveLength(1)
  })

  it('counts for no other set than the one it names', () => {
    const built = approve(asked(), ['left-pad', 'react'], 'f'.repeat(64))
    expect(built.experiment('exp-001').status).toBe('deferred')
    expect(ordersOf(built, both)).toEqual([])
  })

  it('counts no more when the set changed, and the new one is asked for', () => {
    const built = approve(asked(), ['left-pad', 'react'])
    const planned = planCampaign(world(built, { candidates: one }))
    expect(draftsOfKind(planned, 'approval-requested')).toMatchObject([{ packages: ['left-pad'] }])
    expect(draftsOfKind(planned, 'order-issued')).toEqual([])
  })

  it('counts again when the incumbent moved and the set is the same', () => {
    const built = approve(asked(), ['left-pad', 'react'])
    const { incumbent: from } = built.campaign
    const to = { commit: 'c'.repeat(40), tree: 'd'.repeat(40) }
    built.add({ kind: 'incumbent-moved', cause: 'synced', from, to, why: 'synced' }).ready()
    expect(ordersOf(built, both)).toHaveLength(1)
  })

  it('is not needed any more when nothing is added any more', () => {
    const built = asked()
    carryOut(built, { candidates: none })
    expect(built.experiment('exp-001').status).toBe('queued')
    expect(ordersOf(built, none)).toHaveLength(1)
  })

  it('of a set that changes back is not asked for twice', () => {
    const built = approve(asked(), ['left-pad', 'react'])
    carryOut(built, { candidates: one })
    expect(built.experiment('exp-001').status).toBe('deferred')
    carryOut(built, { candidates: both })
    expect(built.experiment('exp-001').status).toBe('queued')
  })
})

describe('its pull request', () => {
  it('says what it waits for, and no longer once that is approved', () => {
    const built = asked()
    const seen = () => world(built, { candidates: both })
    const [pull] = seen().pulls
    if (pull === undefined) throw new Error('nothing is open')
    const waiting = withChanges(pull, changesOf(seen()))
    expect(waiting.body).toMatch(/^\*\*Waiting for approval of left-pad/)
    expect(changesOf({ ...seen(), pulls: [waiting] })).toEqual([])
    approve(built, ['left-pad', 'react'])
    expect(changesOf({ ...seen(), pulls: [waiting] })).toMatchObject([{ kind: 'update', number: 1 }])
  })
})

describe('what waits for an approval', () => {
  it('is refused at once when its new head may not be measured at all', () => {
    const built = asked()
    const refusal = { code: 'out-of-scope', message: 'changes bench' }
    const candidates = { 'exp-001': { ...both['exp-001'], refusal } }
    expect(endings(carryOut(built, { candidates }))).toEqual({ 'exp-001': 'refused' })
  })

  it('does not land once its packages are approved no more', () => {
    const built = campaign(`${SPEC}dependencies: { approved: [left-pad], min_release_age_days: 0 }\n`)
      .withExperiment()
      .ordered()
      .measured({ 'exp-001': { candidate: { bytes: 5 } } })
    const seen = world(built, { candidates: one })
    const spec = { ...seen.spec, dependencies: { ...seen.spec.dependencies, approved: [] } }
    const [commit] = actionsOf(planCampaign({ ...seen, spec }), 'commit')
    expect(commit?.steps).toContainEqual({
      step: 'close',
      experiment: 'exp-001',
      outcome: 'not_selected',
      reason: expect.stringContaining('it adds left-pad 1.3.0 (npm), which no person approved'),
      keep: true,
    })
    expect(commit?.steps.some(({ step }) => step === 'land')).toBe(false)
  })
})

describe('an approval that is taken back while a round is open', () => {
  it('lets nothing more of it run', () => {
    const built = campaign(`${SPEC}dependencies: { approved: [left-pad], min_release_age_days: 0 }\n`)
      .withExperiment()
      .ordered()
      .lost('exp-001')
    const seen = world(built, { candidates: one })
    expect(draftsOfKind(planCampaign(seen), 'order-issued')).toHaveLength(1)
    const spec = { ...seen.spec, dependencies: { ...seen.spec.dependencies, approved: [] } }
    const planned = planCampaign({ ...seen, spec })
    expect(draftsOfKind(planned, 'order-issued')).toEqual([])
    expect(actionsOf(planned, 'commit')[0]?.steps).toContainEqual({
      step: 'close',
      experiment: 'exp-001',
      outcome: 'withdrawn',
      reason: 'it adds left-pad 1.3.0 (npm), which is no longer approved',
      keep: true,
    })
  })
})

describe('an approval that is taken back while its merge is awaited', () => {
  const auto = `${SPEC}merge: { auto: false }\n`
  const rules = 'dependencies: { approved: [left-pad], min_release_age_days: 0 }\n'

  function landing(yaml = auto): CampaignBuilder {
    const built = yaml === auto ? approve(asked(one, yaml), ['left-pad']) : campaign(yaml).withExperiment()
    carryOut(built, { candidates: one })
    built.measured({ 'exp-001': { candidate: { bytes: 5 } } })
    carryOut(built, { candidates: one })
    expect(built.experiment('exp-001')).toMatchObject({ status: 'landing', verdict: 'kept' })
    return built
  }

  function takeBack(built: CampaignBuilder): CampaignBuilder {
    const digest = one['exp-001'].additions.digest
    const [login] = built.experiment('exp-001').consents.map(each => each.login)
    const packages = ['left-pad']
    const words = { kind: 'approval-withdrawn', experiment: 'exp-001' } as const
    const cause = `back ${built.events.length}`
    return built.add({ ...words, cause, digest, login: login ?? '', packages })
  }

  it('by whoever gave it lets it wait again: what was decided is not merged', () => {
    const built = takeBack(landing())
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'deferred',
      verdict: null,
      outcome: null,
      round: null,
    })
    const planned = planCampaign(world(built, { candidates: one }))
    expect(draftsOfKind(planned, 'order-issued')).toEqual([])
    approve(built, ['left-pad'])
    expect(ordersOf(built, one).map(({ candidates }) => candidates[0]?.label)).toEqual(['exp-001'])
  })

  it('of what is not proven is asked about again when it is taken up, however often', () => {
    const built = approve(asked(one, auto), ['left-pad'])
    carryOut(built, { candidates: one })
    built.measured({ 'exp-001': { candidate: { bytes: 5 } } })
    const [decided] = draftsOfKind(planCampaign(world(built, { candidates: one })), 'decided')
    if (decided === undefined) throw new Error('nothing was decided')
    built.add({ ...decided, outcome: 'inconclusive', verdict: 'not proven', stays_open: true })
    for (const round of [1, 2]) {
      takeBack(built)
      expect(built.experiment('exp-001').status).toBe('not-proven')
      const wish = { kind: 'steered', action: 'retry', experiment: 'exp-001', reason: 'please' } as const
      built.add({ ...wish, cause: `again ${round}` })
      settle(built, () => ({ candidates: one }))
      expect(built.experiment('exp-001').status).toBe('deferred')
      const requests = built.events.filter(({ kind }) => kind === 'approval-requested')
      expect(new Set(requests.map(({ id }) => id)).size).toBe(1 + round)
      approve(built, ['left-pad'])
      expect(built.experiment('exp-001').status).toBe('queued')
      built.add({
        ...decided,
        cause: `not proven ${round}`,
        order: null,
        outcome: 'inconclusive',
        verdict: 'not proven',
        stays_open: true,
      })
    }
  })

  it('by the spec withdraws it, merged or not', () => {
    const built = landing(`${auto}${rules}`)
    const seen = world(built, { candidates: one })
    const spec = { ...seen.spec, dependencies: { ...seen.spec.dependencies, approved: [] } }
    const [candidate] = Object.values(built.campaign.orders).flatMap(({ order }) => order.candidates)
    const commit = 'a'.repeat(40)
    const tree = candidate?.tree ?? ''
    const made = {
      commit,
      tree,
      parents: [built.campaign.incumbent.commit, candidate?.head ?? ''],
      names: null,
    }
    const merged = { ...seen, mergeCommit: made, optimizeTip: { commit, tree } }
    const steps = (planned: ReturnType<typeof planCampaign>) =>
      actionsOf(planned, 'commit').flatMap(each => each.steps.map(({ step }) => step))
    expect(steps(planCampaign(merged))).toContain('landed')
    expect(steps(planCampaign({ ...merged, spec }))).not.toContain('landed')
    expect(actionsOf(planCampaign({ ...seen, spec }), 'commit')[0]?.steps).toContainEqual({
      step: 'close',
      experiment: 'exp-001',
      outcome: 'withdrawn',
      reason: 'it adds left-pad 1.3.0 (npm), which is no longer approved',
      keep: true,
    })
  })
})

const SHORT = `${SPEC}stopping: { max_iterations: 1 }\n`

/** exp-001 waits for an approval; exp-002 was measured, and with it the campaign stops. */
function stoppedBeforeApproval(): CampaignBuilder {
  const built = campaign(SHORT).withExperiments(2)
  carryOut(built, { candidates: both })
  built.measured({ 'exp-002': { candidate: { bytes: 20 } } })
  settle(built, () => ({ candidates: both }))
  return built
}

describe('a campaign that stops', () => {
  it('leaves open what waits for an approval, and closes the rest', () => {
    const { campaign: stopped } = stoppedBeforeApproval()
    expect(stopped.status).toBe('stopped')
    expect(stopped.experiments['exp-001']?.status).toBe('deferred')
    expect(stopped.experiments['exp-002']?.status).toBe('ended')
  })

  it.each(['fresh', 'archived'])('closes that too where it is put aside (%s)', code => {
    const built = campaign().withExperiment()
    carryOut(built, { candidates: both })
    built.add({ kind: 'campaign-stopped', cause: 'stop', code, reason: 'enough' })
    expect(endings(carryOut(built, { candidates: both }))).toEqual({ 'exp-001': 'withdrawn' })
  })

  it.each(['person', 'level_used_up'])('leaves it open by %s, and an approval does not resume it', code => {
    const built = campaign().withExperiment()
    carryOut(built, { candidates: both })
    built.add({ kind: 'campaign-stopped', cause: 'stop', code, reason: 'enough' })
    carryOut(built, { candidates: both })
    approve(built, ['left-pad', 'react'])
    carryOut(built, { candidates: both })
    expect(built.experiment('exp-001').status).toBe('queued')
    expect(built.campaign.status).toBe('stopped')
  })

  it('has one more round for what is approved late, and stops again as it did', () => {
    const built = approve(stoppedBeforeApproval(), ['left-pad', 'react'])
    const reason = built.campaign.status_reason
    const planned = carryOut(built, { candidates: both })
    expect(draftsOfKind(planned, 'campaign-resumed')).toMatchObject([
      { extra_round: true, reason: 'exp-001 was approved after the stop, so winnow starts one more round' },
    ])
    carryOut(built, { candidates: both })
    built.measured({ 'exp-001': { candidate: { bytes: 5 } } })
    settle(built, () => ({ candidates: both }))
    expect(built.experiment('exp-001').outcome).toBe('kept')
    expect(built.campaign).toMatchObject({
      status: 'stopped',
      status_reason: reason,
      extra_round: null,
      approved_after_stop: [],
    })
    expect(built.kinds().filter(kind => kind === 'campaign-stopped')).toHaveLength(2)
  })

  it('opens and measures nobody else in that round', () => {
    const built = approve(stoppedBeforeApproval(), ['left-pad', 'react'])
    carryOut(built, { candidates: both })
    built.withExperiment()
    const orders = ordersOf(built, both)
    expect(orders.map(({ candidates }) => candidates[0]?.label)).toEqual(['exp-001'])
  })

  it('stops again, still waiting, when the set that was approved late is not the set any more', () => {
    const built = approve(stoppedBeforeApproval(), ['left-pad', 'react'])
    settle(built, () => ({ candidates: one }))
    expect(built.campaign.status).toBe('stopped')
    expect(built.experiment('exp-001')).toMatchObject({ status: 'deferred', outcome: null })
  })

  it('goes on for everybody when a person resumes it', () => {
    const built = approve(stoppedBeforeApproval(), ['left-pad', 'react'])
    built.add({ kind: 'campaign-resumed', cause: 'nonce', reason: 'more time' })
    expect(built.campaign).toMatchObject({ status: 'running', extra_round: null, approved_after_stop: [] })
  })
})
