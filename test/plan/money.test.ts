import { describe, expect, it } from 'vitest'
import { computeMoneyLeft } from '../../src/plan/money.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import { describeResumeHint } from '../../src/report/resume-hint.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { campaign, type CampaignBuilder, HARNESS, oidOf, pointOf, SPEC, unprepared } from './a-campaign.ts'
import { actionsOf, carryOut, draftsOfKind, settle, world } from './a-world.ts'
import { judgedSpec } from './judged-spec.ts'

const CAPPED = `${SPEC}stopping: { max_total_cost_usd: 8 }\n`
const COST = { requests: 2, tokens: 30, usd: 0.5 }
const ASKS = { askable: ['textgrad'] }
const ELSEWHERE = { ...ASKS, asks: 'elsewhere' as const }

describe('the money of a campaign', () => {
  it('has no limit without a cap', () => {
    expect(computeMoneyLeft(world(campaign()), 'propose')).toBeNull()
    expect(computeMoneyLeft(world(campaign(judgedSpec(3))), 'propose')).toBeNull()
  })

  it('is one sum, and the cap of judging is one beside it', () => {
    const built = campaign(`${judgedSpec(3)}stopping: { max_total_cost_usd: 8 }\n`)
    const spent = { kind: 'spent', who: 'm', ok: true, minutes: 0, ...COST } as const
    built.add({ ...spent, cause: 'a', what: 'judge', usd: 1 })
    built.add({ ...spent, cause: 'b', what: 'measure', usd: 4 })
    expect(built.campaign.spent).toMatchObject({ usd: 5, usd_for: { judge: 1, measure: 4 } })
    expect(computeMoneyLeft(world(built), 'judge')).toBe(2)
    expect(computeMoneyLeft(world(built), 'measure')).toBe(3)
    built.add({ ...spent, cause: 'c', what: 'propose', who: 'textgrad', usd: 2 })
    expect(computeMoneyLeft(world(built), 'judge')).toBe(1)
  })

  it('leaves out what this process has set aside, and what an answer cost that the ledger lacks', () => {
    const answers = [{ key: 'k', who: 'textgrad', ok: false, minutes: 0, cost: COST }]
    expect(computeMoneyLeft(world(campaign(CAPPED), { setAsideUsd: 2, answers }), 'propose')).toBe(5.5)
  })
})

describe('a proposer for which winnow asks models', () => {
  it('may spend a quarter of what is left', () => {
    const [here] = actionsOf(planCampaign(world(campaign(CAPPED), ASKS)), 'propose')
    expect(here?.requests[0]).toEqual({ who: 'textgrad', mayCostUsd: 2 })
    const [free] = actionsOf(planCampaign(world(campaign(), ASKS)), 'propose')
    expect(free?.requests[0]).toEqual({ who: 'textgrad', mayCostUsd: null })
    const program = { askable: ['command:agent'] }
    const [agent] = actionsOf(planCampaign(world(campaign(CAPPED), program)), 'propose')
    expect(agent?.requests[0]).toEqual({ who: 'command:agent', mayCostUsd: null })
  })

  it('has its money set aside in the ledger before a job asks', () => {
    const built = campaign(`${CAPPED}execution: { max_concurrent: 1 }\n`)
    const [request] = draftsOfKind(carryOut(built, ELSEWHERE), 'proposal-requested')
    expect(request).toMatchObject({ who: 'textgrad', may_cost_usd: 2 })
    expect(computeMoneyLeft(world(built), 'propose')).toBe(6)
    const answers = [{ key: request?.key ?? '', who: 'textgrad', ok: false, minutes: 1, cost: COST }]
    carryOut(built, { answers })
    expect(built.campaign.spent).toMatchObject({ ...COST, usd_for: { propose: 0.5 } })
    expect(computeMoneyLeft(world(built), 'propose')).toBe(7.5)
  })

  it('counts with what was set aside when its job is lost', () => {
    const built = campaign(`${CAPPED}execution: { max_concurrent: 1 }\n`)
    const [request] = draftsOfKind(carryOut(built, ELSEWHERE), 'proposal-requested')
    carryOut(built, { lost: [{ key: request?.key ?? '', reason: 'its job ended' }] })
    expect(built.campaign.spent.usd_for).toEqual({ propose: 2 })
    expect(built.campaign.proposal_requests).toEqual({})
  })

  it('counts with its real cost when its job tells that no model answered, and an alert has the reason', () => {
    const built = campaign(`${CAPPED}execution: { max_concurrent: 1 }\n`)
    const [request] = draftsOfKind(carryOut(built, ELSEWHERE), 'proposal-requested')
    carryOut(built, { lost: [{ key: request?.key ?? '', reason: 'a wrong key', cost: COST }] })
    expect(built.campaign.spent).toMatchObject({ ...COST, usd_for: { propose: 0.5 } })
    expect(built.campaign.alerts).toMatchObject([
      { code: 'asking-failed', message: 'textgrad: a wrong key. winnow retries' },
    ])
    const [next] = draftsOfKind(carryOut(built, ELSEWHERE), 'proposal-requested')
    const answers = [{ key: next?.key ?? '', who: 'textgrad', ok: false, minutes: 1, cost: COST }]
    carryOut(built, { answers })
    expect(built.campaign.alerts).toEqual([])
  })

  it('is not asked while everything left is set aside', () => {
    const planned = planCampaign(world(campaign(CAPPED), { ...ASKS, setAsideUsd: 8 }))
    expect(actionsOf(planned, 'propose')).toEqual([])
  })
})

