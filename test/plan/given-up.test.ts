import { describe, expect, it } from 'vitest'
import type { Order } from '../../src/model/order.ts'
import { buildCheckRun } from '../../src/report/check-run.ts'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { oidOf, SPEC } from './a-campaign.ts'
import type { Behaviour } from './a-report.ts'
import { answered, fewer, measuredOut, noisy, settle } from './noisy.ts'

/** Given up after one job: its estimate is a small gain, and a gain of twice min_effect is not excluded. */
const FAINT: Behaviour = nth => ({
  bytes: 1000 * ([0.95, 1.04, 0.96, 1.03, 0.999, 1.003, 0.97, 1.035][nth % 8] ?? 1),
})
/** Given up after one job, with an estimate that is a loss. */
const FADING: Behaviour = nth => ({
  bytes: 1000 * ([0.95, 1.06, 0.97, 1.05, 0.999, 1.013, 0.98, 1.045][nth % 8] ?? 1),
})

const jobsOf = (orders: readonly Order[], id: string) =>
  orders.filter(({ candidates }) => candidates.some(({ label }) => label === id))
const giveUpOf = ({ stop }: Order, id: string) => (stop.rule === 'paired' ? stop.terms[id]?.give_up : null)

describe('an idea whose measurement ended early', () => {
  it('is not proven and stays open; it gets a second look last, once, within its jobs', () => {
    const built = noisy(`${SPEC}evidence: { max_jobs: 3 }\n`).withExperiments(2)
    const orders = measuredOut(built, { 'exp-001': FAINT, 'exp-002': fewer(-0.06, 3) })
    const own = jobsOf(orders, 'exp-001')
    expect(giveUpOf(own[0] as Order, 'exp-001')).toBe('early')
    expect(own.slice(1).map(order => giveUpOf(order, 'exp-001'))).toEqual(own.slice(1).map(() => 'late'))
    expect(own.length).toBeGreaterThan(1)
    expect(own.length).toBeLessThanOrEqual(3)
    expect(orders.at(-1)).toBe(own.at(-1))
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'not-proven',
      verdict: 'not proven',
      outcome: null,
      resumed: 0,
      give_up: 'late',
    })
    expect(built.experiment('exp-002')).toMatchObject({ status: 'ended', verdict: 'worse' })
  })

  it('with an estimate that is a loss is not measured again by itself', () => {
    const built = noisy().withExperiment()
    expect(measuredOut(built, { 'exp-001': FADING })).toHaveLength(1)
    expect(built.experiment('exp-001')).toMatchObject({ status: 'not-proven', given_up: 'for_good' })
  })

  it('is measured on where a person asks for it, and not given up again', () => {
    const built = noisy(`${SPEC}evidence: { max_jobs: 3 }\n`).withExperiment()
    measuredOut(built, { 'exp-001': FADING })
    built.add({ kind: 'steered', cause: 'a person', action: 'retry', experiment: 'exp-001', reason: 'more' })
    const more = measuredOut(built, { 'exp-001': FADING })
    expect(more.map(order => giveUpOf(order, 'exp-001'))).toEqual(['never', 'never'])
    expect(more.map(({ earlier_jobs }) => earlier_jobs['exp-001']?.length)).toEqual([1, 2])
    expect(built.experiment('exp-001').reason).not.toContain('stopped early')
  })

  it('says on its pull request that it is queued again, then measured again, beside the earlier result', () => {
    const built = noisy(`${SPEC}evidence: { max_jobs: 3 }\n`).withExperiment()
    const shows = () => {
      const experiment = built.experiment('exp-001')
      const check = buildCheckRun(built.campaign, experiment)
      return [renderPullBody(built.campaign, experiment), check?.state, check?.title]
    }
    measuredOut(built, { 'exp-001': FADING })
    expect(shows()).toEqual([expect.stringMatching(/^\*\*Not proven yet:/), 'neutral', expect.any(String)])
    built.add({ kind: 'steered', cause: 'a person', action: 'retry', experiment: 'exp-001', reason: 'more' })
    const earlier = String.raw`[^]*\n\nThe result so far:\n\n\*\*Not proven`
    expect(shows()).toEqual([
      expect.stringMatching(new RegExp(`^\\*\\*Queued again\\*\\* in campaign size${earlier}`)),
      'in-progress',
      'Queued again',
    ])
    settle(built)
    expect(built.experiment('exp-001').status).toBe('ordered')
    expect(shows()).toEqual([
      expect.stringMatching(new RegExp(`^\\*\\*Being measured again\\*\\* in campaign size${earlier}`)),
      'in-progress',
      'Being measured again',
    ])
    built.add({ kind: 'campaign-paused', cause: 'a person', reason: 'lunch', source: 'person' })
    built.add({ kind: 'head-moved', cause: 'a push', experiment: 'exp-001', from: null, to: oidOf('next') })
    expect(shows()[0]).toMatch(/^\*\*Waiting:\*\* campaign size is paused/)
    expect(shows()[0]).not.toContain('The result so far')
  })

  it('counts towards plateau and max_iterations once, so that a campaign comes to its end', () => {
    const built = noisy(`${SPEC}stopping: { plateau: 2 }\n`).withExperiments(3)
    for (let jobs = 0; jobs < 20 && built.campaign.status === 'running'; jobs++) {
      settle(built)
      answered(built, { 'exp-001': FADING, 'exp-002': FADING, 'exp-003': FADING })
    }
    expect(built.campaign).toMatchObject({ status: 'stopped', ended: 3, since_incumbent: 3 })
    expect(built.campaign.status_reason).toContain('without a new incumbent')
  })
})
