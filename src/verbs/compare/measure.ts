import { assessCandidate } from '../../decide/assess.ts'
import type { Assessment } from '../../decide/assessment.ts'
import type { PairedCase, PairedRule } from '../../decide/paired/rule.ts'
import { type Calibration, type Campaign, createEmptyCampaign } from '../../model/campaign.ts'
import { formatExperimentId } from '../../model/ids.ts'
import { toPairRequest, type Order, type PairedTerms, type StopRule } from '../../model/order.ts'
import { type PairJob, buildPairJob, toMeasuredRun } from '../../model/pairs.ts'
import type { Execution, Report } from '../../model/report.ts'
import { getBootId } from '../../measure/boot-id.ts'
import type { OrderRequest } from '../../plan/orders.ts'
import { buildPairedRule } from '../../plan/paired-order.ts'
import type { HarnessTrial } from '../../report/check-trial.ts'
import type { ComparedSides } from './sides.ts'
import { createNotPassedError } from '../not-passed.ts'
import { tryHarness, tryNoise } from '../trial.ts'
import { measureTrial, type HarnessRun } from '../trying.ts'
import { createUnrecordedOrder } from '../trial-order.ts'

/** The second of the two, by the only kind of name that orders have for it. */
export const HEAD_LABEL = formatExperimentId(1)
const ATTEMPTS = 3

/** What is known of a comparison at any moment; an end that comes early finds it here. */
export interface ComparisonProgress {
  trial: HarnessTrial | null
  paired: PairedCase | null
  assessment: Assessment | null
  /** The last report of the two sides. */
  report: Report | null
  executions: { calibration: number; comparison: number }
}

export interface ComparisonRun {
  trying: HarnessRun
  sides: ComparedSides
  known: ComparisonProgress
  /** Asked once between calibration and the first pair of the two. */
  forecast: (trial: HarnessTrial) => Promise<void>
  /** A job of the two sides is about to begin. */
  begins: (job: number) => void
}

export function createComparisonProgress(): ComparisonProgress {
  const executions = { calibration: 0, comparison: 0 }
  return { trial: null, paired: null, assessment: null, report: null, executions }
}

/** The base against itself, and then the two against each other: as a campaign would, and nothing is written. */
export async function measureComparison(comparing: ComparisonRun): Promise<void> {
  const { known, forecast } = comparing
  const trying = countExecutions(comparing)
  known.trial = await tryHarness(trying)
  await forecast(known.trial)
  if (known.trial.calibration?.deterministic) {
    known.assessment = await compareOnce(comparing)
    if (!known.assessment.determinism_lost) return
    known.trial = await tryNoise(trying, `${known.assessment.reason}; `)
    await forecast(known.trial)
  }
  known.assessment = await comparePairs(comparing)
}

function countExecutions({ trying, known }: ComparisonRun): HarnessRun {
  let before = 0
  const onExecution = async (executions: readonly Execution[]) => {
    if (executions.length === 1) before = known.executions.calibration
    known.executions.calibration = before + executions.length
    await trying.more?.onExecution?.([...executions])
  }
  return { ...trying, more: { ...trying.more, onExecution } }
}

function buildTrialCampaign({ trying, known }: ComparisonRun): Campaign {
  const found = known.trial?.calibration ?? null
  const calibration: Calibration | null = found === null ? null : { ...found, order: '' }
  return { ...createEmptyCampaign(), incumbent: trying.base, calibration }
}

function buildOrderRequest(
  { sides }: ComparisonRun,
  stop: StopRule,
  jobs: readonly PairJob[],
): Omit<OrderRequest, 'cause'> {
  const { commit: head, tree } = sides.head.point
  const carried = jobs.length === 0 ? {} : { [HEAD_LABEL]: [...jobs] }
  return {
    purpose: 'experiment',
    round: 0,
    attempt: 1,
    candidates: [{ label: HEAD_LABEL, head, tree }],
    stop,
    carried,
  }
}

async function compareOnce(comparing: ComparisonRun): Promise<Assessment> {
  const { spec } = comparing.trying
  const { scale = 'log' } = comparing.known.trial?.calibration ?? {}
  const stop: StopRule = { rule: 'once', min_effect: spec.evidence.min_effect ?? 0, scale }
  return measureAndAssess(comparing, stop, [])
}

/** One job after the other, each a new build, until the rule says that it is decided (decision.md 3.3). */
async function comparePairs(comparing: ComparisonRun): Promise<Assessment> {
  const { spec } = comparing.trying
  const rule = buildComparisonRule(comparing)
  const terms = rule.terms[HEAD_LABEL]
  if (terms === undefined) throw new TypeError('the rule has no terms')
  const jobs: PairJob[] = []
  for (;;) {
    comparing.known.paired = { spec, rule, terms, jobs: [...jobs] }
    comparing.begins(jobs.length + 1)
    const assessment = await measureAndAssess(comparing, rule, jobs)
    jobs.push(...comparing.known.paired.jobs.slice(jobs.length))
    if (assessment.outcome !== 'promising') return assessment
  }
}

function buildComparisonRule(comparing: ComparisonRun): PairedRule {
  const { spec } = comparing.trying
  const rule = buildPairedRule({ campaign: buildTrialCampaign(comparing), spec, singleMachine: true }, [])
  const { alpha: level, max_jobs } = spec.evidence
  const terms: PairedTerms = {
    as: 'idea',
    level,
    share: 0,
    max_jobs,
    // Many ask whether it is worse: a loss is looked for as long as a gain.
    give_up: 'equal',
    variant: 0,
    touched: null,
  }
  return { ...rule, terms: { [HEAD_LABEL]: terms } }
}

/** What fails on the base's side, or on the runner's, is nobody's verdict and is measured again. */
async function measureAndAssess(
  comparing: ComparisonRun,
  stop: StopRule,
  jobs: readonly PairJob[],
): Promise<Assessment> {
  const { trying, known } = comparing
  for (let attempt = 1; ; attempt++) {
    const order = await createUnrecordedOrder(trying, buildOrderRequest(comparing, stop, jobs))
    const report = await measureTrial(watchExecutions(comparing, order), order)
    known.report = report
    recordPairs(known, order, { executions: report.executions, runner: toMeasuredRun(report).runner })
    const { spec } = trying
    const assessment = assessCandidate({ spec, order, report, label: HEAD_LABEL, baseline: null })
    if (!assessment.retry) return assessment
    if (attempt >= ATTEMPTS) throw await createNotPassedError(trying, assessment.reason, report)
  }
}

function watchExecutions(comparing: ComparisonRun, order: Order): HarnessRun {
  const { trying, known } = comparing
  const before = known.executions.comparison
  const onExecution = async (executions: Execution[]) => {
    known.executions.comparison = before + executions.length
    recordPairs(known, order, { executions, runner: getBootId() })
  }
  return { ...trying, more: { ...trying.more, onExecution } }
}

/** The pairs of the job under way beside those of the jobs before it. */
function recordPairs(
  known: ComparisonProgress,
  order: Order,
  measured: Parameters<typeof buildPairJob>[1],
): void {
  if (known.paired === null) return
  const job = buildPairJob(toPairRequest(order), measured, HEAD_LABEL)
  const carried = order.carried[HEAD_LABEL] ?? []
  known.paired = { ...known.paired, jobs: job.pairs.length === 0 ? carried : [...carried, job] }
}
