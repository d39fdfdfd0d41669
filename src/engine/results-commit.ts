import type { Experiment } from '../model/experiment.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import { secondsOf } from '../model/landing.ts'
import { readEvents } from '../ledger/read-events.ts'
import { ExperimentRecord } from '../report/experiment-record.ts'
import { type Ending, resultsOf } from '../report/results-of.ts'
import { resultsPath, resultsYaml } from '../report/results-yaml.ts'
import type { Place } from './place.ts'
import type { Transaction } from './transaction.ts'

/**
 * results.yaml as one commit on top of the measured head, and as a file of the ledger. Both are made once, with the
 * events that end the experiment. `closing`: all that end with this transaction, so that the ledger is read once.
 */
export async function resultsCommit(
  transaction: Transaction,
  { experiment, head, ending }: { experiment: Experiment; head: Oid; ending: Ending },
  closing: readonly ExperimentId[],
): Promise<Oid> {
  const { place, at } = transaction
  const { repository, name } = place
  const { id } = experiment
  const text = await resultsText(transaction, { experiment, ending }, closing)
  const entry = { mode: '100644', oid: await repository.writeBlob(text) } as const
  const tree = await repository.replaceAt((await repository.commit(head)).tree, [
    { path: resultsPath(name, id), entry },
  ])
  const message = `results(${name}): ${id} ${ending.outcome}\n`
  return repository.writeCommit({ tree, parents: [head], message, date: secondsOf(at) })
}

/** The text, which the ledger holds from this transaction on. */
export async function resultsText(
  transaction: Transaction,
  { experiment, ending }: { experiment: Experiment; ending: Ending },
  closing: readonly ExperimentId[],
): Promise<string> {
  const { place } = transaction
  const record = await recordIn(transaction, experiment.id, closing)
  const diff = await changedPaths(place, record)
  const text = resultsYaml(resultsOf({ spec: place.name, experiment, record, ending, diff }))
  transaction.addView(`results/${experiment.id}.yaml`, text)
  return text
}

interface Gathered {
  record: ExperimentRecord
  /** How many events of this transaction it has taken. */
  taken: number
}

const gathered = new WeakMap<Transaction, Map<ExperimentId, Gathered>>()

/** From the ledger as it was and what this transaction adds. */
async function recordIn(
  transaction: Transaction,
  id: ExperimentId,
  closing: readonly ExperimentId[],
): Promise<ExperimentRecord> {
  const known = gathered.get(transaction) ?? new Map<ExperimentId, Gathered>()
  gathered.set(transaction, known)
  if (!known.has(id)) {
    const wanted = [...new Set([id, ...closing])].filter(each => !known.has(each))
    for (const record of await recordsAt(transaction, wanted)) known.set(record.id, { record, taken: 0 })
  }
  const entry = known.get(id)
  if (entry === undefined) throw new Error(`${id} was not gathered`)
  const { events } = transaction
  for (const event of events.slice(entry.taken)) entry.record.take(event)
  entry.taken = events.length
  return entry.record
}

async function recordsAt(
  { place, base }: Transaction,
  ids: readonly ExperimentId[],
): Promise<ExperimentRecord[]> {
  const records = ids.map(id => new ExperimentRecord(id))
  if (base === null) return records
  for await (const event of readEvents(place.repository, base, 0))
    for (const record of records) record.take(event)
  return records
}

/** What the measured tree changes of the one it was compared with; null where this clone lacks one of them. */
export async function changedPaths(
  { repository }: Pick<Place, 'repository'>,
  { id, decisive }: ExperimentRecord,
) {
  const order = decisive.at(-1)?.order
  const tree = order?.candidates.find(({ label }) => label === id)?.tree
  if (order === undefined || tree === undefined) return null
  for (const each of [order.base.tree, tree]) if (!(await repository.has(each))) return null
  return repository.diff(order.base.tree, tree)
}
