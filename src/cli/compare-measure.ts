import { assessCandidate } from '../decide/assess.ts'
import type { Assessment } from '../decide/assessment.ts'
import { buildNoiseJob, CALIBRATION_JOBS } from '../decide/calibration.ts'
import type { PairedCase, PairedRule } from '../decide/paired/evaluate.ts'
import { formatCount } from '../decide/wording.ts'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner } from '../git/runner.ts'
import { compareTrees } from '../git/tree.ts'
import { listUncommittedPaths, readWorkTree } from '../git/work-tree.ts'
import { getBootId } from '../measure/machine.ts'
import { type Calibration, type Campaign, createEmptyCampaign } from '../model/campaign.ts'
import { formatExperimentId, type Point } from '../model/ids.ts'
import { type Order, type PairedTerms, type StopRule, toPairRequest } from '../model/order.ts'
import { buildPairJob, type PairJob, toMeasuredRun } from '../model/pairs.ts'
import type { Execution, Report, Side } from '../model/report.ts'
import { type OrderRequest, toBaseAsCandidate } from '../plan/orders.ts'
import { buildPairedRule } from '../plan/paired-order.ts'
import type { HarnessTrial } from '../report/check-trial.ts'
import { WORK_TREE } from '../report/compare.ts'
import { suggestWord } from '../spec/nearest-word.ts'
import { formatFew } from './default-branch.ts'
import { createNotPassedError } from './harness-failure.ts'
import { createUnrecordedOrder, type HarnessRun, measureTrial } from './harness-run.ts'
import { measureTrialOrder, readNoiseJobs, requireSteadyBase, tryWhetherRepeats } from './trial.ts'
import type { Call } from './verb.ts'

/** Orders name candidates by experiment id, so the second side needs one. */
export const HEAD_LABEL = formatExperimentId(1)

const ATTEMPTS = 3

/** Partial results, so that an interrupted comparison can still report. */
export interface ComparisonProgress {
  trial: HarnessTrial | null
  paired: PairedCase | null
  assessment: Assessment | null
  report: Report | null
  /** `saved`: runs of the base that served both comparisons. */
  executions: { calibration: number; comparison: number; saved: number }
}

interface ComparisonRun {
  harness: HarnessRun
  sides: ComparedSides
  progress: ComparisonProgress
  /** Called once the noise is known; `goesOn` is false if the head is decided by then. */
  onForecast: (trial: HarnessTrial, goesOn?: boolean) => Promise<void>
  /** Called before each job. */
  onJobStart: (job: number) => void
}

interface ComparedSide {
  name: string
  point: Point
}

export interface ComparedSides {
  base: ComparedSide
  head: ComparedSide
  differing: string[]
  /** Notes for the person about changes that are, or are not, measured. */
  notes: string[]
}

type HeadSide = Pick<ComparedSides, 'head' | 'notes'>

export function createComparisonProgress(): ComparisonProgress {
  const executions = { calibration: 0, comparison: 0, saved: 0 }
  return { trial: null, paired: null, assessment: null, report: null, executions }
}

/**
 * Compares the base with a copy of itself and with the head in the same jobs, so that both comparisons share the
 * runs of the base. Like a campaign that records nothing.
 */
export async function measureComparison(comparison: ComparisonRun): Promise<void> {
  const { progress, onForecast } = comparison
  const harness = countExecutions(comparison)
  const repeats = await tryWhetherRepeats(harness)
  if (!('trial' in repeats)) {
    progress.assessment = await compareInPairs(comparison, repeats.reasonPrefix)
    return
  }
  progress.trial = repeats.trial
  await onForecast(progress.trial)
  const once = await compareOnce(comparison)
  if (!once.determinism_lost) {
    progress.assessment = once
    return
  }
  progress.trial = null
  progress.report = null
  progress.assessment = await compareInPairs(comparison, `${once.reason}; `)
}

function countExecutions({ harness, progress }: ComparisonRun): HarnessRun {
  let before = 0
  const onExecution = async (executions: readonly Execution[]) => {
    if (executions.length === 1) before = progress.executions.calibration
    progress.executions.calibration = before + executions.length
    await harness.more?.onExecution?.([...executions])
  }
  return { ...harness, more: { ...harness.more, onExecution } }
}

