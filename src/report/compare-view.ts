import type { Assessment } from '../decide/assessment.ts'
import { objectivesOf } from '../decide/objectives.ts'
import { evidenceLine } from '../decide/paired/evidence-line.ts'
import type { PairedCase } from '../decide/paired/rule.ts'
import { standingOf } from '../decide/paired/standing.ts'
import type { FailedOutput } from '../model/failed-output.ts'
import type { Noise } from '../model/campaign.ts'
import type { Point } from '../model/ids.ts'
import { EXIT_CODES } from '../model/outcome.ts'
import { aggregationOf } from '../model/aggregate.ts'
import { typicalReadings } from '../model/pairs.ts'
import { type MetricValues, type Report, type Side, typicalMetrics } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import type { Trial } from './check-trial.ts'
import { compareSentence } from './compare-sentence.ts'
import { pairedNumbers } from './measured-effect.ts'

/** All that is known of two trees that were compared, with no ledger behind it. */
export interface Compared {
  spec: Spec
  base: { name: string; point: Point }
  head: { name: string; point: Point }
  /** What orders call the second. */
  label: Side
  trial: Pick<Trial, 'calibration' | 'prospects'> | null
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

export type CompareWord = 'better' | 'no gain' | 'worse' | 'not proven' | 'refused' | 'broken'

const INTERRUPTED = 130

/** What `winnow compare --json` prints, and all that its words are made of. */
export interface CompareView {
  verdict: CompareWord
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
  executions: Compared['executions']
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

export function compareView(compared: Compared): CompareView {
  const { spec, trial, paired, executions, seconds } = compared
  const [{ name, direction }] = objectivesOf(spec.metric)
  const measured = paired !== null && paired.jobs.length > 0 ? paired : null
  const standing = measured === null ? null : standingOf(measured)
  const calibration = trial?.calibration ?? null
  const verdict = wordOf(compared)
  return {
    verdict,
    sentence: compareSentence(compared, verdict, standing),
    evidence_line: measured && standing && evidenceLine(measured, standing, 'pairs'),
    base: sideView(compared, 'base'),
    head: sideView(compared, 'head'),
    metric: { name, direction },
    compared: wayOf(compared),
    scale: calibration?.scale ?? null,
    min_effect: paired?.rule.min_effect ?? spec.evidence.min_effect,
    ...(measured === null || standing === null ? NO_PAIRS : pairedNumbers(measured, standing)),
    pairs: measured?.jobs.flatMap(({ pairs }) => pairs).length ?? 0,
    jobs: measured?.jobs.length ?? 0,
    executions,
    seconds,
    noise: calibration?.noise ?? null,
    failure: failureView(compared),
  }
}

const NO_PAIRS = { effect: null, interval: null, evidence: null }

function wayOf({ paired, report }: Compared): CompareView['compared'] {
  if (paired !== null) return paired.jobs.length === 0 ? null : 'pairs'
  return report === null ? null : 'once'
}

function sideView(compared: Compared, which: 'base' | 'head'): SideView {
  const { name, point } = compared[which]
  return { name, ...point, metrics: metricsOf(compared, which) }
}

/** Both sides come from the pairs that the effect comes from: those of all jobs, not of the last one. */
function metricsOf({ label, report, spec, paired }: Compared, which: 'base' | 'head'): MetricValues {
  const aggregation = aggregationOf(spec)
  if (paired !== null && paired.jobs.length > 0)
    return typicalReadings(paired.jobs, which === 'base' ? 'base' : 'candidate', aggregation)
  return report === null ? {} : typicalMetrics(report, which === 'base' ? 'base' : label, aggregation)
}

function wordOf({ end, assessment }: Compared): CompareWord {
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
export function compareExit({ verdict }: CompareView, end: CompareEnd): number {
  if (end === 'interrupted' || end === 'declined') return INTERRUPTED
  return EXIT_CODES[verdict === 'better' ? 'kept' : verdict]
}

function failureView({ failure }: Compared): CompareView['failure'] {
  if (failure === null) return null
  const { command = null, output = null, fix = null } = failure
  return { command, output, fix }
}
