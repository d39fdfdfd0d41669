import { describe, expect, it } from 'vitest'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import type { SyncFacts } from '../../src/plan/world.ts'
import { describeObstacle } from '../../src/plan/sync.ts'
import { renderFinalSummary } from '../../src/report/run-summary.ts'
import { buildStatusView } from '../../src/report/status.ts'
import type { Spec } from '../../src/spec/schema.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { findReachedLimit } from '../../src/plan/stop.ts'
import { describeLimitReached, describeResumeHint } from '../../src/report/resume-hint.ts'
import { campaign, type CampaignBuilder, HARNESS, oidOf, pointOf, SPEC, unprepared } from './a-campaign.ts'
import { carryOut, draftsOfKind } from './a-world.ts'
import { judgedSpec } from './judged-spec.ts'

const HOUR = `${SPEC}stopping: { max_hours: 1 }\n`
const LATE = '2026-01-01T02:00:00.000Z'
const tip = pointOf('raised').commit

function onDefault(yaml: string, before = HOUR): SyncFacts {
  const { spec: parsed } = parseSpec(yaml, { file: '.winnow/size.yaml' })
  const spec = { yaml, sha256: hashSha256(yaml), changed: yaml !== before, parsed }
  return {
    result: 'clean',
    tip,
    tipTree: oidOf('main'),
    holds: [],
    to: pointOf('synced'),
    spec,
    harness: HARNESS,
    unread: false,
  }
}

function stopped(yaml = HOUR): CampaignBuilder {
  const built = campaign(yaml)
  carryOut(built, { now: LATE })
  expect(built.campaign).toMatchObject({ status: 'stopped', stop_code: 'max_hours' })
  return built
}

const resumed = (built: CampaignBuilder, sync: SyncFacts | null) =>
  draftsOfKind(carryOut(built, { now: LATE, sync }), 'campaign-resumed')

describe('a limit that is reached before a run has acted on it', () => {
  it('is known, with what happens next and how to go on', () => {
    const { campaign: known, spec } = campaign(HOUR)
    const runner = { machine: null }
    const stop = findReachedLimit({ campaign: known, spec, now: LATE, runner })
    expect(stop).toMatchObject({ code: 'max_hours' })
    expect(stop && describeLimitReached(known, stop)).toBe(
      'its limit is reached: 1 hour has passed (stopping.max_hours). Nothing new is tried, and the next winnow run stops it. To continue: raise stopping.max_hours (hours count from the start of the campaign) in .winnow/size.yaml on main: the next winnow run then continues',
    )
    const { started_at } = known
    expect(findReachedLimit({ campaign: known, spec, now: started_at ?? '', runner })).toBe(null)
  })

  it('is no news once the campaign is stopped', () => {
    const { campaign: known, spec } = stopped()
    expect(findReachedLimit({ campaign: known, spec, now: LATE, runner: { machine: null } })).toBe(null)
  })
})

