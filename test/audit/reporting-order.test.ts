import { describe, expect, it } from 'vitest'
import { findReportingGaps } from '../../src/engine/verify/orders.ts'
import type { Order, ReportingPurpose } from '../../src/model/order.ts'
import type { PairJob } from '../../src/model/pairs.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import { type CampaignBuilder, campaign, pointOf, START } from '../plan/a-campaign.ts'

const LANDED = pointOf('landed')
const LATER = pointOf('later')
const JOB: PairJob = { order: hashSha256('order'), runner: 'boot', complete: true, pairs: [] }

/** One landing, and an incumbent that has moved on since. */
function moved(): CampaignBuilder {
  const built = campaign().withExperiment()
  const head = built.experiment('exp-001').head ?? ''
  const decided = { seq: 0, sha256: hashSha256('decided') }
  const merged = { experiment: 'exp-001', ...LANDED, base: START, head, results: null, pull: null, decided }
  return built.add(
    { kind: 'merged', cause: 'landing', ...merged },
    { kind: 'incumbent-moved', cause: 'landing', from: START, to: LANDED, why: 'merged' },
    { kind: 'incumbent-moved', cause: 'by hand', from: LANDED, to: LATER, why: 'foreign' },
  )
}

function gaps(purpose: ReportingPurpose, different: Partial<Order>): string[] {
  const built = moved()
  const order = built.issue({
    purpose,
    base: START,
    candidates: [{ label: 'incumbent', head: LATER.commit, tree: LATER.tree }],
    stop: { rule: 'pairs', metrics: ['bytes'], scale: 'log', pairs: 8 },
    ...(purpose === 'progression' ? { part: 3 } : {}),
  })
  return findReportingGaps(built.campaign, { ...order, ...different }, purpose)
}

const OF_LANDING = [{ label: 'incumbent' as const, head: LANDED.commit, tree: LANDED.tree }]

describe('an order that only reports', () => {
  it('on a landing measures what landed on what it landed on', () => {
    expect(gaps('effect', { candidates: OF_LANDING })).toEqual([])
    expect(gaps('effect', {})).toEqual([`it measures ${LATER.commit}, which is no landing in force`])
    expect(gaps('effect', { candidates: OF_LANDING, base: LATER })).toHaveLength(1)
    const padded = [{ ...OF_LANDING[0], label: 'incumbent' as const, head: LANDED.commit, tree: LATER.tree }]
    expect(gaps('effect', { candidates: padded })).toEqual([
      `it measures tree ${LATER.tree} of ${LANDED.commit}, not ${LANDED.tree} of ${LANDED.commit}`,
    ])
  })

  it('on progress measures the incumbent against what progress is counted from', () => {
    expect(gaps('progression', {})).toEqual([])
    expect(gaps('progression', { base: LANDED })).toEqual([
      `its base is ${LANDED.commit}, not ${START.commit}`,
    ])
    expect(gaps('progression', { candidates: OF_LANDING })).toEqual([
      `it measures tree ${LANDED.tree} of ${LANDED.commit}, not ${LATER.tree} of ${LATER.commit}`,
    ])
  })

  it('on progress is one of a fixed number of jobs, and no other order is', () => {
    expect(gaps('progression', { part: 8 })).toEqual(['job 8 is none of its 8 jobs'])
    expect(gaps('effect', { candidates: OF_LANDING, part: 0 })).toHaveLength(1)
  })

  it('on watching measures the incumbent against the tree before the landing', () => {
    expect(gaps('regression', {})).toEqual([])
    expect(gaps('regression', { base: LATER })).toHaveLength(1)
    expect(gaps('regression', { candidates: OF_LANDING })).toHaveLength(1)
  })

  it('carries the pairs that were measured, no more and no fewer', () => {
    for (const purpose of ['progression', 'regression'] as const)
      expect(gaps(purpose, { earlier_jobs: { incumbent: [JOB] } })).toEqual([
        'the pairs it carries are not those that were measured',
      ])
  })

  it('measures one commit', () => {
    expect(gaps('effect', { candidates: [] })).toEqual(['an order for effect measures one commit'])
  })
})
