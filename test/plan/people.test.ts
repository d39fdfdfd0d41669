import { describe, expect, it } from 'vitest'
import type { EventDraft } from '../../src/model/event.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type { PullFacts, RevertFacts } from '../../src/plan/world.ts'
import { campaign, type CampaignBuilder, oidOf, SPEC } from './a-campaign.ts'
import { actionsOf, carryOut, draftsOfKind, endings, proposal, settle, stepsOf, world } from './a-world.ts'
import { changesOf } from './desired.ts'
import { outcomeCounts } from '../model/outcome-counts.ts'

const BRANCH = 'optimize-exp/size/exp-001'
const NEXT = oidOf('a new head')

function steered(action: EventDraft<'steered'>['action'], experiment = 'exp-001'): EventDraft {
  return { kind: 'steered', cause: `nonce ${action}`, action, experiment, reason: `please ${action}` }
}

describe('a stale head', () => {
  it('queues again with what it has now: the order is cancelled, its report counts for nothing', () => {
    const built = campaign().withExperiment().ordered()
    const { id } = built.order('exp-001')
    const planned = carryOut(built, { branches: new Map([[BRANCH, NEXT]]) })
    expect(draftsOfKind(planned, 'head-moved')).toMatchObject([{ to: NEXT }])
    expect(actionsOf(planned, 'cancel')).toEqual([{ do: 'cancel', order: id }])
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'queued',
      head: NEXT,
      owned: false,
      order: null,
    })
    settle(built)
    expect(built.order('exp-001').candidates[0]?.head).toBe(NEXT)
  })

  it('has no verdict of the old one', () => {
    const built = campaign().withExperiment()
    const experiment = built.experiment('exp-001')
    Object.assign(experiment, {
      status: 'not-proven',
      verdict: 'not proven',
      reason: 'not proven: in 8 jobs',
    })
    const moved = { kind: 'head-moved', experiment: 'exp-001', from: experiment.head, to: NEXT } as const
    built.add({ ...moved, cause: 'pushed' })
    expect(built.experiment('exp-001')).toMatchObject({ status: 'queued', verdict: null, reason: null })
  })

  it('drops what was measured of the old one before it can land', () => {
    const built = campaign()
      .withExperiment()
      .ordered()
      .measured({ 'exp-001': { candidate: { bytes: 8 } } })
    expect(endings(carryOut(built, { branches: new Map([[BRANCH, NEXT]]) }))).toEqual({})
    settle(built)
    expect(built.campaign.landings).toEqual([])
  })
})

describe('withdrawn', () => {
  const pull = (state: PullFacts['state'], number = 1): PullFacts => ({
    number,
    branch: BRANCH,
    base: 'optimize/size',
    state,
    head: oidOf('head of exp-001'),
    title: '',
    body: '',
  })

  it('never by a look that could not have shown its branch: other people’s are known by their pull requests', () => {
    const theirs = { owned: false, branch: 'ada:mine', pull: 7 }
    const built = campaign().withExperiment(theirs)
    expect(endings(carryOut(built, { branches: new Map(), pulls: [] }))).toEqual({})
    expect(built.experiment('exp-001').verdict).toBeNull()
    const seen = { ...pull('merged', 7), branch: 'ada:mine' }
    expect(endings(carryOut(built, { branches: new Map(), pulls: [seen] }))).toEqual({
      'exp-001': 'withdrawn',
    })
  })

  it.each([
    ['by closing its pull request', { pulls: [pull('closed')] }, 'was closed'],
    ['by deleting its branch', { branches: new Map() }, 'was deleted'],
  ])('%s', (_, different, reason) => {
    const built = campaign().withExperiment()
    expect(endings(carryOut(built, different))).toEqual({ 'exp-001': 'withdrawn' })
    expect(built.experiment('exp-001').reason).toContain(reason)
  })

  it('by command, once', () => {
    const built = campaign().withExperiment().add(steered('withdraw'))
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'withdrawn' })
    expect(built.campaign.steered).toEqual([])
    expect(built.add(steered('withdraw')).campaign.steered).toEqual([])
  })

  it('is not what an older, closed pull request on the same branch says', () => {
    const built = campaign().withExperiment({ pull: 2, owned: false })
    expect(endings(carryOut(built, { pulls: [pull('closed', 1), pull('open', 2)] }))).toEqual({})
  })

  it('leaves a newer pull request on the same branch alone', () => {
    const built = campaign().withExperiment({ pull: 1, owned: false }).add(steered('withdraw'))
    carryOut(built)
    expect(changesOf(world(built, { pulls: [{ ...pull('open', 2), head: NEXT }] }))).toEqual([])
  })
})

