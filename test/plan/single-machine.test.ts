import { describe, expect, it } from 'vitest'
import { MACHINE } from '../model/a-machine.ts'
import { type CampaignBuilder, SPEC, unprepared } from './a-campaign.ts'
import { settle } from './a-world.ts'
import { answered, GAIN } from './noisy.ts'

/** As on GitHub: no run id is known before the run. */
const elsewhere = () => ({ runner: { runId: null, machine: null, external: true } })

/** A campaign on GitHub whose jobs ran on these machines, one after the other. */
function onMachines(boots: readonly string[]): CampaignBuilder {
  const built = unprepared(SPEC).withExperiment()
  for (const boot_id of boots) {
    settle(built, elsewhere)
    answered(built, { 'exp-001': GAIN }, { machine: { ...MACHINE, boot_id } })
  }
  settle(built, elsewhere)
  return built
}

describe('a campaign on GitHub', () => {
  it('whose jobs all run on one self-hosted machine keeps by the single-machine rule', () => {
    const built = onMachines(['own', 'own', 'own', 'own'])
    const { stop } = built.order('exp-001')
    expect(stop).toMatchObject({ rule: 'paired', single_machine: true, min_effect: 0.02, null_effect: 0.01 })
    for (let jobs = 0; jobs < 3 && built.experiment('exp-001').status === 'ordered'; jobs++) {
      answered(built, { 'exp-001': GAIN }, { machine: { ...MACHINE, boot_id: 'own' } })
      settle(built, elsewhere)
    }
    expect(built.experiment('exp-001')).toMatchObject({ outcome: 'kept', single_machine: true })
  })

  it('whose jobs run on machines of their own waits for a fresh one', () => {
    const built = onMachines(['a', 'b', 'c', 'd'])
    expect(built.order('exp-001').stop).toMatchObject({ single_machine: false, null_effect: 0.005 })
  })

  it('whose jobs run on two machines by turns has more than one', () => {
    const built = onMachines(['a', 'b', 'a', 'b'])
    expect(built.order('exp-001').stop).toMatchObject({ single_machine: false })
  })

  it('that has had one machine left for three jobs has no other', () => {
    const built = onMachines(['a', 'b', 'b', 'b'])
    expect(built.order('exp-001').stop).toMatchObject({ single_machine: true })
  })
})
