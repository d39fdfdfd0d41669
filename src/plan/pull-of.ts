import type { Experiment } from '../model/experiment.ts'
import type { PullFacts, World } from './world.ts'

/**
 * Which pull request belongs to an experiment. Branches are used again: a newer one on the branch of an
 * experiment that has ended is somebody's next idea, and none of its business.
 */
export function pullFinder({ pulls }: World): (experiment: Experiment) => PullFacts | undefined {
  const byNumber = new Map(pulls.map(pull => [pull.number, pull]))
  const byBranch = new Map<string, PullFacts>()
  for (const pull of pulls) {
    const known = byBranch.get(pull.branch)
    if (!known || isLater(pull, known)) byBranch.set(pull.branch, pull)
  }
  return experiment => {
    if (experiment.pull !== null) return byNumber.get(experiment.pull)
    const pull = experiment.branch === null ? undefined : byBranch.get(experiment.branch)
    return pull && isOf(experiment, pull) ? pull : undefined
  }
}

function isLater(pull: PullFacts, than: PullFacts): boolean {
  if ((pull.state === 'open') !== (than.state === 'open')) return pull.state === 'open'
  return pull.number > than.number
}

function isOf({ owned, status, head }: Experiment, pull: PullFacts): boolean {
  return owned || status !== 'ended' || pull.head === head
}
