import { describe, expect, it } from 'vitest'
import { readReports } from '../../src/plan/reports.ts'
import { findDueStop } from '../../src/plan/stop.ts'
import { SPEC, unprepared } from './a-campaign.ts'
import { settle, world } from './a-world.ts'

const HOUR = 3_600_000

describe('time that orders waited for other processes of their machine', () => {
  it('is not counted by the limit of hours', () => {
    const built = unprepared(`${SPEC}stopping: { max_hours: 5 }\n`)
    const now = new Date(Date.parse(built.campaign.started_at ?? '') + 6 * HOUR).toISOString()
    const at = () => world(built, { now, askable: ['patch'] })
    expect(findDueStop(at())).toMatchObject({ code: 'max_hours' })
    built.campaign.waited_seconds = 2 * 3600
    expect(findDueStop(at())).toBeNull()
    built.campaign.waited_seconds = 3599
    expect(findDueStop(at())).toMatchObject({ code: 'max_hours' })
  })

  it('moves the deadline of the order that waited', () => {
    const built = unprepared()
    settle(built)
    const [live] = Object.values(built.campaign.orders)
    if (live === undefined) throw new Error('no order is under way')
    const { id, deadline } = live.order
    const lost = (later: number, waitedSeconds?: number) => {
      const now = new Date(Date.parse(deadline) + later).toISOString()
      const run = { state: 'running' as const, ...(waitedSeconds === undefined ? {} : { waitedSeconds }) }
      return readReports(world(built, { now, runs: new Map([[id, run]]) })).lost.has(id)
    }
    expect([lost(-1), lost(0)]).toEqual([false, true])
    expect([lost(59_999, 60), lost(60_000, 60)]).toEqual([false, true])
  })
})
