import { describe, expect, it } from 'vitest'
import { computeMoneyLeft } from '../../src/plan/money.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import { campaign, SPEC } from './a-campaign.ts'
import { actionsOf, carryOut, draftsOfKind, world } from './a-world.ts'
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

  it('is not asked while everything left is set aside', () => {
    const planned = planCampaign(world(campaign(CAPPED), { ...ASKS, setAsideUsd: 8 }))
    expect(actionsOf(planned, 'propose')).toEqual([])
  })
})
