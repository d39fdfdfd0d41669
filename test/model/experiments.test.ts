import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addExperiment, listExperiments, listSubjects } from '../../src/model/experiment.ts'
import { campaign } from '../plan/a-campaign.ts'

describe('a kept change that is picked', () => {
  it('takes no share of the error budget, and counts as no variant of its idea', () => {
    const built = campaign().withExperiments(1)
    built.withExperiment({ purpose: 'pick', picks: 'exp-001', source: { use: 'pick', key: 'pick:x' } })
    expect(built.campaign.picks['exp-002']).toMatchObject({ picks: 'exp-001', alpha_share: 0, variant: 0 })
  })
})

describe('the experiments of a campaign', () => {
  it('include one opened after an earlier listing, in order of opening', () => {
    const built = campaign().withExperiments(2)
    expect(listExperiments(built.campaign).map(({ id }) => id)).toEqual(['exp-001', 'exp-002'])
    built.withExperiment()
    expect(listExperiments(built.campaign).map(({ id }) => id)).toEqual(['exp-001', 'exp-002', 'exp-003'])
    expect(listSubjects(built.campaign)).toHaveLength(3)
  })

  it('are listed in their current state', () => {
    const built = campaign().withExperiments(1)
    const [before] = listExperiments(built.campaign)
    expect(before?.status).toBe('queued')
    const ending = { outcome: 'withdrawn', reason: 'enough', head: null, results: null } as const
    built.add({ kind: 'closed', cause: 'exp-001', experiment: 'exp-001', ...ending })
    expect(listExperiments(built.campaign)[0]?.status).toBe('ended')
  })

  it('are separate in a copy of the campaign', () => {
    const { campaign: one } = campaign().withExperiments(1)
    expect(listExperiments(one)).toHaveLength(1)
    const two = structuredClone(one)
    const [first] = listExperiments(two)
    if (first === undefined) throw new Error('a copy has what was copied')
    addExperiment(two, { ...first, id: 'exp-002', number: 2 })
    expect(listExperiments(one)).toHaveLength(1)
    expect(listExperiments(two).map(({ id }) => id)).toEqual(['exp-001', 'exp-002'])
    expect(listExperiments(one)[0]).not.toBe(first)
  })

  it('are complete for any sequence of listing and opening', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 12 }), turns => {
        const built = campaign()
        for (const opens of turns) {
          if (opens) built.withExperiment()
          expect(listExperiments(built.campaign)).toEqual(Object.values(built.campaign.experiments))
        }
      }),
    )
  })
})
