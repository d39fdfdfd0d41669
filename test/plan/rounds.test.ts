import { describe, expect, it } from 'vitest'
import { planCampaign } from '../../src/plan/stages.ts'
import { renderStateSentence, renderVerdictSentence } from '../../src/report/verdict-text.ts'
import { getExperimentState } from '../../src/report/experiment-state.ts'
import { campaign, type CampaignBuilder, SPEC } from './a-campaign.ts'
import { carryOut, draftsOfKind, endings, type Facts, settle, world } from './a-world.ts'

const better = (bytes: number) => ({ candidate: { bytes } })

function orderedIn(built: CampaignBuilder): string[] {
  return draftsOfKind(planCampaign(world(built)), 'order-issued').flatMap(({ candidates }) =>
    candidates.map(({ label }) => label),
  )
}

describe('a round', () => {
  it('takes the best of each category by priority, then number, and fills up by priority', () => {
    const built = campaign(`${SPEC}execution: { max_concurrent: 3 }\n`)
      .withExperiment({ category: 'loops' })
      .withExperiment({ category: 'loops', priority: 'high' })
      .withExperiment({ category: 'memory', priority: 'low' })
      .withExperiment({ category: 'loops', priority: 'high' })
    expect(orderedIn(built)).toEqual(['exp-002', 'exp-003', 'exp-004'])
  })

  it.each([
    'execution: { mode: serial }',
    'parallel: { exclusive_resources: [gpu] }',
    'execution: { max_experiments_per_tick: 1 }',
  ])('is one experiment with %s', yaml => {
    expect(orderedIn(campaign(`${SPEC}${yaml}\n`).withExperiments(3))).toEqual(['exp-001'])
  })

  it('that ends more experiments than stopping.max_iterations says so with the number that ended', () => {
    const built = campaign(`${SPEC}stopping: { max_iterations: 2 }\n`).withExperiments(4).ordered()
    built.measured()
    settle(built)
    expect(built.campaign).toMatchObject({ status: 'stopped', stop_code: 'max_iterations', ended: 4 })
    expect(built.campaign.status_reason).toBe('4 experiments ended (stopping.max_iterations: 2)')
  })

  it('waits for its last member before anything lands', () => {
    const built = campaign().withExperiments(2).ordered()
    const { 'exp-001': first } = built.campaign.experiments
    const order = built.order(first?.id ?? '')
    built.add({
      kind: 'measured',
      cause: order.id,
      order: order.id,
      run_id: 'run-1',
      report: built.answer(order, better(8)),
    })
    expect(planCampaign(world(built))).toMatchObject({ actions: [], waiting: { for: 'orders' } })
  })

  it('lands the best and answers at once those that touch its files', () => {
    const built = campaign().withExperiments(2).ordered()
    built.measured({ 'exp-001': better(9), 'exp-002': better(8) })
    const same: Facts = { files: ['src/same.txt'] }
    const planned = carryOut(built, { candidates: { 'exp-001': same, 'exp-002': same } })
    expect(endings(planned)).toEqual({ 'exp-001': 'not_selected', 'exp-002': 'kept' })
    expect(draftsOfKind(planned, 'round-closed')).toMatchObject([{ winner: 'exp-002' }])
    expect(renderVerdictSentence(built.experiment('exp-001'))).toMatch(
      /^Better, not taken: bytes 10 -> 9 \(-10\.0 %\).*, but exp-002 was better and changes the same files$/,
    )
  })

  it('without a winner is closed as such', () => {
    const built = campaign().withExperiment().ordered().measured()
    expect(draftsOfKind(carryOut(built), 'round-closed')).toMatchObject([
      { winner: null, members: ['exp-001'] },
    ])
  })
})

