import { describeAwaitedPackages } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { isResumedAutomatically } from '../model/resumes-by-itself.ts'
import { parseReason } from '../model/reason.ts'
import { isAwaitingPermission, formatPermissionCommand } from '../model/permission.ts'
import { describeExperimentProgress } from './so-far.ts'
import type { CampaignSpecText } from '../spec/recorded-spec.ts'
import type { ExperimentState } from './sentence.ts'
import { findSyncWords } from './sync-text.ts'
import { isReverted } from './taken-back.ts'
import { describeWaitWhenStopped } from './way-on.ts'

export type StateCampaign = Pick<
  Campaign,
  'landings' | 'orders' | 'calibration' | 'name' | 'default_branch' | 'status' | 'stop_code'
> &
  CampaignSpecText

/** How an experiment stands now: its verdict and whether what it landed is still there, or what its pairs say. */
export function getExperimentState(campaign: StateCampaign, experiment: Experiment): ExperimentState {
  const { id, status, verdict, outcome, reason } = experiment
  const takenBack = isReverted(campaign, id)
  if (status === 'parked') {
    const next = isResumedAutomatically(experiment) ? 'more pairs, once nothing else is queued' : null
    return { status, verdict, outcome, reason, reverted: takenBack, parked: true, next }
  }
  if (status === 'ended' || status === 'landing')
    return { status, verdict, outcome, reason, reverted: takenBack }
  if (status === 'deferred')
    return {
      status,
      verdict: null,
      outcome,
      reason,
      packages: describeAwaitedPackages(experiment),
      next: `winnow approve ${id}`,
    }
  if (isAwaitingPermission(experiment))
    return {
      status,
      verdict: null,
      outcome,
      reason,
      permission: true,
      next: formatPermissionCommand(experiment),
    }
  const words = findSyncWords(campaign, experiment)
  if (words !== null) return { status, verdict: null, outcome, reason, sync: true, next: words.next }
  const live = describeExperimentProgress(campaign, experiment)
  const before = reason === null ? null : parseReason(reason).sentence
  return {
    status,
    verdict: null,
    outcome,
    reason,
    reverted: takenBack,
    progress: live?.said ?? (verdict === null ? null : before),
    after: describeWaitWhenStopped(campaign),
    putBack: before,
    next: live?.next ?? null,
  }
}

/** The line its sentence rests on, where pairs decided or are about to. */
export function getEvidenceLine(campaign: StateCampaign, experiment: Experiment): string | null {
  const { status, reason } = experiment
  const recorded = parseReason(reason ?? '').evidence
  if (status === 'ended' || status === 'parked' || status === 'landing') return recorded
  return describeExperimentProgress(campaign, experiment)?.evidence ?? recorded
}
