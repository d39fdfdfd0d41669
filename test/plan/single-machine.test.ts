import { describe, expect, it } from 'vitest'
import { describeSingleMachine } from '../../src/report/run-summary.ts'
import { MACHINE } from '../model/a-machine.ts'
import { type CampaignBuilder, SPEC, unprepared } from './a-campaign.ts'
import { settle } from './a-world.ts'
import { violations } from './chain.ts'
import { FILES, WINNOW } from './happenings.ts'
import { answered, GAIN } from './noisy.ts'
import { Site } from './plan-site.ts'

/** As on GitHub: no run id is known before the run. */
const elsewhere = () => ({ runner: { runId: null, machine: null, external: true } })

/** A campaign on GitHub whose jobs ran on these machines, one after the other. */
function onMachines(boots: readonly string[]): CampaignBuilder {
  const built = unprepared(SPEC).guarded().withExperiment()
  for (const boot_id of boots) {
    settle(built, elsewhere)
    answered(built, { 'exp-001': GAIN }, { machine: { ...MACHINE, boot_id } })
  }
  settle(built, elsewhere)
  return built
}

describe('a whole campaign on GitHub', () => {
  const TIMED = WINNOW('execution: { mode: serial }\n').replace('name: bytes', 'name: wall_seconds')
  const better = { name: 'better', files: { 'src/a': '' }, category: 'loops', priority: 'medium' } as const
  const same = { ...better, name: 'same', files: { 'src/b': 'xxxxxxxx' } }

  function ended(bootOf?: (nth: number) => string): Site {
    const ideas = [better, same].map(idea => ({ ...idea }))
    const built = new Site({
      spec: TIMED,
      files: FILES,
      ideas,
      elsewhere: true,
      ...(bootOf ? { bootOf } : {}),
    })
    built.run()
    expect(built.campaign.status).toBe('stopped')
    expect(violations(built.ledger.events)).toEqual([])
    return built
  }

  const verdicts = ({ campaign: { experiments } }: Site) =>
    Object.values(experiments).map(({ verdict, single_machine }) => [verdict, single_machine])

  it('on one self-hosted machine, or several runners of one host, ends with verdicts', () => {
    const own = ended()
    expect(verdicts(own)).toEqual([
      ['kept', true],
      ['no gain', true],
    ])
    const { reason } = own.ledger.experiment('exp-001')
    expect(reason).toContain('on this machine')
    expect(describeSingleMachine(own.campaign)).toContain('measured on a single machine')
  })

  it('on hosted runners, each started anew, waits for fresh ones and gets them', () => {
    const hosted = ended(nth => `boot ${nth}`)
    expect(verdicts(hosted)).toEqual([
      ['kept', false],
      ['no gain', false],
    ])
    expect(hosted.ledger.experiment('exp-001').reason).not.toContain('this machine')
    expect(describeSingleMachine(hosted.campaign)).toBeNull()
  })

  it('whose runners become one keeps by the single-machine rule from then on', () => {
    const left = ended(nth => (nth < 2 ? `boot ${nth}` : 'own'))
    expect(verdicts(left)).toEqual([
      ['kept', true],
      ['no gain', true],
    ])
  })
})

describe('orders of a campaign on GitHub', () => {
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
