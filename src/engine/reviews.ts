import { whyNotApprover } from '../forge/may-approve.ts'
import type { Pull, Review } from '../forge/pull.ts'
import { awaitedPackages } from '../model/approval.ts'
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
 * about. True where one was recorded.
 */
export async function hearReviews(place: Place, seen: Observation): Promise<boolean> {
  for (const experiment of subjectsOf(seen.world.campaign)) {
    if (experiment.status !== 'deferred' || !isSameSet(seen, experiment)) continue
    const pull = pullOf(seen, experiment)
    if (pull?.state !== 'open' || pull.head !== experiment.head) continue
    for (const review of approving(pull, experiment))
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

/** The last word of each person: a comment takes nothing back. */
function approving({ author, reviews }: Pull, { head, asked_at }: Experiment): Review[] {
  const last = new Map<string, Review>()
  for (const review of reviews) if (review.state !== 'commented') last.set(review.author, review)
  return [...last.values()].filter(
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

async function approve(
  place: Place,
  experiment: Experiment,
  { pull, review }: { pull: Pull; review: Review },
): Promise<boolean> {
  const packages = awaitedPackages(experiment)
  const digest = experiment.approval?.digest
  if (digest === undefined || packages.length === 0) return false
  const here = { ...place, by: { ...place.by, actor: review.author } }
  const nonce = `review:${pull.number}:${review.author}:${review.at}`
  await record({ ...here, nonce }, [{ kind: 'approved', experiment: experiment.id, digest, packages }])
  return true
}
