import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PairedTerms } from '../../src/model/order.ts'
import { computeAlpha, computeAlphaShare, countTestsLeft } from '../../src/plan/paired-order.ts'
import { describeVerdict } from '../../src/report/verdict-text.ts'
import { getExperimentState } from '../../src/report/experiment-state.ts'
import { describeProposedIdeas, describeResumeHint } from '../../src/report/resume-hint.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { type CampaignBuilder, SPEC } from './a-campaign.ts'
import { carryOut, draftsOfKind, settle, world } from './a-world.ts'
import { answered, GAIN, LOSS, measuredOut, noisy, SWAYING } from './noisy.ts'
import { outcomeCounts } from '../model/outcome-counts.ts'

const N = (count: number) => `${SPEC}stopping: { max_iterations: ${count} }\n`

/** On which terms each experiment was tested first. */
function firstTerms(built: CampaignBuilder): Record<string, PairedTerms> {
  const terms: Record<string, PairedTerms> = {}
  for (const event of built.events) {
    if (event.kind !== 'order-issued' || event.stop.rule !== 'paired') continue
    for (const [id, own] of Object.entries(event.stop.terms)) terms[id] ??= own
  }
  return terms
}

function levels(built: CampaignBuilder): number[] {
  return Object.values(firstTerms(built)).map(({ alpha }) => alpha)
}

describe('the level of a campaign (e-LOND)', () => {
  it('is q/N for each of its N ideas, also for those of one block', () => {
    const built = noisy(N(20)).withExperiments(4)
    settle(built)
    expect(levels(built)).toEqual(Array(4).fill(expect.closeTo(0.1 / 20)))
    expect(built.campaign.error_budget).toEqual({ alpha_spent: expect.closeTo(0.2), tests: 4 })
  })

  it('grows with every discovery made before', () => {
    const built = noisy(N(20)).withExperiments(4)
    measuredOut(built, { 'exp-001': GAIN, 'exp-002': GAIN, 'exp-003': LOSS, 'exp-004': LOSS })
    built.withExperiment()
    settle(built)
    const found = outcomeCounts(built.campaign)
    expect((found.kept ?? 0) + (found.runner_up_kept ?? 0) + (found.not_selected ?? 0)).toBe(2)
    expect(levels(built).at(-1)).toBeCloseTo((0.1 * 3) / 20)
  })

  it('is taken once: another job, another base or another attempt takes no more of it', () => {
    const built = noisy(N(20)).withExperiment()
    settle(built)
    answered(built, { 'exp-001': GAIN })
    settle(built)
    built.lost('exp-001')
    settle(built)
    expect(built.campaign.error_budget).toEqual({ alpha_spent: expect.closeTo(0.05), tests: 1 })
  })

  it('after an amendment only what is unspent is shared by those to come', () => {
    const built = noisy(N(4)).withExperiments(4)
    measuredOut(built, Object.fromEntries(['exp-001', 'exp-002'].map(id => [id, LOSS])))
    const { campaign } = noisy(N(4)).withExperiments(2)
    const spent = { ...campaign, error_budget: { alpha_spent: 0.5, tests: 2 } }
    const amended = parseSpec(N(12), { file: '.winnow/size.yaml' }).spec
    expect(computeAlphaShare(spent, amended)).toBeCloseTo(0.5 / 10)
    expect(computeAlphaShare(spent, parseSpec(N(3), { file: '.winnow/size.yaml' }).spec)).toBeCloseTo(0.5)
    expect(countTestsLeft(spent, parseSpec(N(2), { file: '.winnow/size.yaml' }).spec)).toBe(0)
  })

  it('is never more than all of it, however often N is changed', () => {
    const { campaign } = noisy()
    const spec = (count: number) => parseSpec(N(count), { file: '.winnow/size.yaml' }).spec
    const specs = new Map(Array.from({ length: 40 }, (_, at) => [at + 1, spec(at + 1)]))
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }), counts => {
        let error_budget = { alpha_spent: 0, tests: 0 }
        for (const count of counts) {
          const share = computeAlphaShare({ ...campaign, error_budget }, specs.get(count) ?? spec(count))
          error_budget = { alpha_spent: error_budget.alpha_spent + share, tests: error_budget.tests + 1 }
        }
        expect(error_budget.alpha_spent).toBeLessThanOrEqual(1 + 1e-9)
      }),
    )
  })

  it('is not given to more ideas of a round than are left', () => {
    const built = noisy(N(2)).withExperiments(4)
    settle(built)
    expect(Object.keys(firstTerms(built))).toEqual(['exp-001', 'exp-002'])
  })

  it('used up stops the campaign, ideas not proven among those that were tested', () => {
    const built = noisy(`${N(2)}evidence: { max_jobs: 1 }\n`).withExperiments(3)
    measuredOut(built, { 'exp-001': SWAYING, 'exp-002': LOSS })
    expect(built.campaign).toMatchObject({
      status: 'stopped',
      status_reason:
        '2 experiments tested, as many as the error budget was planned for (stopping.max_iterations)',
    })
    // Resuming would be refused, so nothing says that it helps.
    expect(describeResumeHint(built.campaign)).toMatch(
      /winnow archive: .* propose the waiting ideas there again$/,
    )
    expect(describeProposedIdeas(built.campaign, 1)).toMatch(
      /^The campaign is stopped, and it waits\. To continue, merge /,
    )
    expect(describeVerdict(getExperimentState(built.campaign, built.experiment('exp-003')))).toBe(
      'waiting for another campaign',
    )
    expect(built.experiment('exp-001').outcome).toBe('inconclusive')
    expect(built.experiment('exp-003').status).toBe('queued')
  })

  it('used up does not stop one that has its share and is measured again', () => {
    const built = noisy(N(2)).withExperiments(2)
    settle(built)
    answered(built, { 'exp-001': GAIN, 'exp-002': GAIN })
    settle(built)
    built.add({
      kind: 'incumbent-moved',
      cause: 'somebody else',
      from: built.campaign.incumbent,
      to: { commit: 'c'.repeat(40), tree: 'd'.repeat(40) },
      why: 'foreign',
    })
    const steps = carryOut(built)
    expect(draftsOfKind(steps, 'campaign-stopped')).toEqual([])
    measuredOut(built, { 'exp-001': GAIN, 'exp-002': GAIN })
    expect(outcomeCounts(built.campaign)).toEqual({ kept: 1, runner_up_kept: 1 })
  })
})

