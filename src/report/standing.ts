import { awaitedText } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { resumesByItself } from '../model/resumes-by-itself.ts'
import { reasonOf } from '../model/reason.ts'
import { awaitsPermission, permissionText } from '../model/permission.ts'
import { soFarOf } from './so-far.ts'
import type { Ruled } from '../spec/recorded-spec.ts'
import type { Standing } from './sentence.ts'
import { syncWordsOf } from './sync-text.ts'
import { isTakenBack } from './taken-back.ts'
import { turnAfterStop } from './way-on.ts'

export type StandingCampaign = Pick<
  Campaign,
  'landings' | 'orders' | 'calibration' | 'name' | 'default_branch' | 'status' | 'stop_code'
> &
  Ruled

/** How an experiment stands now: its verdict and whether what it landed is still there, or what its pairs say. */
export function standingIn(campaign: StandingCampaign, experiment: Experiment): Standing {
  const { id, status, verdict, outcome, reason } = experiment
  const takenBack = isTakenBack(campaign, id)
  if (status === 'parked') {
    const next = resumesByItself(experiment) ? 'more pairs, once nothing else is queued' : null
    return { status, verdict, outcome, reason, takenBack, parked: true, next }
  }
  if (status === 'ended' || status === 'landing') return { status, verdict, outcome, reason, takenBack }
  if (status === 'deferred')
    return {
      status,
      verdict: null,
      outcome,
      reason,
      packages: awaitedText(experiment),
      next: `winnow approve ${id}`,
    }
  if (awaitsPermission(experiment))
    return { status, verdict: null, outcome, reason, permission: true, next: permissionText(experiment) }
  const words = syncWordsOf(campaign, experiment)
  if (words !== null) return { status, verdict: null, outcome, reason, sync: true, next: words.next }
  const live = soFarOf(campaign, experiment)
  const before = reason === null ? null : reasonOf(reason).sentence
  return {
    status,
    verdict: null,
    outcome,
    reason,
    takenBack,
    soFar: live?.said ?? (verdict === null ? null : before),
    after: turnAfterStop(campaign),
    putBack: before,
    next: live?.next ?? null,
  }
}

/** The line its sentence rests on, where pairs decided or are about to. */
export function evidenceIn(campaign: StandingCampaign, experiment: Experiment): string | null {
  const { status, reason } = experiment
  const recorded = reasonOf(reason ?? '').evidence
  if (status === 'ended' || status === 'parked' || status === 'landing') return recorded
  return soFarOf(campaign, experiment)?.evidence ?? recorded
}
