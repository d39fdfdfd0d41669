import type { Experiment } from '../model/experiment.ts'
import type { Oid } from '../model/ids.ts'
import { toSeconds } from '../model/landing.ts'
import { readEventsBySeq } from '../ledger/read-events.ts'
import { ExperimentRecord } from '../report/experiment-record.ts'
import { type ExperimentEnding, buildResults } from '../report/results-of.ts'
import { buildResultsPath, renderResultsYaml } from '../report/results-yaml.ts'
import type { CampaignContext } from './place.ts'
import type { Transaction } from './transaction.ts'

/**
 * results.yaml as one commit on top of the measured head, and as a file of the ledger. Both are made once, with the
 * events that end the experiment.
 */
export async function writeResultsCommit(
  transaction: Transaction,
  { experiment, head, ending }: { experiment: Experiment; head: Oid; ending: ExperimentEnding },
): Promise<Oid> {
  const { place, at } = transaction
  const { repository, name } = place
  const { id } = experiment
  const text = await buildResultsText(transaction, { experiment, ending })
  const entry = { mode: '100644', oid: await repository.writeBlob(text) } as const
  const tree = await repository.replaceEntries((await repository.commit(head)).tree, [
    { path: buildResultsPath(name, id), entry },
  ])
  const message = `results(${name}): ${id} ${ending.outcome}\n`
  return repository.writeCommit({ tree, parents: [head], message, date: toSeconds(at) })
}

/** The text, which the ledger holds from this transaction on. */
export async function buildResultsText(
  transaction: Transaction,
  { experiment, ending }: { experiment: Experiment; ending: ExperimentEnding },
): Promise<string> {
  const { place } = transaction
  const record = await readExperimentRecord(transaction, experiment)
  const diff = await readChangedPaths(place, record)
  const text = renderResultsYaml(buildResults({ spec: place.name, experiment, record, ending, diff }))
  transaction.addView(`results/${experiment.id}.yaml`, text)
  return text
}

/**
 * From what the ledger tells of it, and what this transaction adds. Only the events that it is made of are read
 * (`told_by`): what ends an experiment costs the same however long the ledger is.
 */
async function readExperimentRecord(
  { place, base, events }: Transaction,
  { id, told_by }: Experiment,
): Promise<ExperimentRecord> {
  const record = new ExperimentRecord(id)
  const first = events[0]?.seq ?? Infinity
  if (base !== null)
    for await (const event of readEventsBySeq(
      place.repository,
      base,
      told_by.filter(seq => seq < first),
    ))
      record.take(event)
  for (const event of events) record.take(event)
  return record
}

/** Summarises the diff from base tree to measured tree; null where this clone lacks one of them. */
export async function readChangedPaths(
  { repository }: Pick<CampaignContext, 'repository'>,
  { id, decisive }: ExperimentRecord,
) {
  const order = decisive.at(-1)?.order
  const tree = order?.candidates.find(({ label }) => label === id)?.tree
  if (order === undefined || tree === undefined) return null
  for (const each of [order.base.tree, tree]) if (!(await repository.has(each))) return null
  return repository.diff(order.base.tree, tree)
}
