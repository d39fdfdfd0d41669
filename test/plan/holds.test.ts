import { describe, expect, it } from 'vitest'
import { campaign, type CampaignBuilder, SPEC } from './a-campaign.ts'
import type { Behaviour } from './a-report.ts'
import { draftsOfKind, settle, world } from './a-world.ts'
import { adding, LEFT_PAD } from './an-addition.ts'
import { fewer, measuredOut, noisy } from './noisy.ts'
import type { SuspiciousChange } from '../../src/decide/suspicious-changes.ts'
import { planCampaign } from '../../src/plan/stages.ts'

const SUSPICIOUS: SuspiciousChange[] = [{ rule: 'exits', path: 'src/a.js', line: 3, text: 'process.exit(0)' }]
const suspicious = { 'exp-001': { suspicious: SUSPICIOUS } }
const NAME = 'src/a.js can end the process early'

function bytes(base: number, candidates: Record<string, number>) {
  const each = Object.entries(candidates).map(([id, candidate]) => [
    id,
    { base: { bytes: base }, candidate: { bytes: candidate } },
  ])
  return Object.fromEntries(each)
}

/** Two ideas of one round, measured: the first is better, and changes the suspicious line. */
function measured(yaml = SPEC, values = bytes(100, { 'exp-001': 90, 'exp-002': 95 })): CampaignBuilder {
  const built = campaign(yaml).withExperiments(2)
  settle(built, () => ({ candidates: suspicious }))
  built.measured(values)
  return built
}

function approve(built: CampaignBuilder): void {
  const { digest = '', packages = [] } = built.experiment('exp-001').approval ?? {}
  built.add({ kind: 'approved', cause: `nonce ${digest}`, experiment: 'exp-001', digest, packages })
}

describe('a suspicious change that would be kept', () => {
  it('waits for a person, and the next best of its round lands', () => {
    const built = measured()
    const [held] = draftsOfKind(planCampaign(world(built, { candidates: suspicious })), 'requeued')
    expect(held).toMatchObject({ experiment: 'exp-001', why: 'held', findings: [{ name: NAME, line: 3 }] })
    expect(held?.reason).toMatch(
      /^bytes 100 -> 90 .*, but a person has to read the change before winnow keeps it$/,
    )
    settle(built, () => ({ candidates: suspicious }))
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'deferred',
      approval: { packages: [NAME], findings: [{ name: NAME }] },
    })
    expect(built.campaign.landings.map(({ experiment }) => experiment)).toEqual(['exp-002'])
  })

  it('is measured again and lands once that head is approved', () => {
    const built = measured()
    settle(built, () => ({ candidates: suspicious }))
    approve(built)
    settle(built, () => ({ candidates: suspicious }))
    expect(built.experiment('exp-001').status).toBe('ordered')
    built.measured(bytes(95, { 'exp-001': 90 }))
    settle(built, () => ({ candidates: suspicious }))
    expect(built.campaign.landings.map(({ experiment }) => experiment)).toEqual(['exp-002', 'exp-001'])
  })

  it('is not asked about where it is not kept, or where the spec allows it', () => {
    const worse = measured(SPEC, bytes(100, { 'exp-001': 110, 'exp-002': 95 }))
    settle(worse, () => ({ candidates: suspicious }))
    expect(worse.experiment('exp-001')).toMatchObject({ status: 'ended', approval: null })
    const allowed = measured(`${SPEC}merge: { suspicious: allow }\n`)
    settle(allowed, () => ({ candidates: suspicious }))
    expect(allowed.campaign.landings[0]?.experiment).toBe('exp-001')
  })

  it('is closed where the spec denies it', () => {
    const denied = measured(`${SPEC}merge: { suspicious: deny }\n`)
    settle(denied, () => ({ candidates: suspicious }))
    expect(denied.experiment('exp-001')).toMatchObject({ status: 'ended', outcome: 'not_selected' })
    expect(denied.experiment('exp-001').reason).toContain('(merge.suspicious: deny)')
  })

  it('is one more reason beside packages, which do not have to be approved twice', () => {
    const both = { 'exp-001': { suspicious: SUSPICIOUS, additions: adding(LEFT_PAD) } }
    const yaml = `${SPEC}dependencies: { approved: [left-pad], min_release_age_days: 0 }\n`
    const built = campaign(yaml).withExperiments(2)
    settle(built, () => ({ candidates: both }))
    built.measured(bytes(100, { 'exp-001': 90, 'exp-002': 95 }))
    settle(built, () => ({ candidates: both }))
    expect(built.experiment('exp-001').approval?.packages).toEqual([NAME])
  })
})

describe('a gain above merge.hold_above', () => {
  const LARGE = bytes(100, { 'exp-001': 20, 'exp-002': 95 })

  it('waits for a person', () => {
    const built = campaign(SPEC).withExperiments(2)
    settle(built)
    built.measured(LARGE)
    settle(built)
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'deferred',
      approval: {
        findings: [
          { name: 'its gain is larger than 3x (merge.hold_above)', text: 'bytes is 5.00 times better' },
        ],
      },
    })
  })

  it('shows both numbers of a gain without a factor', () => {
    const built = campaign(SPEC).withExperiments(2)
    settle(built)
    built.measured(bytes(100, { 'exp-001': 0, 'exp-002': 95 }))
    settle(built)
    expect(built.experiment('exp-001').approval?.findings[0]?.text).toBe('bytes 100 -> 0 (-100.0 %)')
  })

  it('lands where the spec has no limit', () => {
    const built = campaign(`${SPEC}merge: { hold_above: null }\n`).withExperiments(2)
    settle(built)
    built.measured(LARGE)
    settle(built)
    expect(built.campaign.landings[0]?.experiment).toBe('exp-001')
  })
})

