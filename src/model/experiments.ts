import type { Campaign } from './campaign.ts'
import type { Experiment } from './experiment.ts'
import type { ExperimentId } from './ids.ts'

const experimentLists = new WeakMap<Campaign['experiments'], readonly Experiment[]>()

/**
 * All experiments, in the order they were opened. Of ten thousand a list takes longer to make than to read, and one
 * plan reads it a dozen times: it is made once, until there is one more.
 */
export function listExperiments({ experiments }: Pick<Campaign, 'experiments'>): readonly Experiment[] {
  const known = experimentLists.get(experiments)
  if (known !== undefined) return known
  const all = Object.values(experiments)
  experimentLists.set(experiments, all)
  return all
}

/** The only way in: a list that was made before lacks it. */
export function addExperiment(
  { experiments }: { experiments: Record<ExperimentId, Experiment> },
  experiment: Experiment,
): void {
  experiments[experiment.id] = experiment
  experimentLists.delete(experiments)
}
