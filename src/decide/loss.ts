import { getOwnValue } from '../model/own-value.ts'
import { type MetricValues, toFinite } from '../model/report.ts'
import type { SuiteTask } from '../model/tasks.ts'
import { isMapping } from '../spec/rule-context.ts'
import type { Spec } from '../spec/schema.ts'

/** The loss of one run: a weighted sum of components between 0 and 1, less is better (docs/decisions/065). */

export interface LossTerms {
  weights: Readonly<Record<string, number>>
  maxRejections: number
  missing: 'error' | 'neutral'
}

/**
 * The signals that a run reports. The numbers are eval, critique, gate_rejections, max_rejections (which wins over the
 * spec's), budget_remaining_pct, and components of other names, 0 (good) to 1.
 */
export interface RunSignals {
  numbers: Readonly<Record<string, number>>
  status: string | null
}

export interface Loss {
  total: number
  /** Weight times component. They add up to the loss. */
  parts: Record<string, number>
}

const DEFAULT_WEIGHTS = { eval: 0.4, critique: 0.3, gate_rejections: 0.15, budget: 0.05, status: 0.1 }
const DEFAULT_MAX_REJECTIONS = 3
const STATUS_PENALTIES = new Map([
  ['complete', 0],
  ['partial', 0.5],
  ['failed', 1],
  ['aborted', 1],
])
const NEUTRAL = 0.5
const WORST = 1

/** The weights of a task replace those of the spec one by one, and are not scaled to a sum of 1. */
export function selectLossTerms({ metric }: Pick<Spec, 'metric'>, task: SuiteTask | null): LossTerms {
  const { loss } = metric
  return {
    weights: { ...(loss?.weights ?? DEFAULT_WEIGHTS), ...task?.weights },
    maxRejections: loss?.max_rejections ?? DEFAULT_MAX_REJECTIONS,
    missing: loss?.missing ?? 'error',
  }
}

/**
 * Returns the names of missing components instead of a loss if these are an error. In a failed run a missing component
 * counts as the worst, so that a run that ends before it is scored is never better than a poor one. A run that says
 * nothing about itself has failed, where missing components are no error.
 */
export function computeLoss(signals: RunSignals, terms: LossTerms): Loss | { missing: string[] } {
  const isSilent = signals.status === null && Object.keys(signals.numbers).length === 0
  const lenient = terms.missing === 'neutral'
  if (lenient && isSilent) return computeWorstLoss(terms)
  const absent = readStatus(signals) === WORST ? WORST : lenient ? NEUTRAL : null
  const parts: Record<string, number> = {}
  const missing: string[] = []
  for (const [name, weight] of Object.entries(terms.weights)) {
    const component = readComponent(name, signals, terms) ?? (weight === 0 ? 0 : absent)
    if (component === null) missing.push(name)
    else parts[name] = weight * component
  }
  return missing.length > 0 ? { missing } : addUp(parts)
}

/** The loss of a run that crashed, timed out, or left nothing that could be read. */
export function computeWorstLoss({ weights }: Pick<LossTerms, 'weights'>): Loss {
  return addUp({ ...weights })
}

export const LOSS_PART = 'loss.'

/** The metrics that a report stores for a loss: its total under the primary's name, and each part. */
export function toLossMetrics(primary: string, { total, parts }: Loss): MetricValues {
  const named = Object.entries(parts).map(([name, part]) => [`${LOSS_PART}${name}`, part])
  return { ...Object.fromEntries(named), [primary]: total }
}

function addUp(parts: Record<string, number>): Loss {
  return { total: Object.values(parts).reduce((sum, part) => sum + part, 0), parts }
}

function readComponent(name: string, signals: RunSignals, { maxRejections }: LossTerms): number | null {
  const value = getOwnValue(signals.numbers, SIGNALS.get(name) ?? name)
  const { max_rejections: ownMost = 0 } = signals.numbers
  if (name === 'status') return readStatus(signals)
  if (value === undefined) return null
  switch (name) {
    case 'eval':
    case 'critique':
      return limitToUnit(1 - value)
    case 'gate_rejections':
      return limitToUnit(value / (ownMost > 0 ? ownMost : maxRejections))
    case 'budget':
      return limitToUnit(1 - value / 100)
    default:
      return limitToUnit(value)
  }
}

