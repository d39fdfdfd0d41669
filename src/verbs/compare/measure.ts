import { assess } from '../../decide/assess.ts'
import type { Assessment } from '../../decide/assessment.ts'
import type { PairedCase, PairedRule } from '../../decide/paired/rule.ts'
import { type Calibration, type Campaign, emptyCampaign } from '../../model/campaign.ts'
import { experimentName } from '../../model/ids.ts'
import { askedIn, type Order, type PairedTerms, type StopRule } from '../../model/order.ts'
import { type Job, jobOf, measuredIn } from '../../model/pairs.ts'
import type { Execution, Report } from '../../model/report.ts'
import { bootId } from '../../measure/boot-id.ts'
import type { Request } from '../../plan/orders.ts'
import { pairedStop } from '../../plan/paired-order.ts'
import type { Trial } from '../../report/check-trial.ts'
import type { ComparedSides } from './sides.ts'
import { notPassed } from '../not-passed.ts'
import { tryHarness, tryNoise } from '../trial.ts'
import { measureTrial, type Trying } from '../trying.ts'
import { unrecordedOrder } from '../trial-order.ts'

/** The second of the two, by the only kind of name that orders have for it. */
export const HEAD = experimentName(1)
const ATTEMPTS = 3

/** What is known of a comparison at any moment; an end that comes early finds it here. */
export interface ComparisonSoFar {
  trial: Trial | null
  paired: PairedCase | null
  assessment: Assessment | null
  /** The last report of the two sides. */
  report: Report | null
  executions: { calibration: number; comparison: number }
}

export interface Comparing {
  trying: Trying
  sides: ComparedSides
  known: ComparisonSoFar
  /** Asked once between calibration and the first pair of the two. */
  forecast: (trial: Trial) => Promise<void>
  /** A job of the two sides is about to begin. */
  begins: (job: number) => void
}

export function nothingYet(): ComparisonSoFar {
  const executions = { calibration: 0, comparison: 0 }
  return { trial: null, paired: null, assessment: null, report: null, executions }
}

/** The base against itself, and then the two against each other: as a campaign would, and nothing is written. */
export async function measureComparison(comparing: Comparing): Promise<void> {
  const { known, forecast } = comparing
  const trying = counting(comparing)
  known.trial = await tryHarness(trying)
  await forecast(known.trial)
  if (known.trial.calibration?.deterministic) {
    known.assessment = await once(comparing)
    if (!known.assessment.determinism_lost) return
    known.trial = await tryNoise(trying, `${known.assessment.reason}; `)
    await forecast(known.trial)
  }
  known.assessment = await byPairs(comparing)
}

function counting({ trying, known }: Comparing): Trying {
  let before = 0
  const onExecution = async (executions: readonly Execution[]) => {
    if (executions.length === 1) before = known.executions.calibration
    known.executions.calibration = before + executions.length
    await trying.more?.onExecution?.([...executions])
  }
  return { ...trying, more: { ...trying.more, onExecution } }
}

function campaignOf({ trying, known }: Comparing): Campaign {
  const found = known.trial?.calibration ?? null
  const calibration: Calibration | null = found === null ? null : { ...found, order: '' }
  return { ...emptyCampaign(), incumbent: trying.base, calibration }
}

function request({ sides }: Comparing, stop: StopRule, jobs: readonly Job[]): Omit<Request, 'cause'> {
  const { commit: head, tree } = sides.head.point
  const carried = jobs.length === 0 ? {} : { [HEAD]: [...jobs] }
  return {
    purpose: 'experiment',
    round: 0,
    attempt: 1,
    candidates: [{ label: HEAD, head, tree }],
    stop,
    carried,
  }
}

async function once(comparing: Comparing): Promise<Assessment> {
  const { spec } = comparing.trying
  const { scale = 'log' } = comparing.known.trial?.calibration ?? {}
  const stop: StopRule = { rule: 'once', min_effect: spec.evidence.min_effect ?? 0, scale }
  return assessed(comparing, stop, [])
}

/** One job after the other, each a new build, until the rule says that it is decided (decision.md 3.3). */
async function byPairs(comparing: Comparing): Promise<Assessment> {
  const { spec } = comparing.trying
  const rule = ruleOf(comparing)
  const terms = rule.terms[HEAD]
  if (terms === undefined) throw new TypeError('the rule has no terms')
  const jobs: Job[] = []
  for (;;) {
    comparing.known.paired = { spec, rule, terms, jobs: [...jobs] }
    comparing.begins(jobs.length + 1)
    const assessment = await assessed(comparing, rule, jobs)
    jobs.push(...comparing.known.paired.jobs.slice(jobs.length))
    if (assessment.outcome !== 'promising') return assessment
  }
}

function ruleOf(comparing: Comparing): PairedRule {
  const { spec } = comparing.trying
  const rule = pairedStop({ campaign: campaignOf(comparing), spec, singleMachine: true }, [])
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
  return { ...rule, terms: { [HEAD]: terms } }
}

/** What fails on the base's side, or on the runner's, is nobody's verdict and is measured again. */
async function assessed(comparing: Comparing, stop: StopRule, jobs: readonly Job[]): Promise<Assessment> {
  const { trying, known } = comparing
  for (let attempt = 1; ; attempt++) {
    const order = await unrecordedOrder(trying, request(comparing, stop, jobs))
    const report = await measureTrial(watched(comparing, order), order)
    known.report = report
    takeIn(known, order, { executions: report.executions, runner: measuredIn(report).runner })
    const { spec } = trying
    const assessment = assess({ spec, order, report, label: HEAD, baseline: null })
    if (!assessment.retry) return assessment
    if (attempt >= ATTEMPTS) throw await notPassed(trying, assessment.reason, report)
  }
}

function watched(comparing: Comparing, order: Order): Trying {
  const { trying, known } = comparing
  const before = known.executions.comparison
  const onExecution = async (executions: Execution[]) => {
    known.executions.comparison = before + executions.length
    takeIn(known, order, { executions, runner: bootId() })
  }
  return { ...trying, more: { ...trying.more, onExecution } }
}

/** The pairs of the job under way beside those of the jobs before it. */
function takeIn(known: ComparisonSoFar, order: Order, measured: Parameters<typeof jobOf>[1]): void {
  if (known.paired === null) return
  const job = jobOf(askedIn(order), measured, HEAD)
  const carried = order.carried[HEAD] ?? []
  known.paired = { ...known.paired, jobs: job.pairs.length === 0 ? carried : [...carried, job] }
}
