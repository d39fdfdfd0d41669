import { type Approvers, teamsAmong, whyNotApprover } from '../forge/may-approve.ts'
import type { Pull, Review } from '../forge/pull.ts'
import { awaitedPackages, type Consent } from '../model/approval.ts'
import type { Experiment } from '../model/experiment.ts'
import { REVIEW } from '../model/fold.ts'
import { subjectsOf } from '../model/picked.ts'
import { needs } from '../plan/approvals.ts'
import { pullFinder } from '../plan/pull-of.ts'
import { broughtBy } from './brought-by.ts'
import type { Observation } from './observe.ts'
import type { Place } from './place.ts'
import { record } from './record.ts'

/** So many reviewers are asked about at a look; the others wait for the next. */
const MOST_ASKED = 20

/**
 * Approving reviews by people whom the spec trusts become approvals of the set of packages that was shown at the
 * head they reviewed: never of whoever brought it, a bot's, one of another head, or one from before the set was asked
 * about. Whoever changes their mind before it lands takes theirs back. True where something was recorded: a review that
 * counts for nothing is as well, and not looked at again.
 */
export async function hearReviews(place: Place, seen: Observation): Promise<boolean> {
  for (const experiment of subjectsOf(seen.world.campaign)) {
    const pull = pullOf(seen, experiment)
    if (pull === undefined || experiment.status === 'ended') continue
    const words = lastWords(pull)
    if (await takenBack(place, experiment, { pull, words })) return true
    if (experiment.status !== 'deferred' || !isSameSet(seen, experiment)) continue
    if (pull.state !== 'open' || pull.head !== experiment.head) continue
    const reviews = approving(pull, words, experiment).filter(review => isUnheard(seen, pull, review))
    if (reviews.length > 0 && (await hearAbout(place, seen, { experiment, pull, reviews }))) return true
  }
  return false
}

interface Reviewed {
  experiment: Experiment
  pull: Pull
  reviews: readonly Review[]
}

async function hearAbout(
  place: Place,
  seen: Observation,
  { experiment, pull, reviews }: Reviewed,
): Promise<boolean> {
  const { trusted, others } = await apart(place, seen, reviews)
  const { counted, own } = await withoutOwn(place, experiment, { pull, reviews: trusted })
  const [review] = counted
  if (review !== undefined) return approve(place, experiment, { pull, review })
  const nothing = [...others, ...own.map(each => ({ review: each, why: 'it is of their own head.' }))]
  for (const { review: each, why } of nothing) {
    const text = `The approving review by ${each.author} counts for no packages: ${why}`
    place.progress.say(text)
    const nonce = causeOf(pull, each)
    await record({ ...place, nonce }, [{ kind: 'note', text, experiment: experiment.id }])
  }
  return nothing.length > 0
}

/** Whose head it is approves nothing of it; where nobody knows whose, two people cannot both be that one. */
async function withoutOwn(
  { forge, progress }: Place,
  experiment: Experiment,
  { pull, reviews }: Pick<Reviewed, 'pull' | 'reviews'>,
): Promise<{ counted: readonly Review[]; own: readonly Review[] }> {
  const brought = reviews.length === 0 ? null : await broughtBy(forge, experiment, pull)
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

function pullOf({ world, pulls }: Observation, experiment: Experiment): Pull | undefined {
  const number = pullFinder(world)(experiment)?.number
  return pulls.find(each => each.number === number)
}

/** Invariant 4: what was asked about is what this head adds to the incumbent of now. */
function isSameSet({ world }: Observation, experiment: Experiment): boolean {
  const facts = world.candidates.get(experiment.id)
  if (facts?.merged !== 'clean' || facts.head !== experiment.head) return false
  return needs(world, experiment, facts).digest === experiment.approval?.digest
}

type Words = ReadonlyMap<string, Review>

/** The last word of each person: a comment takes nothing back, and what was dismissed does not revive what was before. */
function lastWords({ reviews }: Pull): Words {
  const last = new Map<string, Review>()
  for (const review of reviews) if (review.state !== 'commented') last.set(review.author, review)
  return last
}

function approving({ author }: Pull, words: Words, { head, asked_at }: Experiment): Review[] {
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
async function apart({ forge }: Place, { world }: Observation, reviews: readonly Review[]) {
  const { approvers } = world.spec.dependencies
  const trusted: Review[] = []
  const others: { review: Review; why: string }[] = []
  for (const review of reviews.filter(each => isConceivable(approvers, each)).slice(0, MOST_ASKED)) {
    const { author: login } = review
    const permission = typeof approvers === 'string' ? await forge.permissionOf?.(login) : 'none'
    if (permission === null) continue
    const why = await whyNotApprover(forge, approvers, { login, permission: permission ?? 'none' })
    if (why === null) trusted.push(review)
    else others.push({ review, why })
  }
  return { trusted, others }
}

/** Nobody asks about outsiders: the forge says with each review whether its author may write, and the spec who else counts. */
function isConceivable(approvers: Approvers, { author, writer }: Review): boolean {
  if (typeof approvers === 'string') return writer === true
  const isNamed = approvers.some(name => name.toLowerCase() === author.toLowerCase())
  return isNamed || teamsAmong(approvers).length > 0
}

function isUnheard({ world }: Observation, pull: Pull, review: Review): boolean {
  return !Object.hasOwn(world.campaign.heeded, causeOf(pull, review))
}

function causeOf({ number }: Pull, { author, at }: Review): string {
  return `${REVIEW}${number}:${author}:${at}`
}

interface Said {
  pull: Pull
  review: Review
}

async function approve(place: Place, experiment: Experiment, { pull, review }: Said): Promise<boolean> {
  const packages = awaitedPackages(experiment)
  const digest = experiment.approval?.digest
  if (digest === undefined || packages.length === 0) return false
  const here = { ...place, by: { ...place.by, actor: review.author } }
  const nonce = causeOf(pull, review)
  const approval = {
    kind: 'approved',
    experiment: experiment.id,
    digest,
    packages,
    said_at: review.at,
    review: true,
  } as const
  await record({ ...here, nonce }, [approval])
  return true
}

async function takenBack(
  place: Place,
  { id: experiment, consents }: Experiment,
  { pull, words }: { pull: Pull; words: Words },
): Promise<boolean> {
  for (const consent of consents) {
    const word = words.get(consent.login)
    if (word === undefined || !isTakenBack(consent, word)) continue
    const { digest, login, packages } = consent
    const nonce = `taken-back:${pull.number}:${login}:${word.state}:${word.at}`
    const withdrawal = { kind: 'approval-withdrawn', experiment, digest, login, packages } as const
    await record({ ...place, nonce }, [withdrawal])
    return true
  }
  return false
}

/** A review is taken back by dismissing it, and by a later one that asks for changes; a comment by the latter alone. */
function isTakenBack({ review, at }: Consent, word: Review): boolean {
  if (review) return word.state !== 'approved'
  return word.state === 'changes-requested' && Date.parse(word.at) > Date.parse(at)
}
