import { explainApproverRefusal } from '../../github/people.ts'
import type { Forge } from '../../github/port.ts'
import type { Pull, Review } from '../../github/pull.ts'
import { type Approvers, type Consent, listAwaitedPackages, listTeams } from '../../model/approval.ts'
import { type Experiment, listSubjects } from '../../model/experiment.ts'
import type { Campaign } from '../../model/campaign.ts'
import { REVIEW_CAUSE, REVOKED_CAUSE } from '../../model/fold/fold.ts'
import { buildApprovalRequest } from '../../plan/approvals.ts'
import { createPullFinder } from '../../plan/world.ts'
import { type CampaignContext, requireForge } from '../campaign/context.ts'
import type { Observation } from '../observe/observe.ts'
import { recordEvents } from './record.ts'

/** Limits how many reviewers one tick looks up. The others wait for the next tick. */
const MOST_LOOKUPS = 20

/**
 * Turns approving reviews by people whom the spec trusts into approvals of the packages shown at the reviewed
 * head. A review does not count when its author pushed the head, when it is a bot's, when it is of another
 * head, or when it is older than the request. A later review can revoke the approval before the landing.
 * Returns true when it recorded an event. A review that does not count is recorded too, so that no later tick
 * looks it up again.
 */
export async function recordReviewApprovals(
  context: CampaignContext,
  observation: Observation,
): Promise<boolean> {
  for (const experiment of listSubjects(observation.world.campaign)) {
    const pull = findExperimentPull(observation, experiment)
    if (pull === undefined || experiment.status === 'ended') continue
    const lastReviews = selectLastReviews(pull)
    const { handled } = observation.world.campaign
    if (await recordRevokedApproval(context, experiment, { pull, lastReviews, handled })) return true
    if (experiment.status !== 'deferred' || !isSameSet(observation, experiment)) continue
    if (pull.state !== 'open' || pull.head !== experiment.head) continue
    const reviews = selectApprovingReviews(pull, lastReviews, experiment).filter(
      review => !Object.hasOwn(observation.world.campaign.handled, formatReviewCause(pull, review)),
    )
    if (
      reviews.length > 0 &&
      (await recordReviewsOfPull(context, observation, { experiment, pull, reviews }))
    )
      return true
  }
  return false
}

interface ReviewedPull {
  experiment: Experiment
  pull: Pull
  reviews: readonly Review[]
}

async function recordReviewsOfPull(
  context: CampaignContext,
  observation: Observation,
  { experiment, pull, reviews }: ReviewedPull,
): Promise<boolean> {
  const { trusted, others } = await splitTrustedReviews(context, observation, reviews)
  const { valid, own } = await splitOwnReviews(context, experiment, { pull, reviews: trusted })
  const [review] = valid
  if (review !== undefined) return approveByReview(context, experiment, { pull, review })
  const rejected = [
    ...others,
    ...own.map(each => ({ review: each, why: 'they pushed this head themselves.' })),
  ]
  for (const { review: each, why } of rejected) {
    const text = `The approving review by ${each.author} approves no packages: ${why}`
    context.progress.say(text)
    const nonce = formatReviewCause(pull, each)
    await recordEvents({ ...context, nonce }, [{ kind: 'note', text, experiment: experiment.id }])
  }
  return rejected.length > 0
}

/** When GitHub does not say who pushed the head, two reviews are required: one person cannot write both. */
async function splitOwnReviews(
  context: CampaignContext,
  experiment: Experiment,
  { pull, reviews }: Pick<ReviewedPull, 'pull' | 'reviews'>,
): Promise<{ valid: readonly Review[]; own: readonly Review[] }> {
  const pushers = reviews.length === 0 ? null : await findHeadPushers(requireForge(context), experiment, pull)
  if (pushers === null) return { valid: reviews, own: [] }
  const isOwn = ({ author }: Review) => pushers.logins.includes(author.toLowerCase())
  const own = reviews.filter(isOwn)
  const others = reviews.filter(review => !isOwn(review))
  if (pushers.known || others.length > 1) return { valid: others, own }
  if (others.length === 1)
    context.progress.say(
      `GitHub does not say who pushed the head of ${experiment.id}: a second person's approving review is needed.`,
    )
  return { valid: [], own }
}

function findExperimentPull({ world, pulls }: Observation, experiment: Experiment): Pull | undefined {
  const number = createPullFinder(world)(experiment)?.number
  return pulls.find(each => each.number === number)
}

/** Invariant 4: the approval request still lists what this head adds to the current incumbent. */
function isSameSet({ world }: Observation, experiment: Experiment): boolean {
  const facts = world.candidates.get(experiment.id)
  if (facts?.merged !== 'clean' || facts.head !== experiment.head) return false
  return buildApprovalRequest(world, experiment, facts).digest === experiment.approval?.digest
}

type LastReviews = ReadonlyMap<string, Review>

/** A comment does not replace a review, and a dismissed review does not revive an earlier one. */
function selectLastReviews({ reviews }: Pull): LastReviews {
  const last = new Map<string, Review>()
  for (const review of reviews) if (review.state !== 'commented') last.set(review.author, review)
  return last
}