describe('a fixed level', () => {
  it('is the same for all, and never used up', () => {
    const built = noisy(`${N(2)}evidence: { campaign_control: fixed, alpha: 0.02 }\n`).withExperiments(3)
    settle(built)
    expect(levels(built)).toEqual([0.02, 0.02, 0.02])
    expect(world(built).campaign.error_budget).toEqual({ alpha_spent: 0, tests: 3 })
    expect(countTestsLeft(built.campaign, built.spec)).toBe(Infinity)
  })

  it('stays that of the ideas that began under it, when an amendment chooses e-LOND', () => {
    const { campaign } = noisy(N(2))
    const control = { campaign_control: 'e-lond', q: 0.1, alpha: 0.02 } as const
    expect(computeAlpha(campaign, control, { share: 0, variant: 0 })).toBe(0.02)
  })
})

describe('variants of one idea', () => {
  const part = (k: number) => 6 / (Math.PI ** 2 * k ** 2)

  it('are tested more strictly one after the other, in the order of testing, also in one block', () => {
    const built = noisy(N(20)).withExperiments(1)
    for (const priority of ['low', 'high', 'medium'] as const)
      built.withExperiment({ family: 'loops', priority })
    settle(built)
    const terms = firstTerms(built)
    const of = (id: string) => [terms[id]?.variant, terms[id]?.alpha]
    expect(of('exp-001')).toEqual([0, expect.closeTo(0.005)])
    expect(of('exp-003')).toEqual([1, expect.closeTo(0.005 * part(1))])
    expect(of('exp-004')).toEqual([2, expect.closeTo(0.005 * part(2))])
    expect(of('exp-002')).toEqual([3, expect.closeTo(0.005 * part(3))])
  })

  it('keep their place when another is tested after them', () => {
    const built = noisy(N(20)).withExperiment({ family: 'loops' })
    settle(built)
    answered(built, { 'exp-001': GAIN })
    built.withExperiment({ family: 'loops' })
    settle(built)
    expect(built.experiment('exp-001').variant).toBe(1)
    measuredOut(built, { 'exp-001': GAIN, 'exp-002': LOSS })
    expect(firstTerms(built)['exp-002']?.variant).toBe(2)
  })
})