describe('a revert', () => {
  const landed = () => {
    const built = campaign()
      .withExperiment()
      .ordered()
      .measured({ 'exp-001': { candidate: { bytes: 8 } } })
    settle(built)
    return built.add(steered('revert'))
  }
  const facts = (built: CampaignBuilder, measuredIn: string | null) => {
    const wish = built.campaign.steered[0]?.event ?? ''
    const result = { tree: built.campaign.start.tree, measuredIn, head: oidOf('undone') }
    return new Map<string, RevertFacts>([[wish, { landing: 'exp-001', result }]])
  }

  it('lands at once where the tree without the landing was measured', () => {
    const built = landed()
    const order = built.campaign.proven[built.campaign.start.tree] ?? null
    expect(order).toBe(built.campaign.landings[0]?.order)
    const planned = carryOut(built, { reverts: facts(built, order) })
    expect(stepsOf(planned)).toMatchObject([{ step: 'revert', experiment: 'exp-001', measuredIn: order }])
    expect(built.campaign.incumbent.tree).toBe(built.campaign.start.tree)
    expect(built.campaign).toMatchObject({
      steered: [],
      landings: [{ reverted: built.campaign.incumbent.commit }],
    })
  })

  it('is an experiment of its own where it was not, alone in its round, and needs no gain', () => {
    const built = landed().withExperiment()
    const [wish] = built.campaign.steered
    const undo = proposal('undo', {
      reverts: 'exp-001',
      source: { use: 'revert', key: `revert:${wish?.event}` },
    })
    const reverts = facts(built, null)
    carryOut(built, { reverts, proposals: [undo] })
    built.measured()
    settle(built)
    carryOut(built)
    expect(built.order('exp-003')).toMatchObject({ purpose: 'revert' })
    built.measured({ 'exp-003': { base: { bytes: 8 }, candidate: { bytes: 10 } } })
    expect(endings(carryOut(built))).toEqual({ 'exp-003': 'revert_landed' })
    expect(built.experiment('exp-003').reason).toBe('every gate holds without it: bytes 8 -> 10 (+25.0 %)')
    expect(built.campaign).toMatchObject({ steered: [], landings: [{ reverted: expect.any(String) }, {}] })
  })

  it('never takes a tree that failed for one that was proven', () => {
    const built = campaign()
      .withExperiment()
      .ordered()
      .measured({ 'exp-001': { candidate: 'gate-fails' } })
    const { tree } = built.order('exp-001').candidates[0] ?? { tree: '' }
    settle(built)
    expect(built.campaign.trees[tree]).toBe('exp-001')
    expect(built.campaign.proven).toEqual({})
  })

  it('lets the same change be tried again', () => {
    const built = landed()
    carryOut(built, { reverts: facts(built, built.campaign.landings[0]?.order ?? null) })
    expect(Object.values(built.campaign.trees)).toEqual([])
  })
})

describe('pause, resume and stop', () => {
  const paused = { kind: 'campaign-paused', cause: 'nonce', reason: 'lunch', source: 'person' } as const

  it('a paused campaign orders nothing, lands nothing, and still takes what comes in', () => {
    const built = campaign().withExperiment().ordered().add(paused)
    const order = built.order('exp-001')
    const report = built.answer(order, { candidate: { bytes: 8 } })
    carryOut(built, { runs: new Map([[order.id, { state: 'reported', runId: 'run-1', report }]]) })
    expect(built.experiment('exp-001').status).toBe('measured')
    expect(planCampaign(world(built)).waiting).toEqual({
      for: 'person',
      what: 'the campaign is paused: lunch',
    })
    built.add({ kind: 'campaign-resumed', cause: 'nonce', reason: '' })
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'kept' })
  })

  it('at a stop verdicts that are due are given, and what has none is put back', () => {
    const built = campaign().withExperiments(4).ordered('exp-001', 'exp-002', 'exp-003')
    for (const [id, bytes] of [
      ['exp-001', 8],
      ['exp-002', 12],
    ] as const) {
      const order = built.order(id)
      const report = built.answer(order, { candidate: { bytes } })
      built.add({ kind: 'measured', cause: order.id, order: order.id, run_id: 'run-1', report })
    }
    const running = built.order('exp-003').id
    built.add({ kind: 'campaign-stopped', cause: 'nonce', code: 'person', reason: 'enough' })
    const planned = carryOut(built)
    expect(endings(planned)).toEqual({ 'exp-002': 'dropped' })
    for (const id of ['exp-001', 'exp-003', 'exp-004'])
      expect(built.experiment(id)).toMatchObject({ status: 'queued', round: null, verdict: null })
    expect(actionsOf(planned, 'cancel')).toEqual([{ do: 'cancel', order: running }])
    expect(built.experiment('exp-002').reason).toContain('worse: bytes 10 -> 12')
    expect(settle(built).waiting).toEqual({ for: 'nothing', reason: 'enough' })
  })

  it('a runner-up being combined when the campaign stops was good: it is put back', () => {
    const built = campaign().withExperiments(2).ordered()
    built.measured({ 'exp-001': { candidate: { bytes: 7 } }, 'exp-002': { candidate: { bytes: 8 } } })
    carryOut(built)
    carryOut(built)
    built.add({ kind: 'campaign-stopped', cause: 'nonce', code: 'person', reason: 'enough' })
    expect(endings(carryOut(built))).toEqual({})
    expect(built.experiment('exp-002')).toMatchObject({ status: 'queued', standalone: null })
    expect(built.experiment('exp-002').reason).toContain('bytes 10 -> 8 (-20.0 %)')
  })

  it('orders of the campaign’s own are given up with it', () => {
    const built = campaign()
    const { id } = built.issue({ purpose: 'baseline', stop: { rule: 'alone' }, candidates: [] })
    built.add({ kind: 'campaign-stopped', cause: 'nonce', code: 'person', reason: 'enough' })
    const planned = carryOut(built)
    expect(actionsOf(planned, 'cancel')).toEqual([{ do: 'cancel', order: id }])
    expect(settle(built).waiting).toEqual({ for: 'nothing', reason: 'enough' })
  })
})