function selectApprovingReviews(
  { author }: Pull,
  lastReviews: LastReviews,
  { head, asked_at }: Experiment,
): Review[] {
  return [...lastReviews.values()].filter(
    review =>
      review.state === 'approved' &&
      review.commit === head &&
      review.author !== author &&
      !review.author.endsWith('[bot]') &&
      asked_at !== null &&
      Date.parse(review.at) >= Date.parse(asked_at),
  )
}

/** A reviewer whose permission cannot be read yet is in neither list. */
async function splitTrustedReviews(
  context: CampaignContext,
  { world }: Observation,
  reviews: readonly Review[],
) {
  const forge = requireForge(context)
  const { approvers } = world.spec.dependencies
  const trusted: Review[] = []
  const others: { review: Review; why: string }[] = []
  for (const review of reviews.filter(each => isConceivable(approvers, each)).slice(0, MOST_LOOKUPS)) {
    const { author: login } = review
    const permission = typeof approvers === 'string' ? await forge.readPermission(login) : 'none'
    if (permission === null) continue
    const why = await explainApproverRefusal(forge, approvers, { login, permission })
    if (why === null) trusted.push(review)
    else others.push({ review, why })
  }
  return { trusted, others }
}

/** Saves a request for each outsider: GitHub says who can write, and the spec names the others. */
function isConceivable(approvers: Approvers, { author, writer }: Review): boolean {
  if (typeof approvers === 'string') return writer === true
  const isNamed = approvers.some(name => name.toLowerCase() === author.toLowerCase())
  return isNamed || listTeams(approvers).length > 0
}

function formatReviewCause({ number }: Pull, { author, at }: Review): string {
  return `${REVIEW_CAUSE}${number}:${author}:${at}`
}

async function approveByReview(
  context: CampaignContext,
  experiment: Experiment,
  { pull, review }: { pull: Pull; review: Review },
): Promise<boolean> {
  const packages = listAwaitedPackages(experiment)
  const digest = experiment.approval?.digest
  if (digest === undefined || packages.length === 0) return false
  const asReviewer = { ...context, by: { ...context.by, actor: review.author } }
  const nonce = formatReviewCause(pull, review)
  const approval = {
    kind: 'approved',
    experiment: experiment.id,
    digest,
    packages,
    approved_at: review.at,
    review: true,
  } as const
  await recordEvents({ ...asReviewer, nonce }, [approval])
  return true
}

async function recordRevokedApproval(
  context: CampaignContext,
  { id: experiment, consents, asked_at }: Experiment,
  { pull, lastReviews, handled }: { pull: Pull; lastReviews: LastReviews; handled: Campaign['handled'] },
): Promise<boolean> {
  for (const consent of consents) {
    const lastReview = lastReviews.get(consent.login)
    if (lastReview === undefined) continue
    const { digest, login, packages } = consent
    const nonce = `${REVOKED_CAUSE}${pull.number}:${login}:${lastReview.state}:${lastReview.at}:${digest}`
    // An approval that follows the withdrawal in the ledger is later than the review, whatever their times are.
    if (Object.hasOwn(handled, nonce)) continue
    if (!isRevoked(limitConsentTime(consent, asked_at, context.clock.now()), lastReview)) continue
    const withdrawal = { kind: 'approval-withdrawn', experiment, digest, login, packages } as const
    await recordEvents({ ...context, nonce }, [withdrawal])
    return true
  }
  return false
}

/** On a command line the clock of a person counts. One that is ahead must not hide a later review: the request is older for sure. */
function limitConsentTime(consent: Consent, askedAt: string | null, now: number): Consent {
  return Date.parse(consent.at) > now && askedAt !== null ? { ...consent, at: askedAt } : consent
}

/** A later request for changes revokes an approval; dismissing revokes a review only. */
function isRevoked({ review, at }: Consent, lastReview: Review): boolean {
  if (review) return lastReview.state !== 'approved'
  return lastReview.state === 'changes-requested' && Date.parse(lastReview.at) > Date.parse(at)
}

/** People who may not approve the packages of this head. */
export interface HeadPushers {
  logins: readonly string[]
  /** False when the forge does not know the pusher: any person may have pushed it. */
  known: boolean
}

/** Null for heads that the engine made. The author of a pull request may differ from the pusher. */
export async function findHeadPushers(
  forge: Pick<Forge, 'readHeadAuthors'>,
  { owned, head }: Pick<Experiment, 'owned' | 'head'>,
  pull: Pull | undefined,
): Promise<HeadPushers | null> {
  if (owned) return null
  if (pull === undefined) return { logins: [], known: false }
  const found = await forge.readHeadAuthors(pull.number)
  const known = found.head === head && found.pusher !== null
  const pusher = found.pusher === null ? [] : [found.pusher]
  return { logins: [pull.author, ...pusher, ...found.named].map(login => login.toLowerCase()), known }
}
