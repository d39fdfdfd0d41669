import { whyNotApprover } from '../forge/may-approve.ts'
import type { Pull, Review } from '../forge/pull.ts'
import { awaitedPackages, type Consent } from '../model/approval.ts'
import type { Experiment } from '../model/experiment.ts'
import { subjectsOf } from '../model/picked.ts'
import { needs } from '../plan/approvals.ts'
import { pullFinder } from '../plan/pull-of.ts'
import type { Observation } from './observe.ts'
import type { Place } from './place.ts'
import { record } from './record.ts'

/**
 * Approving reviews by people whom the spec trusts become approvals of the set of packages that was shown at the
 * head they reviewed: never the author's own, a bot's, one of another head, or one from before the set was asked
 * about. Whoever changes their mind before it lands takes theirs back. True where something was recorded.
 */
export async function hearReviews(place: Place, seen: Observation): Promise<boolean> {
  for (const experiment of subjectsOf(seen.world.campaign)) {
    const pull = pullOf(seen, experiment)
    if (pull === undefined || experiment.status === 'ended') continue
    const words = lastWords(pull)
    if (await takenBack(place, experiment, { pull, words })) return true
    if (experiment.status !== 'deferred' || !isSameSet(seen, experiment)) continue
    if (pull.state !== 'open' || pull.head !== experiment.head) continue
    for (const review of approving(pull, words, experiment))
      if (await trusted(place, seen, review)) return approve(place, experiment, { pull, review })
  }
  return false
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

async function trusted({ forge, progress }: Place, { world }: Observation, review: Review): Promise<boolean> {
  const { author: login } = review
  const permission = (await forge.permissionOf?.(login)) ?? 'none'
  const why = await whyNotApprover(forge, world.spec.dependencies.approvers, { login, permission })
  if (why !== null) progress.say(`The approving review by ${login} counts for no packages: ${why}`)
  return why === null
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
  const nonce = `review:${pull.number}:${review.author}:${review.at}`
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
