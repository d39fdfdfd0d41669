import { readCampaignSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'
import { TIMED_METRICS } from '../../spec/schema-values.ts'
import { isJudgedMetric } from '../../spec/spec-facts.ts'
import type { Campaign, EpochRun, MeasuredEpoch } from '../campaign.ts'
import type { LedgerEvent } from '../event.ts'
import { isComparedByMeans, type Order } from '../order.ts'
import { aggregateSnapshot, type Execution, getNumber, toFinite } from '../report.ts'
import { toOneLine } from '../text.ts'

const LONGEST_ERROR = 600

/**
 * A pass measures the incumbent and selects nothing. The measurement that made winnow keep a change is biased
 * upwards, so the change gets a pass of its own. With `compat: awp` updates land without proof, so the measurement of
 * an update is its pass.
 */
export function recordEpoch(campaign: Campaign, event: LedgerEvent<'baseline-measured'>): void {
  const spec = readCampaignSpec(campaign)
  const { epochs, landings, round, orders } = campaign
  const live = orders[event.order]
  if (spec === null || spec.epochs === null || !isPass(event, live?.order, spec)) return
  const report = live?.report?.report
  const samples = (report?.executions ?? []).filter(
    ({ side, role }) => side === event.side && role === 'sample',
  )
  const { name } = spec.metric.primary
  const { seq, at, order, tree, harness, side, snapshot } = event
  const isLanding = side !== 'base'
  epochs.push({
    seq,
    at,
    order,
    tree,
    harness,
    round: round?.number ?? 0,
    landings: landings.length + (isLanding ? 1 : 0),
    mean: getNumber(aggregateSnapshot(snapshot), name),
    update: isLanding ? toUpdate(campaign, side, campaign.incumbent.tree) : findUpdate(campaign),
    runs: samples.flatMap(run => listEpochRuns(run, spec)),
  })
  // Only the latest texts are read again.
  const before = epochs.at(-2)
  if (before !== undefined) before.runs = before.runs.map(run => ({ ...run, error: null, feedback: null }))
}

/** Pairs of items are no pass: only an order that scores one side by itself has a mean. */
function isPass({ side }: LedgerEvent<'baseline-measured'>, order: Order | undefined, spec: Spec): boolean {
  if (side !== 'base' && spec.epochs?.compat !== 'awp') return false
  return !isJudgedMetric(spec) || (order !== undefined && isComparedByMeans(order))
}

/** Several landings since the epoch before cannot be told apart by one pass. */
function findUpdate(campaign: Campaign): MeasuredEpoch['update'] {
  const since = campaign.landings.slice(campaign.epochs.at(-1)?.landings ?? 0)
  const [only, ...others] = since.filter(({ reverted }) => reverted === null)
  return only === undefined || others.length > 0 ? null : toUpdate(campaign, only.experiment, only.base.tree)
}

/** A revert returns to what was measured before. */
function toUpdate({ experiments }: Campaign, id: string, replaced: string): MeasuredEpoch['update'] {
  return experiments[id]?.purpose === 'idea' ? { id, replaced } : null
}

function listEpochRuns(run: Execution, { metric }: Spec): EpochRun[] {
  const { name } = metric.primary
  const { status, tasks, error, feedback } = run
  const entries = Object.entries(run.metrics).filter(([key]) => key !== name && !TIMED_METRICS.has(key))
  const metrics = Object.fromEntries(
    entries.flatMap(([key, value]) => (typeof value === 'number' ? [[key, value]] : [])),
  )
  // A task of a loss that failed was measured: it has the worst loss, and says why.
  const failed = status === 'ok' ? error : `${status}: ${error ?? ''}`
  const failure = failed === undefined ? null : toOneLine(`${failed} ${readOutput(run)}`, LONGEST_ERROR)
  const scores = Object.entries(tasks ?? {})
  const written = new Map(Object.entries(feedback ?? {}))
  const [whole = null] = [...written.values()]
  if (scores.length === 0) {
    const score = status === 'ok' ? getNumber(run.metrics, name) : null
    return [{ task: run.task ?? null, score, metrics, error: failure, feedback: whole }]
  }
  if (metric.primary.type === 'judge') return scores.map(([item, score]) => toItemRun(item, score, written))
  return scores.map(([task, score], at) => {
    const text = written.get(task) ?? (at === 0 ? written.get('') : undefined) ?? null
    return { task, score: toFinite(score), metrics, error: failure, feedback: text }
  })
}

/** Each judge's score of an item is a run of it. The other metrics are those of the whole pass. */
function toItemRun(name: string, score: unknown, written: ReadonlyMap<string, string>): EpochRun {
  const [, item = name, judge = '1'] = /^(.*) \(judge (\d+)\)$/.exec(name) ?? []
  const feedback = (judge === '1' ? written.get(item) : undefined) ?? null
  return { task: item, score: toFinite(score), metrics: {}, error: null, feedback }
}

function readOutput({ output }: Execution): string {
  if (output === undefined) return ''
  return [...output.failing, output.stderr, output.stdout].filter(text => text.trim() !== '').join(' ')
}