/** Components that are computed from a number of another name. */
const SIGNALS = new Map([['budget', 'budget_remaining_pct']])

/** Null without a status, and with an unknown one. */
function readStatus({ status }: RunSignals): number | null {
  return STATUS_PENALTIES.get(status?.toLowerCase() ?? '') ?? null
}

function limitToUnit(value: number): number {
  return Math.min(1, Math.max(0, value))
}

// Reading signals

const REJECTIONS = new Set(['reject', 'rejected', 'fail', 'failed'])

/** Reads run_completion.json and the lines of metrics.jsonl, as AWP writes them; null for a file that is not there. */
export function readRunSignals(completion: unknown, metrics: readonly unknown[] | null): RunSignals {
  const run = isMapping(completion) ? completion : {}
  const lines = (metrics ?? []).filter(isMapping)
  const rejections = lines.filter(
    ({ kind, verdict }) => kind === 'metric.gate' && REJECTIONS.has(String(verdict).toLowerCase()),
  )
  const most = readNested(run, 'config_used', 'max_rejected_completions')
  const numbers = {
    eval: readNested(run, 'eval', 'score') ?? computeLineMean(lines, 'metric.eval'),
    critique:
      readNested(run, 'critique', 'score') ??
      toFinite(run['critique_score']) ??
      computeLineMean(lines, 'metric.critique'),
    gate_rejections: metrics === null ? null : rejections.length,
    max_rejections: most !== null && most > 0 ? most : null,
    budget_remaining_pct: readNested(run, 'final_budget', 'budget_remaining_pct'),
  }
  return { numbers: omitNull(numbers), status: typeof run['status'] === 'string' ? run['status'] : null }
}

/** The best output that a run can print: its loss is 0. */
export function buildBestSignals({ weights }: Pick<LossTerms, 'weights'>): MetricValues {
  const best = { eval: 1, critique: 1, budget_remaining_pct: 100, status: 'complete' }
  const names = Object.keys(weights).map(name => SIGNALS.get(name) ?? name)
  return Object.fromEntries(names.map(name => [name, new Map(Object.entries(best)).get(name) ?? 0]))
}

const PRINTED_SIGNALS = ['eval', 'critique', 'gate_rejections', 'max_rejections', 'budget_remaining_pct']

/** The components that a harness prints itself, apart from the metrics that are none. */
export function splitPrintedSignals(
  printed: Readonly<MetricValues>,
  { weights }: Pick<LossTerms, 'weights'>,
): { signals: RunSignals; metrics: MetricValues } {
  const { status, ...rest } = printed
  const own = new Set([...PRINTED_SIGNALS, ...Object.keys(weights)])
  const entries = Object.entries(rest)
  const numbers = Object.fromEntries(
    entries.map(([name, value]) => [name, own.has(name) ? toFinite(value) : null]),
  )
  return {
    signals: { numbers: omitNull(numbers), status: typeof status === 'string' ? status : null },
    metrics: Object.fromEntries(entries.filter(([name]) => !own.has(name))),
  }
}

/** A printed value replaces the value from the run's files. */
export function mergeSignals(files: RunSignals, printed: RunSignals): RunSignals {
  return { numbers: { ...files.numbers, ...printed.numbers }, status: printed.status ?? files.status }
}

function computeLineMean(lines: readonly Record<string, unknown>[], kind: string): number | null {
  const scores = lines.flatMap(line => (line['kind'] === kind ? (toFinite(line['score']) ?? []) : []))
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length
}

function readNested(record: Record<string, unknown>, section: string, key: string): number | null {
  const inner = record[section]
  return isMapping(inner) ? toFinite(inner[key]) : null
}

function omitNull(numbers: Readonly<Record<string, number | null>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(numbers).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  )
}
