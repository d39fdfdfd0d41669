import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import type { ExperimentId } from '../model/ids.ts'
import { listSubjects } from '../model/picked.ts'
import type { PullFacts, World } from './world.ts'

/**
 * Which pull request belongs to an experiment. Branches are used again: a newer one on the branch of an
 * experiment that has ended is somebody's next idea, and none of its business. So is its own, once that has been opened
 * again with another head and is the next experiment's.
 */
export function createPullFinder({
  pulls,
  campaign,
}: Pick<World, 'pulls' | 'campaign'>): (experiment: Experiment) => PullFacts | undefined {
  const byNumber = new Map(pulls.map(pull => [pull.number, pull]))
  const byBranch = new Map<string, PullFacts>()
  for (const pull of pulls) {
    const known = byBranch.get(pull.branch)
    if (!known || isLater(pull, known)) byBranch.set(pull.branch, pull)
  }
  // Of long campaigns most who ask have few pull requests to find, or none.
  let holders: ReadonlyMap<number, ExperimentId> | null = null
  return experiment => {
    const { pull: number, id } = experiment
    if (number === null) {
      const pull = experiment.branch === null ? undefined : byBranch.get(experiment.branch)
      return pull && isPullMatching(experiment, pull) ? pull : undefined
    }
    const pull = byNumber.get(number)
    if (pull === undefined) return undefined
    holders ??= mapPullHolders(campaign, byNumber)
    return holders.get(number) === id ? pull : undefined
  }
}

/** Whose each of them is by its number: the last one's. */
function mapPullHolders(
  campaign: Campaign,
  byNumber: ReadonlyMap<number, PullFacts>,
): ReadonlyMap<number, ExperimentId> {
  const holders = new Map<number, ExperimentId>()
  for (const { pull, id } of listSubjects(campaign))
    if (pull !== null && byNumber.has(pull)) holders.set(pull, id)
  return holders
}

function isLater(pull: PullFacts, than: PullFacts): boolean {
  if ((pull.state === 'open') !== (than.state === 'open')) return pull.state === 'open'
  return pull.number > than.number
}

function isPullMatching({ owned, status, head }: Experiment, pull: PullFacts): boolean {
  return owned || status !== 'ended' || pull.head === head
}
