import { evaluatePairs, type PairedRule } from '../decide/paired/evaluate.ts'
import { renderEvidenceLine, renderEvidenceSentence } from '../decide/paired/evidence-text.ts'
import { describeAwaitedPackages } from '../model/approval.ts'
import { type Campaign, isReverted } from '../model/campaign.ts'
import {
  type Experiment,
  formatPermissionCommand,
  isAwaitingPermission,
  isResumedAutomatically,
  listSubjects,
} from '../model/experiment.ts'
import { parseReason } from '../model/text.ts'
import { isStillAwaitingApproval } from '../plan/extra-round.ts'
import { HELD_REASON } from '../plan/holds.ts'
import { type CampaignSpecText, getCampaignSpec } from '../spec/load.ts'
import { describeNextRun, describeWaitWhenStopped } from './resume-hint.ts'
import { type ExperimentState, findSyncWords } from './verdict-text.ts'

// State

export type StateCampaign = Pick<
  Campaign,
  'landings' | 'orders' | 'calibration' | 'name' | 'default_branch' | 'status' | 'stop_code'
> &
  CampaignSpecText

/** Includes whether a landed change was reverted, and the pairs so far if there is no verdict yet. */
export function getExperimentState(campaign: StateCampaign, experiment: Experiment): ExperimentState {
  const { id, status, verdict, outcome, reason } = experiment
  const reverted = isReverted(campaign, id)
  if (status === 'not-proven') {
    const next = isResumedAutomatically(experiment) ? 'more pairs, once nothing else is queued' : null
    return { status, verdict, outcome, reason, reverted, stays_open: true, next }
  }
  if (status === 'ended' || status === 'landing') return { status, verdict, outcome, reason, reverted }
  const waiting = { status, verdict: null, outcome, reason }
  if (status === 'deferred')
    return { ...waiting, packages: describeAwaitedPackages(experiment), next: `winnow approve ${id}` }
  if (isAwaitingPermission(experiment))
    return { ...waiting, permission: true, next: formatPermissionCommand(experiment) }
  const words = findSyncWords(campaign, experiment)
  if (words !== null) return { ...waiting, sync: true, next: words.next }
  const live = describeExperimentProgress(campaign, experiment)
  const before = reason === null ? null : describeRequeue(experiment, reason)
  return {
    ...waiting,
    reverted,
    progress: live?.sentence ?? (verdict === null ? null : before),
    after: describeWaitWhenStopped(campaign),
    requeueReason: before,
    next: live?.next ?? null,
  }
}

/** A hold is over once a person has approved the change. */
function describeRequeue(experiment: Experiment, reason: string): string {
  const isHeld = experiment.held !== null && reason.includes(HELD_REASON)
  return isHeld ? 'its change is approved, and winnow measures it once more' : parseReason(reason).sentence
}

export function getEvidenceLine(campaign: StateCampaign, experiment: Experiment): string | null {
  const { status, reason } = experiment
  const recorded = parseReason(reason ?? '').evidence
  if (status === 'ended' || status === 'not-proven' || status === 'landing') return recorded
  return describeExperimentProgress(campaign, experiment)?.evidence ?? recorded
}

/** Returns null before the first pair, and after the pairs have decided while the rest of the round runs. */
function describeExperimentProgress(campaign: StateCampaign, { evidence, order }: Experiment) {
  if (evidence === null || evidence.jobs.length === 0) return null
  const rule = order === null ? undefined : campaign.orders[order]?.order.stop
  if (rule?.rule !== 'paired') return null
  const spec = getCampaignSpec(campaign)
  const paired = { spec, rule, terms: evidence, jobs: evidence.jobs }
  const evaluation = evaluatePairs(paired)
  if (evaluation.status !== 'new-job' && evaluation.status !== 'continue') return null
  return {
    sentence: renderEvidenceSentence(paired, evaluation),
    evidence: renderEvidenceLine(paired, evaluation),
    next: describeNextJob(campaign, evaluation.check === null ? rule : { ...rule, ...rule.keep_check }),
  }
}

/** An experiment that a person retried, or that is measured further, still has its earlier verdict. */
export function describeMeasuring({ status, verdict }: Pick<Experiment, 'status' | 'verdict'>): string {
  if (verdict === null) return 'Being measured'
  return status === 'queued' ? 'Queued again' : 'Being measured again'
}

function describeNextJob({ calibration }: StateCampaign, { single_machine, pairs }: PairedRule): string {
  const what = single_machine ? 'one more job on this machine' : 'one more runner'
  const noise = calibration?.noise ?? null
  if (noise === null) return what
  const minutes = (noise.overhead_seconds + 2 * (pairs + 1) * noise.execution_seconds) / 60
  return minutes < 1 ? `${what}, less than a minute` : `${what}, about ${Math.ceil(minutes)} min`
}

// Tasks for a person

export function renderPermissionRequest(experiment: Experiment): string {
  return `**Waiting for permission.** Its author has no write access to this repository. To have it measured, read the change, then comment \`${formatPermissionCommand(experiment)}\` (people with write access only).`
}

export interface PersonalTask {
  experiment: Experiment
  is: 'approval' | 'permission' | 'sync'
  /** Example: "approval of left-pad 1.3.0". */
  awaits: string
  /** The command to type, or the action to take. */
  help: string
}

type TaskCampaign = Pick<
  Campaign,
  'experiments' | 'picks' | 'name' | 'default_branch' | 'status' | 'stop_code' | 'host'
> &
  CampaignSpecText

/** Oldest first. The pull request, the digest, `status` and `run` share this list. */
export function findPersonalTasks(campaign: TaskCampaign): PersonalTask[] {
  return listSubjects(campaign).flatMap((experiment): PersonalTask[] => {
    const { id, status } = experiment
    if (status === 'deferred') {
      const awaits = `approval of ${describeAwaitedPackages(experiment)}`
      const help = `winnow approve ${id}${describeAfterStop(campaign, experiment)}`
      return [{ experiment, is: 'approval', awaits, help }]
    }
    if (isAwaitingPermission(experiment)) {
      const awaits = 'permission to be measured: its author may not write to this repository'
      return [{ experiment, is: 'permission', awaits, help: formatPermissionCommand(experiment) }]
    }
    const words = findSyncWords(campaign, experiment)
    if (words === null) return []
    return [{ experiment, is: 'sync', awaits: `a person: ${words.because}`, help: words.next }]
  })
}

export function renderPersonalTasks(campaign: TaskCampaign): string[] {
  return findPersonalTasks(campaign).map(
    ({ experiment: { id }, awaits, help }) => `${id} is waiting for ${awaits}: ${help}`,
  )
}

/** An experiment that was approved after the campaign stopped is still measured. */
function describeAfterStop(campaign: TaskCampaign, experiment: Experiment): string {
  const approvedAfterStop = campaign.status === 'stopped' && isStillAwaitingApproval(campaign, experiment)
  return approvedAfterStop ? ` gives it one more round at ${describeNextRun(campaign)}` : ''
}
