import { type Approvers, explainApproverRefusal, listTeams } from '../../github/people.ts'
import type { Forge } from '../../github/port.ts'
import type { Pull, Review } from '../../github/pull.ts'
import { type Consent, listAwaitedPackages } from '../../model/approval.ts'
import { type Experiment, listSubjects } from '../../model/experiment.ts'
import { REVIEW_CAUSE } from '../../model/fold/fold.ts'
import { buildApprovalRequest } from '../../plan/approvals.ts'
import { createPullFinder } from '../../plan/world.ts'
import type { CampaignContext } from '../campaign/context.ts'
import type { Observation } from '../observe/observe.ts'
import { recordEvents } from './record.ts'

/** So many reviewers are asked about at a look; the others wait for the next. */
const MOST_ASKED = 20

/**
 * Approving reviews by people whom the spec trusts become approvals of the set of packages that was shown at the
 * head they reviewed: never of whoever brought it, a bot's, one of another head, or one from before the set was asked
 * about. Whoever changes their mind before it lands takes theirs back. True where something was recorded: a review that
 * counts for nothing is as well, and not looked at again.
 */
export async function recordReviewApprovals(place: CampaignContext, seen: Observation): Promise<boolean> {
  for (const experiment of listSubjects(seen.world.campaign)) {
    const pull = findExperimentPull(seen, experiment)
    if (pull === undefined || experiment.status === 'ended') continue
    const words = selectLastReviews(pull)
    if (await recordRevokedApproval(place, experiment, { pull, words })) return true
    if (experiment.status !== 'deferred' || !isSameSet(seen, experiment)) continue
    if (pull.state !== 'open' || pull.head !== experiment.head) continue
    const reviews = selectApprovingReviews(pull, words, experiment).filter(review =>
      isUnrecorded(seen, pull, review),
    )
    if (reviews.length > 0 && (await recordReviewsOfPull(place, seen, { experiment, pull, reviews })))
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
  place: CampaignContext,
  seen: Observation,
  { experiment, pull, reviews }: ReviewedPull,
): Promise<boolean> {
  const { trusted, others } = await splitTrustedReviews(place, seen, reviews)
  const { counted, own } = await splitOwnReviews(place, experiment, { pull, reviews: trusted })
  const [review] = counted
  if (review !== undefined) return approveByReview(place, experiment, { pull, review })
  const nothing = [...others, ...own.map(each => ({ review: each, why: 'it is of their own head.' }))]
  for (const { review: each, why } of nothing) {
    const text = `The approving review by ${each.author} counts for no packages: ${why}`
    place.progress.say(text)
    const nonce = formatReviewCause(pull, each)
    await recordEvents({ ...place, nonce }, [{ kind: 'note', text, experiment: experiment.id }])
  }
  return nothing.length > 0
}

/** Whose head it is approves nothing of it; where nobody knows whose, two people cannot both be that one. */
async function splitOwnReviews(
  { forge, progress }: CampaignContext,
  experiment: Experiment,
  { pull, reviews }: Pick<ReviewedPull, 'pull' | 'reviews'>,
): Promise<{ counted: readonly Review[]; own: readonly Review[] }> {
  const brought = reviews.length === 0 ? null : await findHeadPushers(forge, experiment, pull)
  if (brought === null) return { counted: reviews, own: [] }
  const isOwn = ({ author }: Review) => brought.logins.includes(author.toLowerCase())
  const own = reviews.filter(isOwn)
  const others = reviews.filter(review => !isOwn(review))
  if (brought.known || others.length > 1) return { counted: others, own }
  if (others.length === 1)
    progress.say(
      `GitHub does not say who pushed the head of ${experiment.id}: a second person's approving review is needed.`,
    )
  return { counted: [], own }
}

function findExperimentPull({ world, pulls }: Observation, experiment: Experiment): Pull | undefined {
  const number = createPullFinder(world)(experiment)?.number
  return pulls.find(each => each.number === number)
}

/** Invariant 4: what was asked about is what this head adds to the incumbent of now. */
function isSameSet({ world }: Observation, experiment: Experiment): boolean {
  const facts = world.candidates.get(experiment.id)
  if (facts?.merged !== 'clean' || facts.head !== experiment.head) return false
  return buildApprovalRequest(world, experiment, facts).digest === experiment.approval?.digest
}

type LastReviews = ReadonlyMap<string, Review>

/** The last word of each person: a comment takes nothing back, and what was dismissed does not revive what was before. */
function selectLastReviews({ reviews }: Pull): LastReviews {
  const last = new Map<string, Review>()
  for (const review of reviews) if (review.state !== 'commented') last.set(review.author, review)
  return last
}

function selectApprovingReviews(
  { author }: Pull,
  words: LastReviews,
  { head, asked_at }: Experiment,
): Review[] {
  return [...words.values()].filter(
    review =>
      review.state === 'approved' &&
      review.commit === head &&
      review.author !== author &&
      !review.author.endsWith('[bot]') &&
      asked_at !== null &&
      Date.parse(review.at) >= Date.parse(asked_at),
  )
}

/** Whom nobody could ask about yet is in neither. */
async function splitTrustedReviews(
  { forge }: CampaignContext,
  { world }: Observation,
  reviews: readonly Review[],
) {
  const { approvers } = world.spec.dependencies
  const trusted: Review[] = []
  const others: { review: Review; why: string }[] = []
  for (const review of reviews.filter(each => isConceivable(approvers, each)).slice(0, MOST_ASKED)) {
    const { author: login } = review
    const permission = typeof approvers === 'string' ? await forge.readPermission?.(login) : 'none'
    if (permission === null) continue
    const why = await explainApproverRefusal(forge, approvers, { login, permission: permission ?? 'none' })
    if (why === null) trusted.push(review)
    else others.push({ review, why })
  }
  return { trusted, others }
}

/** Nobody asks about outsiders: the forge says with each review whether its author may write, and the spec who else counts. */
function isConceivable(approvers: Approvers, { author, writer }: Review): boolean {
  if (typeof approvers === 'string') return writer === true
  const isNamed = approvers.some(name => name.toLowerCase() === author.toLowerCase())
  return isNamed || listTeams(approvers).length > 0
}

function isUnrecorded({ world }: Observation, pull: Pull, review: Review): boolean {
  return !Object.hasOwn(world.campaign.heeded, formatReviewCause(pull, review))
}

function formatReviewCause({ number }: Pull, { author, at }: Review): string {
  return `${REVIEW_CAUSE}${number}:${author}:${at}`
}

interface CountedReview {
  pull: Pull
  review: Review
}

async function approveByReview(
  place: CampaignContext,
  experiment: Experiment,
  { pull, review }: CountedReview,
): Promise<boolean> {
  const packages = listAwaitedPackages(experiment)
  const digest = experiment.approval?.digest
  if (digest === undefined || packages.length === 0) return false
  const here = { ...place, by: { ...place.by, actor: review.author } }
  const nonce = formatReviewCause(pull, review)
  const approval = {
    kind: 'approved',
    experiment: experiment.id,
    digest,
    packages,
    said_at: review.at,
    review: true,
  } as const
  await recordEvents({ ...here, nonce }, [approval])
  return true
}

async function recordRevokedApproval(
  place: CampaignContext,
  { id: experiment, consents }: Experiment,
  { pull, words }: { pull: Pull; words: LastReviews },
): Promise<boolean> {
  for (const consent of consents) {
    const word = words.get(consent.login)
    if (word === undefined || !isRevoked(consent, word)) continue
    const { digest, login, packages } = consent
    const nonce = `taken-back:${pull.number}:${login}:${word.state}:${word.at}`
    const withdrawal = { kind: 'approval-withdrawn', experiment, digest, login, packages } as const
    await recordEvents({ ...place, nonce }, [withdrawal])
    return true
  }
  return false
}

/** A review is taken back by dismissing it, and by a later one that asks for changes; a comment by the latter alone. */
function isRevoked({ review, at }: Consent, word: Review): boolean {
  if (review) return word.state !== 'approved'
  return word.state === 'changes-requested' && Date.parse(word.at) > Date.parse(at)
}

/** Whose head it is: none of them approves what it adds. */
export interface HeadPushers {
  logins: readonly string[]
  /** Whether the forge knows who pushed it: if not, anybody may be who did. */
  known: boolean
}

/**
 * Null for what the engine made itself. The author of a pull request is who offers it: others may push to its branch, and
 * to an engine's branch whoever may write.
 */
export async function findHeadPushers(
  forge: Pick<Forge, 'readHeadAuthors'>,
  { owned, head }: Pick<Experiment, 'owned' | 'head'>,
  pull: Pull | undefined,
): Promise<HeadPushers | null> {
  if (owned) return null
  if (pull === undefined || forge.readHeadAuthors === undefined) return { logins: [], known: false }
  const found = await forge.readHeadAuthors(pull.number)
  const known = found.head === head && found.pusher !== null
  const pusher = found.pusher === null ? [] : [found.pusher]
  return { logins: [pull.author, ...pusher, ...found.named].map(login => login.toLowerCase()), known }
}