describe('a change that is typically faster, and sometimes slower', () => {
  /** 6 % fewer bytes, but for every twelfth run, which has three times as many. */
  const SOMETIMES: Behaviour = nth => ({
    bytes: (nth % 12 === 7 ? 3 : 1) * 940 * (1 + (((nth * 37) % 101) - 50) / 10_000),
  })
  const STEADY = fewer(0.06, 1)
  const NAME_OF_SLOW = 'typically lower, sometimes higher (merge.sometimes_slower)'

  it('waits for a person, with both numbers', () => {
    const built = noisy().withExperiment()
    measuredOut(built, { 'exp-001': SOMETIMES })
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'deferred',
      approval: {
        findings: [
          { name: NAME_OF_SLOW, text: expect.stringMatching(/median 6\.\d % lower, mean \d+\.\d % higher/) },
        ],
      },
    })
    expect(built.campaign.landings).toEqual([])
  })

  it('lands once that head is approved', () => {
    const built = noisy().withExperiment()
    measuredOut(built, { 'exp-001': SOMETIMES })
    approve(built)
    measuredOut(built, { 'exp-001': SOMETIMES })
    expect(built.experiment('exp-001').outcome).toBe('kept')
  })

  it('lands where the spec allows it', () => {
    const built = noisy(`${SPEC}merge: { sometimes_slower: allow }\n`).withExperiment()
    measuredOut(built, { 'exp-001': SOMETIMES })
    expect(built.experiment('exp-001').outcome).toBe('kept')
  })

  it('is another one than a change that is always faster', () => {
    const built = noisy().withExperiment()
    const orders = measuredOut(built, { 'exp-001': STEADY })
    expect(built.experiment('exp-001').outcome).toBe('kept')
    expect(orders.filter(({ purpose }) => purpose === 'experiment').length).toBeGreaterThan(2)
  })
})

describe('an idea whose harness printed another number of lines than on the base', () => {
  function printing(lines: number, yaml = SPEC): CampaignBuilder {
    const built = campaign(yaml).withExperiments(1)
    settle(built)
    const [live] = Object.values(built.campaign.orders).filter(({ report }) => report === null)
    if (live === undefined) throw new Error('no order')
    const said = bytes(100, { 'exp-001': 90 })
    const { executions } = built.answer(live.order, said['exp-001'])
    const counted = executions.map(run => ({ ...run, printed_lines: run.side === 'base' ? 133 : lines }))
    built.measured({ 'exp-001': { ...said['exp-001'], executions: counted } })
    settle(built)
    return built
  }

  it('waits for a person', () => {
    expect(printing(120).experiment('exp-001').approval?.findings).toEqual([
      {
        name: 'its harness prints less or more than on the base',
        path: null,
        line: null,
        text: 'The harness printed 120 of the 133 lines that the base always prints',
      },
    ])
  })

  it('waits as well where it printed more, such as a result of its own', () => {
    const [finding] = printing(134).experiment('exp-001').approval?.findings ?? []
    expect(finding?.text).toBe('The harness printed 134 lines, and the base always prints 133')
  })

  it('lands where it printed as much, or where the spec allows it', () => {
    expect(printing(133).campaign.landings).toHaveLength(1)
    expect(printing(120, `${SPEC}merge: { suspicious: allow }\n`).campaign.landings).toHaveLength(1)
  })
})

describe('an idea that costs what its metric does not see', () => {
  function costing(seconds: number, yaml = SPEC): CampaignBuilder {
    const built = campaign(yaml).withExperiments(1)
    settle(built)
    const [live] = Object.values(built.campaign.orders).filter(({ report }) => report === null)
    if (live === undefined) throw new Error('no order')
    const said = bytes(100, { 'exp-001': 90 })
    const executions = built.answer(live.order, said['exp-001']).executions.map(run => ({
      ...run,
      metrics: { ...run.metrics, cpu_seconds: run.side === 'base' ? 0.5 : seconds },
    }))
    built.measured({ 'exp-001': { ...said['exp-001'], executions } })
    settle(built)
    return built
  }

  it('waits for a person', () => {
    expect(costing(2).experiment('exp-001').approval?.findings).toEqual([
      {
        name: 'it costs what its metric does not see',
        path: null,
        line: null,
        text: 'each run takes at least 2 s of processor time, and at most 0.5 on the base',
      },
    ])
  })

  it('lands where it costs little more, or where the spec allows it', () => {
    expect(costing(0.9).campaign.landings).toHaveLength(1)
    expect(costing(2, `${SPEC}merge: { suspicious: allow }\n`).campaign.landings).toHaveLength(1)
  })
})
