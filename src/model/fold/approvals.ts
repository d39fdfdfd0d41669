import { type Consent, listAwaitedPackages } from '../approval.ts'
import type { Campaign, EventHandler } from '../campaign.ts'
import { type Experiment, findOpenSubject, findSubject } from '../experiment.ts'
import { queueExperiment } from './experiments.ts'
import { STATUSES_ON_INCUMBENT } from './orders.ts'

const applyApprovalRequested: EventHandler<'approval-requested'> = (campaign, event) => {
  const experiment = findOpenSubject(campaign, event.experiment)
  if (!experiment) return
  const { digest, packages, additions = [], findings = [], why = '', min_age_days } = event
  const age = min_age_days === undefined ? {} : { min_age_days }
  experiment.approval = { digest, packages, additions, findings, why, ...age }
  experiment.asked_at = event.at
  deferExperiment(campaign, experiment)
}

/** Names count only for the set they were approved in. A changed set is requested again. */
const applyApproved: EventHandler<'approved'> = (campaign, event) => {
  const { digest, packages, at, by, approved_at = at, review = false } = event
  const experiment = findOpenSubject(campaign, event.experiment)
  if (!experiment) return
  const before = experiment.approved[digest] ?? []
  experiment.approved[digest] = [...new Set([...before, ...packages])]
  experiment.consents.push({ digest, login: by.actor, packages, at: approved_at, review })
  deferExperiment(campaign, experiment)
}

/** Stops the experiment and drops a decision that is not merged yet. Changes that have landed stay landed. */
const applyApprovalWithdrawn: EventHandler<'approval-withdrawn'> = (campaign, event) => {
  const { digest, login } = event
  const experiment = findOpenSubject(campaign, event.experiment)
  if (!experiment) return
  const isTheirs = (consent: Consent) => consent.digest === digest && consent.login === login
  experiment.consents = experiment.consents.filter(consent => !isTheirs(consent))
  const left = experiment.consents.filter(consent => consent.digest === digest)
  experiment.approved[digest] = [...new Set(left.flatMap(({ packages }) => packages))]
  const isWaiting = listAwaitedPackages(experiment).length > 0
  if (isWaiting && STATUSES_ON_INCUMBENT.has(experiment.status)) queueExperiment(campaign, experiment)
  deferExperiment(campaign, experiment)
}

/** Defers the experiment exactly while a package of the latest requested set lacks approval. */
function deferExperiment(campaign: Campaign, experiment: Experiment): void {
  const isWaiting = listAwaitedPackages(experiment).length > 0
  if (experiment.status === 'queued' && isWaiting) experiment.status = 'deferred'
  if (experiment.status !== 'deferred' || isWaiting) return
  experiment.status = 'queued'
  const comesLate = campaign.status === 'stopped' || campaign.extra_round !== null
  if (comesLate && !campaign.approved_after_stop.includes(experiment.id))
    campaign.approved_after_stop.push(experiment.id)
}

const applyPermissionRequested: EventHandler<'permission-requested'> = (campaign, event) => {
  const { head, author } = event
  const experiment = findOpenSubject(campaign, event.experiment)
  if (experiment) experiment.needs_permission = { author, head }
}

const applyPermissionGranted: EventHandler<'permission-granted'> = (campaign, event) => {
  const experiment = findOpenSubject(campaign, event.experiment)
  if (experiment) experiment.allowed_head = event.head
}

const applySyncAwaited: EventHandler<'sync-awaited'> = (campaign, { experiment: id, head, obstacle }) => {
  const experiment = findOpenSubject(campaign, id)
  if (experiment) experiment.awaits_sync = obstacle === null ? null : { head, obstacle }
}

/** Handlers of events that a person has to answer: approval of packages, permission to run a pushed head, a sync. */
export const approvalHandlers = {
  'approval-requested': applyApprovalRequested,
  approved: applyApproved,
  'approval-withdrawn': applyApprovalWithdrawn,
  'permission-requested': applyPermissionRequested,
  'permission-granted': applyPermissionGranted,
  'sync-awaited': applySyncAwaited,
}

const MAX_AVOIDED = 20

const applySteered: EventHandler<'steered'> = (campaign, event) => {
  const { id, action, experiment, reason, by, restores } = event
  if (action === 'restore') {
    if (restores !== undefined) campaign.restores.push({ event: id, reason, ...restores })
    return
  }
  if (action === 'avoid' || experiment === null) {
    campaign.avoid.push({ text: reason, by: by.actor })
    if (campaign.avoid.length > MAX_AVOIDED) campaign.avoid.shift()
    return
  }
  const subject = findSubject(campaign, experiment)
  if (action === 'retry') {
    if (subject?.status !== 'not-proven') return
    subject.status = 'queued'
    if (subject.given_up === null) subject.resumed += 1
    subject.give_up = subject.given_up === 'for_good' ? 'never' : 'late'
    subject.given_up = null
    subject.interrupted = 0
    return
  }
  if (action === 'withdraw' && subject?.status === 'ended') return
  campaign.steered.push({ event: id, action, experiment, reason })
}

const applyCommentsRead: EventHandler<'comments-read'> = (campaign, { pull, comment, own }) => {
  const before = campaign.comments_read[pull]
  if (before === undefined || Number(before.comment) < Number(comment))
    campaign.comments_read[pull] = { comment, own }
}

export const steeringHandlers = { steered: applySteered, 'comments-read': applyCommentsRead }
