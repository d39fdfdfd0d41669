import { describe, expect, it } from 'vitest'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { findTargetExperiment, isTarget, isTargetSettled } from '../../src/plan/world.ts'

type Known = Pick<Experiment, 'branch' | 'status' | 'closed'>

function campaignOf(...experiments: Known[]) {
  const named = experiments.map((known, index) => [`exp-00${index + 1}`, known as Experiment])
  return { ...createEmptyCampaign(), experiments: Object.fromEntries(named) }
}

const ended: Known = { branch: 'mine', status: 'ended', closed: true }

describe('one idea that is meant', () => {
  it('is everything where none is named, and its branch alone where one is', () => {
    expect(isTarget(null, 'any')).toBe(true)
    expect(isTarget(null, null)).toBe(true)
    expect(isTarget('mine', 'mine')).toBe(true)
    expect(isTarget('mine', 'other')).toBe(false)
    expect(isTarget('mine', null)).toBe(false)
  })

  it('is the latest experiment of its branch', () => {
    const queued: Known = { branch: 'mine', status: 'queued', closed: false }
    const campaign = campaignOf(ended, { ...ended, branch: 'other' }, queued)
    expect(findTargetExperiment(campaign, 'mine')).toBe(queued)
    expect(findTargetExperiment(campaign, 'nobody')).toBeUndefined()
  })

  it.each([
    ['before it is an experiment', [], false],
    ['while it is measured', [{ branch: 'mine', status: 'measured', closed: false }], false],
    ['while it waits for an approval', [{ branch: 'mine', status: 'deferred', closed: false }], false],
    ['before its end is written', [{ ...ended, closed: false }], false],
    ['once it has its verdict', [ended], true],
    ['once only more jobs could say more', [{ branch: 'mine', status: 'not-proven', closed: false }], true],
    ['not by what became of another', [{ ...ended, branch: 'other' }], false],
  ] as const)('is settled %s', (_, experiments, settled) => {
    expect(isTargetSettled(campaignOf(...experiments), 'mine')).toBe(settled)
  })
})
