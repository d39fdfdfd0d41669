import { experimentIdSchema } from '../model/ids.ts'
import { type Execution, type Report, type Side, toFinite } from '../model/report.ts'
import { TIMED_METRICS } from '../spec/schema-values.ts'
import type { Spec } from '../spec/schema.ts'
import { listDecisiveMetrics } from './metrics.ts'

/**
 * A count of steps does not see work that a library does for the code, nor a clock in the program what happens before it
 * starts. winnow measures processor time, memory and the time that passes of each whole run anyway. Other programs of the
 * machine change the last one most, so it has to differ by a second.
 */
const COSTS = [
  { metric: 'cpu_seconds', least: 0.1, unit: 's of processor time' },
  { metric: 'wall_seconds', least: 1, unit: 's' },
  { metric: 'max_rss_mb', least: 64, unit: 'MB of memory' },
] as const

/** Each run of the candidate has to cost more than this share of each run of the base. */
const MOST_SHARE = 2
const LEAST_RUNS = 2

/** Null if the candidate's runs cost about what the base's cost in what no metric of the spec measures. */
export function describeUnseenCost(
  spec: Pick<Spec, 'metric' | 'policy'>,
  { executions }: Pick<Report, 'executions'>,
  label: Side,
): string | null {
  if (!experimentIdSchema.safeParse(label).success) return null
  const select = (side: Side) => executions.filter(run => run.side === side && isWhole(run))
  const runs = { base: select('base'), own: select(label) }
  const decisive = listDecisiveMetrics(spec)
  const isTimeMeasured = decisive.some(name => TIMED_METRICS.has(name) && name !== 'max_rss_mb')
  for (const { metric, least, unit } of COSTS) {
    if (metric === 'max_rss_mb' ? decisive.includes(metric) : isTimeMeasured) continue
    const base = readAll(runs.base, metric)
    const own = readAll(runs.own, metric)
    if (base === null || own === null) continue
    const [most, fewest] = [Math.max(...base), Math.min(...own)]
    if (fewest <= MOST_SHARE * most || fewest - most < least) continue
    return `each run takes at least ${format(fewest)} ${unit}, and at most ${format(most)} on the base`
  }
  return null
}

function isWhole({ role, status }: Execution): boolean {
  return status === 'ok' && role !== 'smoke' && role !== 'holdout'
}

/** Null where a run has no such number, or there are too few. */
function readAll(runs: readonly Execution[], metric: string): number[] | null {
  const values = runs.map(({ metrics }) => toFinite(metrics[metric]))
  const numbers = values.filter(value => value !== null)
  return numbers.length < Math.max(LEAST_RUNS, values.length) ? null : numbers
}

function format(value: number): string {
  return `${Number(value.toPrecision(3))}`
}
