import type { Assessment } from '../decide/assessment.ts'
import type { Experiment } from '../model/experiment.ts'
import type { IncomingReports } from './arrivals.ts'
import { type Judgement, judgeExperiment, type MeasuredOrder } from './judgement.ts'
import { limitSimplification } from './simplification.ts'
import type { World } from './world.ts'

/** An experiment of the open round with what its latest report says. */
export interface RoundMember {
  experiment: Experiment
  measured: MeasuredOrder | null
  judgement: Judgement | null
  /** The event that the next decision about it answers. */
  cause: string
}

export function buildMember(
  world: Pick<World, 'campaign' | 'spec'>,
  experiment: Experiment,
  reports: IncomingReports['reports'],
): RoundMember {
  const live = experiment.order === null ? undefined : world.campaign.orders[experiment.order]
  const arrived = live && reports.get(live.order.id)
  if (!live || !arrived) return { experiment, measured: null, judgement: null, cause: experiment.opened }
  const measured = { order: live.order, report: arrived.report }
  const judgement = limitSimplification(
    world.campaign,
    experiment,
    measured,
    judgeExperiment(world.spec, experiment, measured),
  )
  return { experiment, measured, judgement, cause: arrived.event }
}

export function getAssessment(member: RoundMember): Assessment | null {
  return member.judgement?.is === 'eligible' ? member.judgement.assessment : null
}
