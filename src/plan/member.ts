import type { Assessment } from '../decide/assessment.ts'
import type { Experiment } from '../model/experiment.ts'
import type { Arrivals } from './arrivals.ts'
import { type Judgement, judge, type Measured } from './judgement.ts'
import { withinBudget } from './simplification.ts'
import type { World } from './world.ts'

/** An experiment of the open round with what its latest report says. */
export interface Member {
  experiment: Experiment
  measured: Measured | null
  judgement: Judgement | null
  /** The event that the next decision about it answers. */
  cause: string
}

export function memberOf(
  world: Pick<World, 'campaign' | 'spec'>,
  experiment: Experiment,
  reports: Arrivals['reports'],
): Member {
  const live = experiment.order === null ? undefined : world.campaign.orders[experiment.order]
  const arrived = live && reports.get(live.order.id)
  if (!live || !arrived) return { experiment, measured: null, judgement: null, cause: experiment.opened }
  const measured = { order: live.order, report: arrived.report }
  const judgement = withinBudget(
    world.campaign,
    experiment,
    measured,
    judge(world.spec, experiment, measured),
  )
  return { experiment, measured, judgement, cause: arrived.event }
}

export function assessmentOf(member: Member): Assessment | null {
  return member.judgement?.is === 'eligible' ? member.judgement.assessment : null
}
