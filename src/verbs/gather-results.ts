import { readChangedPaths } from '../engine/results-commit.ts'
import type { Experiment } from '../model/experiment.ts'
import { ExperimentRecord } from '../report/experiment-record.ts'
import type { Results } from '../report/results.ts'
import { buildResults } from '../report/results-of.ts'
import type { PullNumbers } from '../report/status-view.ts'
import type { CommandContext } from './at-campaign.ts'
import { readLedgerEvents } from './ledger-events.ts'

/** The ledger is read once, however many are asked for. */
export async function gatherResults(
  { place }: Pick<CommandContext, 'place'>,
  experiments: readonly Experiment[],
  pulls: PullNumbers,
): Promise<Results[]> {
  const asked = experiments.map(experiment => ({ experiment, record: new ExperimentRecord(experiment.id) }))
  for await (const event of readLedgerEvents(place)) for (const { record } of asked) record.take(event)
  const found: Results[] = []
  for (const { experiment, record } of asked) {
    const diff = await readChangedPaths(place, record)
    const { outcome, reason, status } = experiment
    const ending = status === 'ended' && outcome !== null ? { outcome, reason: reason ?? '' } : null
    const one = buildResults({ spec: place.name, experiment, record, ending, diff })
    found.push(addPullNumber(one, pulls.get(experiment.branch ?? '') ?? null))
  }
  return found
}

/** The ledger does not name the pull requests that only a forge knows. */
function addPullNumber(one: Results, number: number | null): Results {
  return { ...one, links: { ...one.links, pull_request: one.links.pull_request ?? number } }
}