async function compareOnce(comparison: ComparisonRun): Promise<Assessment> {
  const { spec } = comparison.harness
  const { scale = 'log', tolerance } = comparison.progress.trial?.calibration ?? {}
  const allowed = tolerance === undefined ? {} : { tolerance }
  const stop: StopRule = { rule: 'once', min_effect: spec.evidence.min_effect ?? 0, scale, ...allowed }
  return (await measureAndAssess(comparison, stop, { jobs: [], copies: null })).assessment
}

// Comparison in pairs

interface HeadComparison {
  rule: PairedRule
  jobs: PairJob[]
  /** The assessment after the latest job. Null before the first job. */
  assessment: Assessment | null
}

/**
 * Measures job after job, each with a new build, until the rule decides. No answer counts before
 * the base was not told apart from its copy; a suspicion is settled before the head is measured further.
 */
async function compareInPairs(comparison: ComparisonRun, reasonPrefix: string): Promise<Assessment> {
  const { progress, onForecast } = comparison
  const copies: PairJob[] = []
  let head = startHeadComparison(comparison, null)
  for (;;) {
    const isCalibrated = progress.trial !== null
    const isSuspected = !isCalibrated && copies.length >= CALIBRATION_JOBS
    // The suspicion may be about a place that the head had, so its pairs are measured again.
    if (isSuspected) head = startHeadComparison(comparison, head.rule.scale)
    const decided = getDecision(head)
    if (decided !== null && (isCalibrated || BROKEN_IN_ITSELF.has(decided.outcome))) return decided
    const isAlone = decided !== null || isSuspected
    const measured = isAlone
      ? await measureCopy(comparison, copies)
      : await measureHead(comparison, head, isCalibrated ? null : copies)
    if (measured === null) continue
    const trial = await readCopies(comparison, { ...measured, copies, reasonPrefix })
    if (trial === null) continue
    progress.trial = trial
    const scale = trial.calibration?.scale ?? head.rule.scale
    // The scale follows from values of the base alone, so a new start cannot favour the head.
    if (scale !== head.rule.scale) head = startHeadComparison(comparison, scale)
    await onForecast(trial, getDecision(head) === null)
  }
}

function getDecision({ assessment }: HeadComparison): Assessment | null {
  return assessment?.outcome === 'promising' ? null : assessment
}

/** Such a head fails on both sides' noise alike: a gate, an answer or a protected file does not depend on it. */
const BROKEN_IN_ITSELF: ReadonlySet<Assessment['outcome']> = new Set(['degenerate', 'refused'])

function startHeadComparison(comparison: ComparisonRun, scale: 'log' | 'linear' | null): HeadComparison {
  return { rule: buildComparisonRule(comparison, scale), jobs: [], assessment: null }
}

interface MeasuredCopy {
  order: Order
  report: Report
}

/** Returns the order if the copy ran in it. */
async function measureHead(
  comparison: ComparisonRun,
  head: HeadComparison,
  copies: readonly PairJob[] | null,
): Promise<MeasuredCopy | null> {
  const { progress, harness } = comparison
  progress.paired = {
    spec: harness.spec,
    rule: head.rule,
    terms: getHeadTerms(head.rule),
    jobs: [...head.jobs],
  }
  comparison.onJobStart(head.jobs.length + 1)
  const { assessment, ...measured } = await measureAndAssess(comparison, head.rule, {
    jobs: head.jobs,
    copies,
  })
  head.jobs = [...progress.paired.jobs]
  head.assessment = assessment
  return copies === null || BROKEN_IN_ITSELF.has(assessment.outcome) ? null : measured
}

async function measureCopy(comparison: ComparisonRun, copies: readonly PairJob[]): Promise<MeasuredCopy> {
  const harness = countExecutions(comparison)
  const measured = await measureTrialOrder(harness, 'noise', copies)
  await requireSteadyBase(harness, measured.report, copies)
  return measured
}

/** Null while more jobs of the base with its copy are needed. Throws where no comparison can rest on them. */
async function readCopies(
  { harness }: ComparisonRun,
  measured: MeasuredCopy & { copies: PairJob[]; reasonPrefix: string },
): Promise<HarnessTrial | null> {
  const { order, report, copies, reasonPrefix } = measured
  copies.push(buildNoiseJob(harness.spec, order, report))
  return readNoiseJobs(harness, { report, jobs: copies, reasonPrefix })
}

