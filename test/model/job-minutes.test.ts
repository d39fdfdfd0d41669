import { describe, expect, it } from 'vitest'
import { shareMinutes } from '../../src/engine/jobs/propose-job.ts'
import { START, type CampaignBuilder, unprepared } from '../plan/a-campaign.ts'

const OPENED = '2026-01-01T00:00:00.000Z'
const LATER = '2027-01-01T00:00:00.000Z'

/** What is added next is written by a job of this run. */
function writtenBy(built: CampaignBuilder, run: number, attempt = 1): CampaignBuilder {
  built.by = { run_id: `actions:${run}`, attempt, actor: 'github-actions[bot]' }
  return built
}

/** On GitHub, with one order that run 2 measures. */
function dispatched(): { built: CampaignBuilder; order: string; minutes: () => number } {
  const built = writtenBy(unprepared(), 1)
  const { id: order } = built.issue({
    purpose: 'calibration',
    stop: { rule: 'calibrate', runs: 3 },
    candidates: [],
  })
  built.add({ kind: 'order-dispatched', cause: `${order} again`, order, run_id: 'actions:2/1' })
  return { built, order, minutes: () => built.campaign.spent.minutes }
}

function measured(built: CampaignBuilder, order: string, report: Record<string, unknown>): void {
  const live = built.campaign.orders[order]
  if (!live) throw new Error('the order is not live')
  const run_id = 'actions:2/1'
  const answer = { ...built.answer(live.order), run_id, ...report }
  writtenBy(built, 2).add({ kind: 'measured', cause: order, order, run_id, report: answer })
}

function asked(built: CampaignBuilder, key: string): void {
  built.add({ kind: 'proposal-requested', cause: key, key, who: 'codex', base: START, until: LATER })
}

function brought(built: CampaignBuilder, key: string, minutes: number): void {
  const nothing = { requests: 0, tokens: 0, usd: 0 }
  built.add({ kind: 'spent', cause: key, what: 'propose', who: 'codex', ok: true, minutes, ...nothing })
}

describe('the minutes of runners', () => {
  it('are counted for each job of GitHub Actions, rounded up: tick, settle and measuring', () => {
    const { built, order, minutes } = dispatched()
    // The tick of run 1, the tick and the settle of run 2.
    expect(minutes()).toBe(3)
    measured(built, order, { started_at: OPENED, finished_at: '2026-01-01T00:01:01.000Z' })
    expect(minutes()).toBe(5)
  })

  it('include the time before the measurement when the runner shows it', () => {
    const { built, order, minutes } = dispatched()
    const finished_at = '2026-01-01T00:01:01.000Z'
    measured(built, order, { started_at: OPENED, finished_at, prepared_seconds: 60 })
    expect(minutes()).toBe(3 + 3)
  })

  it('are counted once for each job and attempt, however many events it writes', () => {
    const { built, minutes } = dispatched()
    writtenBy(built, 2).add({ kind: 'note', cause: 'a', text: 'a', experiment: null })
    built.add({ kind: 'note', cause: 'b', text: 'b', experiment: null })
    expect(minutes()).toBe(3)
    writtenBy(built, 2, 2).add({ kind: 'note', cause: 'c', text: 'c', experiment: null })
    expect(minutes()).toBe(4)
  })

  it('count one job for all programs that one run asks', () => {
    const built = writtenBy(unprepared(), 1)
    for (const key of ['one', 'two']) asked(built, key)
    expect(built.campaign.spent.minutes).toBe(3)
    brought(built, 'one', 0.7)
    expect(built.campaign.spent.minutes).toBe(3)
    brought(built, 'two', 0.7)
    expect(built.campaign.spent.minutes).toBe(4)
  })

  it('are those of the one job in single-job mode', () => {
    const built = writtenBy(unprepared(), 1)
    built.ready()
    // A tick that takes no time, and a minute of measuring.
    expect(built.campaign.spent.minutes).toBe(1)
    built.withExperiment().ordered().measured()
    expect(built.campaign.spent.minutes).toBe(2)
  })

  it('are at least one for a lost job, and real time on a local machine', () => {
    const { built, order, minutes } = dispatched()
    built.add({ kind: 'order-lost', cause: order, order, started: true, reason: 'its run was cancelled' })
    expect(minutes()).toBe(4)
    const local = unprepared().ready().withExperiment().ordered()
    const before = local.campaign.spent.minutes
    local.measured({ 'exp-001': { finished_at: '2026-01-01T00:00:30.000Z' } })
    expect(local.campaign.spent.minutes - before).toBe(0.5)
  })
})

describe('programs that were asked at the same time', () => {
  it('share the minutes of their job', () => {
    const answer = { key: 'a', who: 'codex', ok: false as const, reason: 'none', minutes: 4 }
    const shared = shareMinutes([answer, { ...answer, key: 'b', minutes: 2 }], 4)
    expect(shared.map(({ minutes }) => Math.round(100 * minutes) / 100)).toEqual([2.67, 1.33])
    expect(shareMinutes([{ ...answer, minutes: 0 }], 4)[0]?.minutes).toBe(0)
  })
})
