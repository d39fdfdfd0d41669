import type { Assessment } from '../decide/assessment.ts'
import { listObjectives } from '../decide/objectives.ts'
import { renderEvidenceLine } from '../decide/paired/evidence-line.ts'
import type { PairedCase } from '../decide/paired/rule.ts'
import { evaluatePairs } from '../decide/paired/standing.ts'
import type { FailedOutput } from '../model/failed-output.ts'
import type { Noise } from '../model/campaign.ts'
import type { Point } from '../model/ids.ts'
import { EXIT_CODES } from '../model/outcome.ts'
import { getAggregation } from '../model/aggregate.ts'
import { aggregateReadings } from '../model/pairs.ts'
import { type MetricValues, type Report, type Side, aggregateMetrics } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import type { HarnessTrial } from './check-trial.ts'
import { renderComparisonSentence } from './compare-sentence.ts'
import { computePairedNumbers } from './measured-effect.ts'

/** All that is known of two trees that were compared, with no ledger behind it. */
export interface ComparisonResult {
  spec: Spec
  base: { name: string; point: Point }
  head: { name: string; point: Point }
  /** What orders call the second. */
  label: Side
  trial: Pick<HarnessTrial, 'calibration' | 'prospects'> | null
  paired: PairedCase | null
  assessment: Assessment | null
  report: Report | null
  executions: { calibration: number; comparison: number }
  /** Spent measuring: waiting for other processes or for an answer is not counted. */
  seconds: number
  /** What --max-minutes allowed; null where it was not given. */
  minutes: number | null
  end: CompareEnd
  /** Of a second side that is broken: what was run, what it printed last, what would help. */
  failure: CompareFailure | null
}

export interface CompareFailure {
  command?: string
  output?: FailedOutput
  fix?: string
}

/** decided: the rule came to its end; the others came first. */
export type CompareEnd = 'decided' | 'interrupted' | 'time' | 'declined' | 'same'

export type CompareVerdict = 'better' | 'no gain' | 'worse' | 'not proven' | 'refused' | 'broken'

const INTERRUPTED = 130

/** What `winnow compare --json` prints, and all that its words are made of. */
export interface CompareView {
  verdict: CompareVerdict
  sentence: string
  /** What the sentence rests on; null where no pair did. */
  evidence_line: string | null
  base: SideView
  head: SideView
  metric: { name: string; direction: 'minimize' | 'maximize' }
  compared: 'pairs' | 'once' | null
  scale: 'log' | 'linear' | null
  min_effect: number | null
  /** Positive is better; under log a difference of natural logarithms. */
  effect: number | null
  interval: readonly [number, number] | null
  evidence: { reached: number; needed: number } | null
  pairs: number
  jobs: number
  executions: ComparisonResult['executions']
  seconds: number
  noise: Noise | null
  failure: { command: string | null; output: FailedOutput | null; fix: string | null } | null
}

interface SideView {
  name: string
  commit: string
  tree: string
  metrics: MetricValues
}

export function buildCompareView(compared: ComparisonResult): CompareView {
  const { spec, trial, paired, executions, seconds } = compared
  const [{ name, direction }] = listObjectives(spec.metric)
  const measured = paired !== null && paired.jobs.length > 0 ? paired : null
  const standing = measured === null ? null : evaluatePairs(measured)
  const calibration = trial?.calibration ?? null
  const verdict = toCompareVerdict(compared)
  return {
    verdict,
    sentence: renderComparisonSentence(compared, verdict, standing),
    evidence_line: measured && standing && renderEvidenceLine(measured, standing, 'pairs'),
    base: buildSideView(compared, 'base'),
    head: buildSideView(compared, 'head'),
    metric: { name, direction },
    compared: toComparedMethod(compared),
    scale: calibration?.scale ?? null,
    min_effect: paired?.rule.min_effect ?? spec.evidence.min_effect,
    ...(measured === null || standing === null ? NO_PAIRS : computePairedNumbers(measured, standing)),
    pairs: measured?.jobs.flatMap(({ pairs }) => pairs).length ?? 0,
    jobs: measured?.jobs.length ?? 0,
    executions,
    seconds,
    noise: calibration?.noise ?? null,
    failure: toFailureView(compared),
  }
}

const NO_PAIRS = { effect: null, interval: null, evidence: null }

function toComparedMethod({ paired, report }: ComparisonResult): CompareView['compared'] {
  if (paired !== null) return paired.jobs.length === 0 ? null : 'pairs'
  return report === null ? null : 'once'
}

function buildSideView(compared: ComparisonResult, which: 'base' | 'head'): SideView {
  const { name, point } = compared[which]
  return { name, ...point, metrics: collectSideMetrics(compared, which) }
}

/** Both sides come from the pairs that the effect comes from: those of all jobs, not of the last one. */
function collectSideMetrics(
  { label, report, spec, paired }: ComparisonResult,
  which: 'base' | 'head',
): MetricValues {
  const aggregation = getAggregation(spec)
  if (paired !== null && paired.jobs.length > 0)
    return aggregateReadings(paired.jobs, which === 'base' ? 'base' : 'candidate', aggregation)
  return report === null ? {} : aggregateMetrics(report, which === 'base' ? 'base' : label, aggregation)
}

function toCompareVerdict({ end, assessment }: ComparisonResult): CompareVerdict {
  if (end === 'same') return 'no gain'
  if (assessment === null) return 'not proven'
  switch (assessment.outcome) {
    case 'eligible':
      return 'better'
    case 'dropped':
      return assessment.worse ? 'worse' : 'no gain'
    case 'inconclusive':
    case 'promising':
      return 'not proven'
    case 'refused':
      return 'refused'
    case 'censored':
    case 'degenerate':
    case 'error':
    case 'timeout':
      return 'broken'
    default:
      return assessment.outcome satisfies never
  }
}

/** What a script learns of it (design section 9). */
export function toCompareExitCode({ verdict }: CompareView, end: CompareEnd): number {
  if (end === 'interrupted' || end === 'declined') return INTERRUPTED
  return EXIT_CODES[verdict === 'better' ? 'kept' : verdict]
}

function toFailureView({ failure }: ComparisonResult): CompareView['failure'] {
  if (failure === null) return null
  const { command = null, output = null, fix = null } = failure
  return { command, output, fix }
}