describe('an order that models score on this machine', () => {
  const JUDGED = `${judgedSpec(40)}stopping: { max_total_cost_usd: 8 }\n`
  const open = ({ campaign: { orders } }: CampaignBuilder) =>
    Object.values(orders).flatMap(({ order, report }) => (report === null ? [order] : []))

  it('has a quarter of what is left set aside in the ledger before it is measured', () => {
    const built = unprepared(JUDGED)
    settle(built)
    expect(open(built)).toMatchObject([{ purpose: 'calibration', may_cost_usd: 2 }])
    expect(computeMoneyLeft(world(built), 'judge')).toBe(6)
    expect(computeMoneyLeft(world(built), 'propose')).toBe(6)
    const elsewhere = unprepared(JUDGED)
    settle(elsewhere, () => ({ runner: { runId: null, machine: null, external: true } }))
    expect(open(elsewhere)[0]).not.toHaveProperty('may_cost_usd')
  })

  it('costs what it cost, and gets all that is left when it is repeated', () => {
    const built = unprepared(JUDGED)
    settle(built)
    const judging = { model: 'm', requests: 3, tokens: 9, usd: 2 }
    built.measured({ 'base-copy': { runner_error: 'judging ended: $2.00 of $2.00', judging } as never })
    built.add({ kind: 'spent', cause: 'x', what: 'judge', who: 'm', ok: true, minutes: 0, ...COST, usd: 2 })
    settle(built)
    expect(open(built)).toMatchObject([{ attempt: 2, may_cost_usd: 6 }])
  })

  it.each([
    ['with what it has cost', { requests: 1, tokens: 2, usd: 0.25 }, 0.25],
    ['with what was set aside where that is unknown', undefined, 2],
  ])('counts %s when its run is lost', (_, cost, usd) => {
    const built = unprepared(JUDGED)
    settle(built)
    const [order] = open(built)
    const gone = { state: 'gone', started: true, runId: 'run-1', ...(cost ? { cost } : {}) } as const
    carryOut(built, { runs: new Map([[order?.id ?? '', gone]]) })
    expect(built.campaign.spent).toMatchObject({ usd, usd_for: { judge: usd } })
    expect(computeMoneyLeft(world(built), 'judge')).toBeLessThanOrEqual(8 - usd)
  })

  it('is the last one when the sum is spent: the campaign stops, and goes on after the cap is raised', () => {
    const built = unprepared(JUDGED)
    settle(built)
    built.add({
      kind: 'spent',
      cause: 'x',
      what: 'propose',
      who: null,
      ok: true,
      minutes: 0,
      ...COST,
      usd: 8,
    })
    carryOut(built)
    expect(built.campaign).toMatchObject({ status: 'stopped', stop_code: 'max_total_cost_usd' })
    expect(built.campaign.status_reason).toBe('8 USD spent on models (stopping.max_total_cost_usd)')
    expect(describeResumeHint(built.campaign)).toContain('raise stopping.max_total_cost_usd in ')
    const yaml = JUDGED.replace('max_total_cost_usd: 8', 'max_total_cost_usd: 20')
    const parsed = parseSpec(yaml, { file: '.winnow/size.yaml' }).spec
    const spec = { yaml, sha256: hashSha256(yaml), changed: true, parsed }
    const known = { tip: pointOf('raised').commit, tipTree: oidOf('main'), holds: [], to: pointOf('synced') }
    const sync = { result: 'clean', ...known, spec, harness: HARNESS, unread: false } as const
    const resumed = carryOut(built, { sync })
    expect(draftsOfKind(resumed, 'campaign-resumed')).toHaveLength(1)
  })
})
