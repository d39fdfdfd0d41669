import { awaitedPackages, type Consent } from './approval.ts'
import type { Campaign } from './campaign.ts'
import type { Experiment } from './experiment.ts'
import { queueAgain } from './fold-experiment.ts'
import type { Handler } from './fold-handler.ts'
import { subjectOf } from './picked.ts'

const approvalRequested: Handler<'approval-requested'> = (campaign, event) => {
  const experiment = subjectOf(campaign, event.experiment)
  if (!experiment || experiment.status === 'ended') return
  const { digest, packages, additions = [], why = '', min_age_days } = event
  const age = min_age_days === undefined ? {} : { min_age_days }
  experiment.approval = { digest, packages, additions, why, ...age }
  experiment.asked_at = event.at
  defer(campaign, experiment)
}

/** Names count for the set they were approved in: a set that changed since is asked for again. */
const approved: Handler<'approved'> = (campaign, event) => {
  const { digest, packages } = event
  const experiment = subjectOf(campaign, event.experiment)
  if (!experiment || experiment.status === 'ended') return
  const before = experiment.approved[digest] ?? []
  experiment.approved[digest] = [...new Set([...before, ...packages])]
  const { at, by, said_at = at, review = false } = event
  experiment.consents.push({ digest, login: by.actor, packages, at: said_at, review })
  defer(campaign, experiment)
}

const MEASURING: ReadonlySet<Experiment['status']> = new Set(['ordered', 'measured', 'landing'])

/** Nothing more of it runs, and what was decided and not merged was not decided. What landed before has landed. */
const withdrawn: Handler<'approval-withdrawn'> = (campaign, { experiment: id, digest, login }) => {
  const experiment = subjectOf(campaign, id)
  if (!experiment || experiment.status === 'ended') return
  const isTheirs = (consent: Consent) => consent.digest === digest && consent.login === login
  experiment.consents = experiment.consents.filter(consent => !isTheirs(consent))
  experiment.withdrawals += 1
  const left = experiment.consents.filter(consent => consent.digest === digest)
  experiment.approved[digest] = [...new Set(left.flatMap(({ packages }) => packages))]
  const waits = awaitedPackages(experiment).length > 0
  if (waits && MEASURING.has(experiment.status)) queueAgain(campaign, experiment)
  defer(campaign, experiment)
}

/** It waits exactly as long as a package of the set last asked for is not approved. */
function defer(campaign: Campaign, experiment: Experiment): void {
  const waits = awaitedPackages(experiment).length > 0
  if (experiment.status === 'queued' && waits) experiment.status = 'deferred'
  if (experiment.status !== 'deferred' || waits) return
  experiment.status = 'queued'
  const comesLate = campaign.status === 'stopped' || campaign.encore !== null
  if (comesLate && !campaign.late.includes(experiment.id)) campaign.late.push(experiment.id)
}

const measureAsked: Handler<'measure-asked'> = (campaign, { experiment: id, head, author }) => {
  const experiment = subjectOf(campaign, id)
  if (experiment && experiment.status !== 'ended') experiment.stranger = { author, head }
}

const measureAllowed: Handler<'measure-allowed'> = (campaign, { experiment: id, head }) => {
  const experiment = subjectOf(campaign, id)
  if (experiment && experiment.status !== 'ended') experiment.allowed_head = head
}

const syncAwaited: Handler<'sync-awaited'> = (campaign, { experiment: id, head, obstacle }) => {
  const experiment = subjectOf(campaign, id)
  if (!experiment || experiment.status === 'ended') return
  experiment.awaits_sync = obstacle === null ? null : { head, obstacle }
}

/** What waits for a person: packages for their approval, heads of strangers for being allowed to run, others for a sync. */
export const approvalHandlers = {
  'approval-requested': approvalRequested,
  approved,
  'approval-withdrawn': withdrawn,
  'measure-asked': measureAsked,
  'measure-allowed': measureAllowed,
  'sync-awaited': syncAwaited,
}