describe('a runner-up', () => {
  const THREE = (yaml = SPEC) => {
    const built = campaign(yaml).withExperiments(3).ordered()
    built.measured({ 'exp-001': better(7), 'exp-002': better(8), 'exp-003': better(9) })
    return built
  }

  it('is measured again as the tree it would make of the new incumbent, and kept if it still helps', () => {
    const built = THREE()
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'kept' })
    const { incumbent } = built.campaign
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([
      { purpose: 'combination', base: incumbent, candidates: [{ label: 'exp-002' }], attempt: 1 },
    ])
    built.measured({ 'exp-002': { base: { bytes: 7 }, candidate: { bytes: 5 } } })
    expect(endings(carryOut(built))).toEqual({ 'exp-002': 'runner_up_kept' })
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([
      { candidates: [{ label: 'exp-003' }] },
    ])
    built.measured({ 'exp-003': { base: { bytes: 5 }, candidate: { bytes: 4 } } })
    expect(endings(settleOne(built))).toEqual({ 'exp-003': 'runner_up_kept' })
    expect(built.campaign.round).toMatchObject({ open: false, winner: 'exp-001' })
    expect(built.campaign.landings.map(({ base }) => base.tree)).toEqual([
      built.campaign.start.tree,
      ...built.campaign.landings.slice(0, 2).map(({ commit }) => treeOf(built, commit)),
    ])
  })

  it('that does not help any more is dropped, and no other is tried after it', () => {
    const built = THREE()
    carryOut(built)
    carryOut(built)
    built.measured({ 'exp-002': { base: { bytes: 7 }, candidate: { bytes: 7 } } })
    const planned = settleOne(built)
    expect(endings(planned)).toEqual({ 'exp-002': 'runner_up_dropped' })
    expect(renderVerdictSentence(built.experiment('exp-002'))).toMatch(
      /^Promising alone, neutral in combination: bytes 7 -> 7 /,
    )
    expect(built.experiment('exp-003')).toMatchObject({ status: 'ordered', round: 2 })
    expect(built.order('exp-003').base).toEqual(built.campaign.incumbent)
  })

  it('that breaks on top of the winner is dropped too: alone it was good', () => {
    const built = THREE()
    carryOut(built)
    carryOut(built)
    built.measured({ 'exp-002': { base: { bytes: 7 }, candidate: 'gate-fails' } })
    expect(endings(settleOne(built))['exp-002']).toBe('runner_up_dropped')
    expect(renderVerdictSentence(built.experiment('exp-002'))).toMatch(
      /^Promising alone, broken in combination: /,
    )
  })

  it('that does harm on top of the winner says so', () => {
    const built = THREE()
    carryOut(built)
    carryOut(built)
    built.measured({ 'exp-002': { base: { bytes: 7 }, candidate: { bytes: 9 } } })
    expect(endings(settleOne(built))['exp-002']).toBe('runner_up_dropped')
    expect(renderVerdictSentence(built.experiment('exp-002'))).toMatch(
      /^Promising alone, harmful in combination: bytes 7 -> 9 /,
    )
  })

  it('that conflicts with the winner is dropped without a measurement', () => {
    const built = THREE()
    carryOut(built)
    const planned = carryOut(built, { candidates: { 'exp-002': { conflict: ['src/a.txt'] } } })
    expect(endings(planned)).toEqual({ 'exp-002': 'runner_up_dropped' })
    expect(built.experiment('exp-003').status).toBe('queued')
  })

  it('beyond max_runner_up_merges_per_batch is carried: the next round measures it on the new incumbent', () => {
    const built = THREE(`${SPEC}max_runner_up_merges_per_batch: 1\n`)
    const planned = carryOut(built)
    expect(endings(planned)).toEqual({ 'exp-001': 'kept' })
    expect(draftsOfKind(planned, 'requeued')).toMatchObject([{ experiment: 'exp-003', why: 'not-taken' }])
    expect(renderStateSentence(getExperimentState(built.campaign, built.experiment('exp-003')))).toMatch(
      /^Waiting for a runner: bytes 10 -> 9 .*, but exp-001 was better\. The next round measures it on top of the kept changes\.$/,
    )
    carryOut(built)
    built.measured({ 'exp-002': { base: { bytes: 7 }, candidate: { bytes: 6 } } })
    settle(built)
    expect(built.order('exp-003')).toMatchObject({ purpose: 'experiment', base: built.campaign.incumbent })
    built.measured({ 'exp-003': { base: { bytes: 6 }, candidate: { bytes: 5 } } })
    settle(built)
    expect(built.experiment('exp-003').outcome).toBe('kept')
  })

  it('whose files a better runner-up touches is answered at once, by its name', () => {
    const built = THREE(`${SPEC}max_runner_up_merges_per_batch: 1\n`)
    const same: Facts = { files: ['src/same.txt'] }
    const planned = carryOut(built, { candidates: { 'exp-002': same, 'exp-003': same } })
    expect(endings(planned)).toEqual({ 'exp-001': 'kept', 'exp-003': 'not_selected' })
    expect(built.experiment('exp-003').reason).toMatch(/, but exp-002 was better and changes the same files$/)
  })

  it('is not tried at all where the spec says 0', () => {
    const built = THREE(`${SPEC}max_runner_up_merges_per_batch: 0\n`)
    const planned = carryOut(built)
    expect(endings(planned)).toEqual({ 'exp-001': 'kept' })
    expect(draftsOfKind(planned, 'requeued')).toHaveLength(2)
    expect(draftsOfKind(planned, 'round-closed')).toMatchObject([{ members: ['exp-001'] }])
    expect(built.campaign.round?.open).toBe(false)
  })

  it('withdrawn while it is combined makes place for the next', () => {
    const built = THREE()
    carryOut(built)
    carryOut(built)
    built.add({
      kind: 'steered',
      cause: 'nonce',
      action: 'withdraw',
      experiment: 'exp-002',
      reason: 'mistake',
    })
    expect(endings(carryOut(built))).toEqual({ 'exp-002': 'withdrawn' })
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([
      { candidates: [{ label: 'exp-003' }] },
    ])
  })

  it('whose combination is lost is measured again; what it showed alone still stands', () => {
    const built = THREE()
    carryOut(built)
    carryOut(built)
    built.lost('exp-002')
    expect(built.experiment('exp-002')).toMatchObject({ status: 'measured', interrupted: 1 })
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([{ purpose: 'combination' }])
  })
})

function treeOf(built: CampaignBuilder, commit: string): string {
  const merged = built.events.find(event => event.kind === 'merged' && event.commit === commit)
  return merged?.kind === 'merged' ? merged.tree : ''
}

/** One plan after another until one ends experiments. */
function settleOne(built: CampaignBuilder) {
  for (let looks = 0; looks < 10; looks++) {
    const planned = carryOut(built)
    if (Object.keys(endings(planned)).length > 0) {
      settle(built)
      return planned
    }
  }
  throw new Error('nothing ended')
}