function buildComparisonRule(comparison: ComparisonRun, scale: 'log' | 'linear' | null): PairedRule {
  const { spec, base } = comparison.harness
  const calibration: Calibration | null =
    scale === null ? null : { order: '', deterministic: false, scale, reason: '', noise: null }
  const campaign: Campaign = { ...createEmptyCampaign(), incumbent: base, calibration }
  const rule = buildPairedRule({ campaign, spec, singleMachine: true }, [])
  const { alpha, max_jobs } = spec.evidence
  const terms: PairedTerms = {
    as: 'idea',
    alpha,
    alpha_share: 0,
    max_jobs,
    // People often ask whether a change is worse, so search for a loss as long as for a gain.
    give_up: 'equal',
    variant: 0,
    touched: null,
  }
  // compare keeps nothing. It shows the mean beside the median instead of checking it.
  const { keep_check: _, ...compared } = rule
  return { ...compared, terms: { [HEAD_LABEL]: terms } }
}

function getHeadTerms({ terms }: PairedRule): PairedTerms {
  const found = terms[HEAD_LABEL]
  if (found === undefined) throw new TypeError('the rule has no terms')
  return found
}

/** `copies`: earlier jobs of the base with its copy, which also runs in this one; null without a copy. */
interface EarlierJobs {
  jobs: readonly PairJob[]
  copies: readonly PairJob[] | null
}

/** Measures again after a failure of the base or of the runner, which says nothing about the candidate. */
async function measureAndAssess(
  comparison: ComparisonRun,
  stop: StopRule,
  earlier: EarlierJobs,
): Promise<MeasuredCopy & { assessment: Assessment }> {
  const { harness, progress } = comparison
  const { spec } = harness
  for (let attempt = 1; ; attempt++) {
    const order = await createUnrecordedOrder(harness, buildOrderRequest(comparison, stop, earlier))
    const report = await measureTrial(watchExecutions(comparison, order), order)
    progress.report = report
    recordPairs(progress, order, { executions: report.executions, runner: toMeasuredRun(report).runner })
    const assessment = assessCandidate({ spec, order, report, label: HEAD_LABEL, baseline: null })
    const isAboutCopy = report.runner_error === null && report.tampered?.during !== HEAD_LABEL
    if (earlier.copies !== null && isAboutCopy) await requireSteadyBase(harness, report, earlier.copies)
    if (!assessment.retry) return { order, report, assessment }
    if (attempt >= ATTEMPTS) throw await createNotPassedError(harness, assessment.reason, report)
  }
}

function buildOrderRequest(
  { sides, harness }: ComparisonRun,
  stop: StopRule,
  { jobs, copies }: EarlierJobs,
): Omit<OrderRequest, 'cause'> {
  const { commit: head, tree } = sides.head.point
  const earlier_jobs = jobs.length === 0 ? {} : { [HEAD_LABEL]: [...jobs] }
  const own = { label: HEAD_LABEL, head, tree }
  const copy = toBaseAsCandidate(harness.base)
  return {
    purpose: 'experiment',
    round: 0,
    attempt: 1,
    // The two swap their places from job to job, so that a difference between places shows in the copy as well.
    candidates: copies === null ? [own] : copies.length % 2 === 0 ? [own, copy] : [copy, own],
    stop,
    earlier_jobs,
  }
}

function watchExecutions(comparison: ComparisonRun, order: Order): HarnessRun {
  const { harness, progress } = comparison
  const before = { ...progress.executions }
  const onExecution = async (executions: Execution[]) => {
    const count = (side: Side) => executions.filter(each => each.side === side).length
    const [base, copy, head] = [count('base'), count('base-copy'), count(HEAD_LABEL)]
    progress.executions = {
      calibration: before.calibration + copy + Math.min(base, copy),
      comparison: before.comparison + head + Math.max(0, base - copy),
      saved: before.saved + Math.min(copy, head, base),
    }
    recordPairs(progress, order, { executions, runner: getBootId() })
    await harness.more?.onExecution?.([...executions])
  }
  return { ...harness, more: { ...harness.more, onExecution } }
}

function recordPairs(
  progress: ComparisonProgress,
  order: Order,
  measured: Parameters<typeof buildPairJob>[1],
): void {
  if (progress.paired === null) return
  const job = buildPairJob(toPairRequest(order), measured, HEAD_LABEL)
  const earlier_jobs = order.earlier_jobs[HEAD_LABEL] ?? []
  progress.paired = {
    ...progress.paired,
    jobs: job.pairs.length === 0 ? earlier_jobs : [...earlier_jobs, job],
  }
}

// The two sides

