import { assessCandidate } from '../decide/assess.ts'
import type { Assessment } from '../decide/assessment.ts'
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
import type { Execution, Report } from '../model/report.ts'
import type { OrderRequest } from '../plan/orders.ts'
import { buildPairedRule } from '../plan/paired-order.ts'
import type { HarnessTrial } from '../report/check-trial.ts'
import { WORK_TREE } from '../report/compare.ts'
import { suggestWord } from '../spec/nearest-word.ts'
import {
  createNotPassedError,
  createUnrecordedOrder,
  type HarnessRun,
  measureTrial,
  tryHarness,
  tryNoise,
} from './trial.ts'
import { formatFew } from './default-branch.ts'
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
  executions: { calibration: number; comparison: number }
}

interface ComparisonRun {
  harness: HarnessRun
  sides: ComparedSides
  progress: ComparisonProgress
  /** Called between calibration and the first pair. */
  onForecast: (trial: HarnessTrial) => Promise<void>
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
  const executions = { calibration: 0, comparison: 0 }
  return { trial: null, paired: null, assessment: null, report: null, executions }
}

/** Measures the base against itself, then both sides, like a campaign that records nothing. */
export async function measureComparison(comparison: ComparisonRun): Promise<void> {
  const { progress, onForecast } = comparison
  const harness = countExecutions(comparison)
  progress.trial = await tryHarness(harness)
  await onForecast(progress.trial)
  if (progress.trial.calibration?.deterministic) {
    progress.assessment = await compareOnce(comparison)
    if (!progress.assessment.determinism_lost) return
    progress.trial = await tryNoise(harness, `${progress.assessment.reason}; `)
    await onForecast(progress.trial)
  }
  progress.assessment = await comparePairs(comparison)
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
  const { scale = 'log' } = comparison.progress.trial?.calibration ?? {}
  const stop: StopRule = { rule: 'once', min_effect: spec.evidence.min_effect ?? 0, scale }
  return measureAndAssess(comparison, stop, [])
}

/** Measures job after job, each with a new build, until the rule decides (decision.md 3.3). */
async function comparePairs(comparison: ComparisonRun): Promise<Assessment> {
  const { spec } = comparison.harness
  const rule = buildComparisonRule(comparison)
  const terms = rule.terms[HEAD_LABEL]
  if (terms === undefined) throw new TypeError('the rule has no terms')
  const jobs: PairJob[] = []
  for (;;) {
    comparison.progress.paired = { spec, rule, terms, jobs: [...jobs] }
    comparison.onJobStart(jobs.length + 1)
    const assessment = await measureAndAssess(comparison, rule, jobs)
    jobs.push(...comparison.progress.paired.jobs.slice(jobs.length))
    if (assessment.outcome !== 'promising') return assessment
  }
}

function buildComparisonRule(comparison: ComparisonRun): PairedRule {
  const { spec } = comparison.harness
  const rule = buildPairedRule({ campaign: buildTrialCampaign(comparison), spec, singleMachine: true }, [])
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
  return { ...rule, terms: { [HEAD_LABEL]: terms } }
}

function buildTrialCampaign({ harness, progress }: ComparisonRun): Campaign {
  const found = progress.trial?.calibration ?? null
  const calibration: Calibration | null = found === null ? null : { ...found, order: '' }
  return { ...createEmptyCampaign(), incumbent: harness.base, calibration }
}

/** Measures again after a failure of the base or of the runner, which says nothing about the candidate. */
async function measureAndAssess(
  comparison: ComparisonRun,
  stop: StopRule,
  jobs: readonly PairJob[],
): Promise<Assessment> {
  const { harness, progress } = comparison
  for (let attempt = 1; ; attempt++) {
    const order = await createUnrecordedOrder(harness, buildOrderRequest(comparison, stop, jobs))
    const report = await measureTrial(watchExecutions(comparison, order), order)
    progress.report = report
    recordPairs(progress, order, { executions: report.executions, runner: toMeasuredRun(report).runner })
    const { spec } = harness
    const assessment = assessCandidate({ spec, order, report, label: HEAD_LABEL, baseline: null })
    if (!assessment.retry) return assessment
    if (attempt >= ATTEMPTS) throw await createNotPassedError(harness, assessment.reason, report)
  }
}

function buildOrderRequest(
  { sides }: ComparisonRun,
  stop: StopRule,
  jobs: readonly PairJob[],
): Omit<OrderRequest, 'cause'> {
  const { commit: head, tree } = sides.head.point
  const earlier_jobs = jobs.length === 0 ? {} : { [HEAD_LABEL]: [...jobs] }
  return {
    purpose: 'experiment',
    round: 0,
    attempt: 1,
    candidates: [{ label: HEAD_LABEL, head, tree }],
    stop,
    earlier_jobs,
  }
}

function watchExecutions(comparison: ComparisonRun, order: Order): HarnessRun {
  const { harness, progress } = comparison
  const before = progress.executions.comparison
  const onExecution = async (executions: Execution[]) => {
    progress.executions.comparison = before + executions.length
    recordPairs(progress, order, { executions, runner: getBootId() })
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