describe('stopping rules', () => {
  it('hold between rounds only, so that no round is cut in half', () => {
    const built = campaign(`${SPEC}stopping: { max_iterations: 1 }\n`).withExperiments(2).ordered()
    built.measured({ 'exp-001': { candidate: { bytes: 7 } }, 'exp-002': { candidate: { bytes: 8 } } })
    carryOut(built)
    expect(built.campaign.ended).toBe(1)
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([{ purpose: 'combination' }])
    built.measured({ 'exp-002': { base: { bytes: 7 }, candidate: { bytes: 5 } } })
    carryOut(built)
    expect(draftsOfKind(carryOut(built), 'campaign-stopped')).toMatchObject([{ code: 'max_iterations' }])
  })

  it('count what ended, not what was refused or withdrawn', () => {
    const built = campaign(`${SPEC}stopping: { max_iterations: 2 }\n`).withExperiments(3)
    carryOut(built, { candidates: { 'exp-001': { refusal: { code: 'binary', message: 'binary' } } } })
    built.add(steered('withdraw', 'exp-002'))
    carryOut(built)
    expect(built.campaign).toMatchObject({
      ended: 0,
      status: 'running',
    })
    expect(outcomeCounts(built.campaign)).toEqual({ refused: 1, withdrawn: 1 })
  })

  const target = SPEC.replace('minimize }', 'minimize, target: 8 }')

  it('the target is reached by the incumbent’s own numbers', () => {
    const built = campaign(target)
      .withExperiment()
      .ordered()
      .measured({ 'exp-001': { candidate: { bytes: 8 } } })
    carryOut(built)
    expect(draftsOfKind(carryOut(built), 'campaign-stopped')).toMatchObject([{ code: 'target_reached' }])
  })

  it('a target that a reverted landing had reached is not reached', () => {
    const built = campaign(target)
      .withExperiment()
      .ordered()
      .measured({ 'exp-001': { candidate: { bytes: 8 } } })
    carryOut(built)
    const { incumbent: from, start: to } = built.campaign
    built.add({
      kind: 'incumbent-moved',
      cause: 'undo',
      from,
      to: { ...to, commit: oidOf('undo') },
      why: 'reverted',
    })
    expect(draftsOfKind(carryOut(built), 'campaign-stopped')).toEqual([])
  })

  const closedShop = `${SPEC}propose: [{ use: patch, dir: ideas }]\n`

  it('an empty backlog stops only where nothing can come from outside', () => {
    expect(draftsOfKind(planCampaign(world(campaign(closedShop))), 'campaign-stopped')).toMatchObject([
      { code: 'empty_backlog' },
    ])
    expect(planCampaign(world(campaign()))).toEqual({ actions: [], waiting: { for: 'ideas' } })
  })

  it('what waits for an approval is waited for', () => {
    const built = campaign(closedShop)
    carryOut(built, { proposals: [proposal('dep', { required_deps: ['left-pad'] })] })
    expect(settle(built).waiting).toEqual({
      for: 'person',
      what: 'approval of left-pad for exp-001. winnow approve lists what to review; winnow approve <exp> approves it',
    })
  })
})