/** Without a second name, the work tree is the head, as in `git diff`. */
export async function resolveSides(call: Call, repositoryContext: RepositoryContext): Promise<ComparedSides> {
  const [baseName = '', headName] = call.given.positionals
  const base = await resolveNamedSide(call, repositoryContext, baseName)
  const { head, notes } =
    headName === undefined
      ? await resolveWorkTreeSide(call, repositoryContext)
      : await resolveCommittedSide(call, repositoryContext, headName)
  const differences = await compareTrees(repositoryContext.repository, base.point.tree, head.point.tree)
  return { base, head, differing: differences.map(({ path }) => path), notes }
}

async function resolveNamedSide(
  { environment }: Call,
  repositoryContext: RepositoryContext,
  name: string,
): Promise<ComparedSide> {
  const { repository, checkout } = repositoryContext
  const commit = await resolveCommitName(environment, name)
  await repository.fetchFrom(checkout.commonDir, commit)
  return { name, point: { commit, tree: (await repository.commit(commit)).tree } }
}

async function resolveWorkTreeSide(call: Call, repositoryContext: RepositoryContext): Promise<HeadSide> {
  const { env } = call.environment
  const { topLevel } = repositoryContext.checkout
  if (topLevel === null) {
    throw new UserError('this repository has no work tree to compare', {
      fix: 'name both: winnow compare <base> <head> -- <command>',
    })
  }
  const committed = await resolveNamedSide(call, repositoryContext, 'HEAD')
  const { repository } = repositoryContext
  const { commit: head, tree: before } = committed.point
  const read = await readWorkTree({ into: repository.dir, topLevel, head, env, takes: () => true })
  if ('unmerged' in read) throw createMergeConflictError(read.unmerged)
  const point = { commit: head, tree: read.tree }
  const changed = (await compareTrees(repository, before, read.tree)).map(({ path }) => path)
  return { head: { name: WORK_TREE, point }, notes: describeWorkTree(changed, read.leftOut) }
}

function createMergeConflictError(paths: readonly string[]): UserError {
  return new UserError(`a merge is not finished: conflict in ${formatFew(paths)}`, {
    fix: 'resolve the conflict, then repeat the command; or name both sides: winnow compare <base> <head> -- <command>',
  })
}

function describeWorkTree(changed: readonly string[], inside: readonly string[]): string[] {
  const many = formatCount(changed.length, 'uncommitted change')
  return [
    ...(changed.length === 0 ? [] : [`measures your working tree, with ${many}: ${formatFew(changed)}`]),
    ...(inside.length === 0 ? [] : [`another repository inside it is left out: ${formatFew(inside)}`]),
  ]
}

async function resolveCommittedSide(
  call: Call,
  repositoryContext: RepositoryContext,
  name: string,
): Promise<HeadSide> {
  const head = await resolveNamedSide(call, repositoryContext, name)
  const { topLevel } = repositoryContext.checkout
  const changed = topLevel === null ? [] : await listUncommittedPaths(topLevel, call.environment.env)
  if (changed.length === 0 || topLevel === null) return { head, notes: [] }
  const here = await resolveCommitName(call.environment, 'HEAD')
  if (here !== head.point.commit) return { head, notes: [] }
  const note = `${name} is measured as committed: ${formatCount(changed.length, 'uncommitted change')} of your work tree ${changed.length === 1 ? 'is' : 'are'} not in it (${formatFew(changed)}); leave ${name} out to measure the work tree`
  return { head, notes: [note] }
}

async function resolveCommitName({ directory, env }: Call['environment'], name: string): Promise<string> {
  const git = createGitRunner(buildLocalIsolation(directory, env))
  const found = await git.run({
    args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
    answers: [1, 128],
    parse: output => output,
  })
  if (found.exitCode === 0) return found.stdout.trim()
  const names = await git.run({
    args: ['for-each-ref', '--format=%(refname:short)', 'refs/heads', 'refs/tags', 'refs/remotes'],
    parse: ({ stdout }) => stdout.split('\n').filter(each => each !== ''),
  })
  if (name === 'HEAD')
    throw new UserError('this repository has no commits yet', { fix: 'commit the project first' })
  const known = names.length === 0 ? 'it has none' : `it has ${formatFew(names, 5)}`
  const fetch = `${known}; run git fetch first for a branch that is only on the remote`
  throw new UserError(`there is no branch, tag or commit ${JSON.stringify(name)} in this repository`, {
    fix: suggestWord(name, names, fetch),
  })
}