describe('a limit that is raised on the default branch', () => {
  it('is word enough for the campaign that it had stopped to go on, and is taken in first', () => {
    const built = stopped()
    const sync = onDefault(HOUR.replace('max_hours: 1', 'max_hours: 24'))
    expect(resumed(built, sync)).toMatchObject([{ reason: expect.stringContaining('(max_hours)') }])
    expect(built.campaign.status).toBe('running')
    const orders = draftsOfKind(carryOut(built, { now: LATE, sync }), 'order-issued')
    expect(orders).toMatchObject([{ purpose: 'sync' }])
    built.measured({ sync: { candidate: { bytes: 10 } } as never })
    carryOut(built, { now: LATE, sync })
    expect(built.campaign.spec_yaml).toContain('max_hours: 24')
    expect(built.campaign.status).toBe('running')
  })

  it('is taken in before a campaign that still runs stops by the old one', () => {
    const built = campaign(HOUR)
    const sync = onDefault(HOUR.replace('max_hours: 1', 'max_hours: 24'))
    const planned = carryOut(built, { now: LATE, sync })
    expect(draftsOfKind(planned, 'campaign-stopped')).toEqual([])
    expect(draftsOfKind(planned, 'order-issued')).toMatchObject([{ purpose: 'sync' }])
  })

  it.each([
    ['nothing changed there', () => onDefault(HOUR)],
    ['the limit still holds', () => onDefault(HOUR.replace('max_hours: 1', 'max_hours: 1.5'))],
    [
      'another rule holds instead',
      () => onDefault(`${SPEC}stopping: { max_hours: 24, max_iterations: 1 }\n`),
    ],
    ['it cannot be merged in', (): SyncFacts => ({ result: 'conflict', tip, paths: ['src/a.txt'] })],
  ])('changes nothing where %s', (_, sync) => {
    const built = stopped()
    built.campaign.ended = 1
    expect(resumed(built, sync())).toEqual([])
    expect(built.campaign.status).toBe('stopped')
  })

  it('says in every view that a conflict keeps it from being read, until nothing does', () => {
    const built = stopped()
    const { spec } = onDefault(HOUR.replace('max_hours: 1', 'max_hours: 24')) as { spec: { parsed: Spec } }
    const sync: SyncFacts = { result: 'conflict', tip, paths: ['src/a.txt'], spec: spec.parsed }
    const plain = describeResumeHint(built.campaign)
    expect(plain).not.toContain('conflicts')
    carryOut(built, { now: LATE, sync })
    expect(draftsOfKind(carryOut(built, { now: LATE, sync }), 'alert')).toEqual([])
    const way = `${plain}. Fix this first: ${describeObstacle(sync)}`
    expect(way).toContain('conflicts with the incumbent in src/a.txt')
    expect(buildStatusView(built.campaign, new Map()).to_go_on).toBe(way)
    const where = { prefix: 'optimize', remote: null }
    expect(renderFinalSummary(built.campaign, where).join('\n')).toContain(way)
    carryOut(built, { now: LATE, sync: null })
    expect(describeResumeHint(built.campaign)).toBe(plain)
    expect(built.campaign.alerts).toEqual([])
    carryOut(built, { now: LATE, sync })
    expect(describeResumeHint(built.campaign)).toBe(way)
  })

  it('is not spoken of where a spec in conflict raises nothing', () => {
    const built = stopped()
    const { spec } = onDefault(HOUR.replace('max_hours: 1', 'max_hours: 1.5')) as { spec: { parsed: Spec } }
    const sync: SyncFacts = { result: 'conflict', tip, paths: ['src/a.txt'], spec: spec.parsed }
    expect(draftsOfKind(carryOut(built, { now: LATE, sync }), 'alert')).toEqual([])
  })

  it('changes nothing where it may not be pushed, which would stop and go on for ever', () => {
    const built = stopped().add({
      kind: 'alert',
      cause: 'x',
      code: 'sync-workflows',
      about: tip,
      message: 'GitHub refuses workflow files',
    })
    expect(resumed(built, onDefault(HOUR.replace('max_hours: 1', 'max_hours: 24')))).toEqual([])
  })

  it('changes nothing for who stopped it', () => {
    const built = campaign(HOUR).add({
      kind: 'campaign-stopped',
      cause: 'x',
      code: 'person',
      reason: 'enough',
    })
    expect(resumed(built, onDefault(HOUR.replace('max_hours: 1', 'max_hours: 24')))).toEqual([])
  })
})

describe('what judging may cost, raised on the default branch', () => {
  const CAPPED = judgedSpec(5)
  const spent = { kind: 'spent', cause: 'x', what: 'judge', who: 'm', ok: true } as const
  const cost = { minutes: 0, requests: 1, tokens: 1, usd: 5 }

  function outOfMoney(): CampaignBuilder {
    const built = unprepared(CAPPED).add({ ...spent, ...cost })
    carryOut(built)
    expect(built.campaign).toMatchObject({ status: 'stopped', stop_code: 'max_judge_cost_usd' })
    expect(describeResumeHint(built.campaign)).toContain('raise metric.judge.max_total_cost_usd in ')
    return built
  }

  it('has the campaign go on, and is taken in before anything is judged', () => {
    const built = outOfMoney()
    const sync = { ...onDefault(judgedSpec(9), CAPPED), harness: 'f'.repeat(64) }
    expect(draftsOfKind(carryOut(built, { sync }), 'campaign-resumed')).toHaveLength(1)
    const planned = carryOut(built, { sync })
    expect(draftsOfKind(planned, 'order-issued')).toMatchObject([{ purpose: 'sync' }])
    expect(draftsOfKind(planned, 'campaign-stopped')).toEqual([])
    // Until that is measured, it neither stops again nor does anything else.
    const [order] = Object.values(built.campaign.orders)
    expect(order?.order.purpose).toBe('sync')
    expect(draftsOfKind(carryOut(built, { sync }), 'campaign-stopped')).toEqual([])
  })

  it('changes nothing while what was spent is more than that', () => {
    const built = outOfMoney()
    const sync = onDefault(judgedSpec(4), CAPPED)
    expect(draftsOfKind(carryOut(built, { sync }), 'campaign-resumed')).toEqual([])
  })

  it('cuts no round: that ends first, and the campaign goes on after it', () => {
    const built = unprepared(CAPPED).add({ ...spent, ...cost })
    built.campaign.round = {
      number: 1,
      members: [],
      winner: null,
      combined: [],
      combination_failed: false,
      open: true,
    }
    const sync = onDefault(judgedSpec(9), CAPPED)
    for (let looks = 0; looks < 6; looks++) carryOut(built, { sync })
    expect(built.campaign.status).toBe('running')
    expect(built.campaign.round?.open).toBe(false)
    expect(built.events.filter(({ kind }) => kind === 'campaign-stopped').length).toBeLessThan(2)
  })
})
