import { changedPaths } from '../engine/results-commit.ts'
import type { Experiment } from '../model/experiment.ts'
import { ExperimentRecord } from '../report/experiment-record.ts'
import type { Results } from '../report/results.ts'
import { resultsOf } from '../report/results-of.ts'
import type { PullNumbers } from '../report/status-view.ts'
import type { Scene } from './at-campaign.ts'
import { ledgerEvents } from './ledger-events.ts'

/** The ledger is read once, however many are asked for. */
export async function gatherResults(
  { place }: Pick<Scene, 'place'>,
  experiments: readonly Experiment[],
  pulls: PullNumbers,
): Promise<Results[]> {
  const asked = experiments.map(experiment => ({ experiment, record: new ExperimentRecord(experiment.id) }))
  for await (const event of ledgerEvents(place)) for (const { record } of asked) record.take(event)
  const found: Results[] = []
  for (const { experiment, record } of asked) {
    const diff = await changedPaths(place, record)
    const { outcome, reason, status } = experiment
    const ending = status === 'ended' && outcome !== null ? { outcome, reason: reason ?? '' } : null
    const one = resultsOf({ spec: place.name, experiment, record, ending, diff })
    found.push(withPull(one, pulls.get(experiment.branch ?? '') ?? null))
  }
  return found
}

/** The ledger does not name the pull requests that only a forge knows. */
function withPull(one: Results, number: number | null): Results {
  return { ...one, links: { ...one.links, pull_request: one.links.pull_request ?? number } }
}
