import { posix } from 'node:path'
import { CALIBRATION_JOBS } from '../decide/calibration.ts'
import { listObjectives, listPrintedNames } from '../decide/metrics.ts'
import { evaluatePairs, type PairedCase } from '../decide/paired/evaluate.ts'
import { renderEvidenceSentence } from '../decide/paired/evidence-text.ts'
import { formatCount, formatSize, formatTolerance } from '../decide/wording.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import type { Spec } from '../spec/schema.ts'
import { resolvePairsPerJob } from '../spec/spec-facts.ts'
import { type HarnessTrial, renderModelSpending } from './check-trial.ts'
import type { CompareView, ComparisonResult } from './compare.ts'
import {
  describeCalibrationNoise,
  describeProxy,
  describeQuieterMetric,
  SINGLE_MACHINE_LIMIT,
} from './metrics.ts'
import { formatDuration } from './terminal.ts'
import { renderFailedOutput } from './verdict-markdown.ts'

type MeasurementSection = ComparisonResult['spec']['measurement']

interface ComparedNames {
  base: { name: string }
  head: { name: string }
}

type TrialEstimate = Pick<HarnessTrial, 'seconds' | 'calibration' | 'prospects'>

interface ComparisonState {
  trial: TrialEstimate | null
  paired: PairedCase | null
  executions: ComparisonResult['executions']
}

// Report

export function renderComparisonReport(
  view: CompareView,
  compared: ComparisonResult,
  differing: readonly string[],
): string[] {
  const { sentence, evidence_line: evidence } = view
  if (compared.end === 'same') return [sentence]
  const noise = describeCalibrationNoise(compared.trial?.calibration ?? null)
  return [
    sentence,
    ...(evidence === null ? [] : [`  ${evidence}`]),
    ...renderComparisonFailure(view, compared),
    ...renderTimedNote(compared),
    ...renderProxyNote(compared),
    ...(noise === null ? [] : [`  ${noise}`]),
    ...renderQuieterMetric(compared),
    ...(view.compared === 'pairs' ? [`  ${ONE_MACHINE_NOTE}`] : []),
    ...(view.compared === null ? [] : [`  ${describeUnprotectedBenchmark(compared, differing)}`]),
    `  ${describeComparisonCost(view, compared)}`,
    ...(compared.models === null ? [] : [`  ${renderModelSpending(compared.models)}`]),
    ...renderFurtherSteps(view, compared),
  ]
}

const ONE_MACHINE_NOTE = `one machine: ${SINGLE_MACHINE_LIMIT}`

function renderComparisonFailure({ failure }: CompareView, { assessment }: ComparisonResult): string[] {
  if (failure === null) return []
  const { command, output, fix } = failure
  const [, ...more] = (assessment?.reason ?? '').split('\n')
  return [
    ...more.map(line => `  ${line}`),
    ...(command === null ? [] : [`  ran: ${command}`]),
    ...renderFailedOutput(output, MAX_OUTPUT_LINES),
    ...(fix === null ? [] : [`  fix: ${fix}`]),
  ]
}

const MAX_OUTPUT_LINES = 15

/** A benchmark that repeats until a time has passed always takes that time, so a printed number is better. */
function renderTimedNote({ spec, report }: ComparisonResult): string[] {
  const timed = listObjectives(spec.metric)[0].name === 'wall_seconds'
  const names = timed ? listPrintedNames(report?.executions ?? [], BUILT_IN_METRICS) : []
  if (names.length === 0) return []
  const printed = names.slice(0, 3).join(', ')
  return [
    `  timed: all that the command does; it also prints ${printed}, and --metric ${names[0]} compares that`,
  ]
}

function renderProxyNote({ spec }: ComparisonResult): string[] {
  const proxy = describeProxy(spec)
  return proxy === null ? [] : [`  ${proxy}`]
}

/** A comparison has neither scope nor pin, so the author of the change could have changed the benchmark too. */
function describeUnprotectedBenchmark(
  { spec, head }: ComparisonResult,
  differing: readonly string[],
): string {
  const named = findBenchmarkFiles(differing, spec.measurement)
  const own = 'unprotected: each side ran its own copy of the benchmark'
  if (named.length === 0) return `${own}; the files that the command names are identical`
  return `${own}, and ${named.join(', ')} ${named.length === 1 ? 'differs' : 'differ'}: make sure that ${head.name} did not change what is measured`
}

const MANIFESTS: Readonly<Record<string, readonly string[]>> = {
  npm: ['package.json', 'package-lock.json'],
  pnpm: ['package.json', 'pnpm-lock.yaml'],
  yarn: ['package.json', 'yarn.lock'],
  bun: ['package.json', 'bun.lock'],
  npx: ['package.json', 'package-lock.json'],
  make: ['Makefile', 'makefile', 'GNUmakefile'],
  cargo: ['Cargo.toml', 'Cargo.lock'],
  go: ['go.mod', 'go.sum'],
}

/** Finds changed files that the command names, or their folder, and the configuration of its tool. */
export function findBenchmarkFiles(
  differing: readonly string[],
  { command, working_directory: directory }: Pick<MeasurementSection, 'command' | 'working_directory'>,
): string[] {
  const words = command.split(/[\s'"=:;&|()]+/).map(word => word.replace(/^\.\//, '').replace(/\/$/, ''))
  const manifests = words.flatMap(word => (Object.hasOwn(MANIFESTS, word) ? (MANIFESTS[word] ?? []) : []))
  const files = [...words.filter(word => /\w/.test(word)), ...manifests]
  const named = new Set(files.flatMap(file => [file, posix.join(directory, file)]))
  const folders = [...named].filter(word => word.length > 1)
  return differing.filter(path => named.has(path) || folders.some(folder => path.startsWith(`${folder}/`)))
}

function describeComparisonCost({ executions, seconds }: CompareView, { base }: ComparisonResult): string {
  const { calibration, comparison, saved } = executions
  const first = calibration === 0 ? '' : `, ${calibration} of them of ${base.name} with itself`
  const spared = saved === 0 ? '' : ` (${saved} fewer: runs of ${base.name} served both comparisons)`
  return `cost: ${formatCount(calibration + comparison, 'execution')}${first}${spared}, ${formatDuration(seconds)} of this machine`
}

/** Shown with every answer in pairs: the next comparison may want another metric. */
function renderQuieterMetric({ trial }: ComparisonResult): string[] {
  const quieter = describeQuieterMetric(trial?.calibration ?? null)
  return quieter === null || trial?.quieterLine === undefined
    ? []
    : [`  ${quieter}; ${trial.quieterLine} compares it`]
}

/** For "not proven": says which gain would have been visible, and how to see more. */
function renderFurtherSteps({ verdict }: CompareView, { trial, paired, end }: ComparisonResult): string[] {
  const prospects = trial?.prospects ?? null
  if (verdict !== 'not proven' || prospects === null || paired === null) return []
  const { smallest_visible_gain: visible, max_jobs } = prospects
  const limit =
    visible === null
      ? 'no gain could be seen through this noise'
      : `with this noise ${formatSize(visible, paired.rule.scale)} is the smallest gain shown with a chance of 80 %`
  const usedUp = end === 'decided' && evaluatePairs(paired).primary.given_up === null
  const more = usedUp ? `; --max-jobs ${2 * max_jobs} measures longer` : ''
  return [`  next: ${limit}${more}`]
}

// Forecast and progress

/** Returns no lines when the comparison takes only a moment. */
export function renderComparisonForecast(
  trial: TrialEstimate,
  { base, head }: ComparedNames,
  goesOn: boolean,
): string[] {
  const { calibration, prospects } = trial
  if (calibration?.deterministic)
    return [
      `${base.name} repeats ${calibration.tolerance === undefined ? 'exactly' : `within ${formatTolerance(calibration.tolerance)}`}: one execution of each is enough, and a second of a gain`,
    ]
  if (prospects === null) return []
  const [least, most] = [prospects.null_idea.minutes, prospects.good_idea.minutes]
    .map(minutes => minutes * 60)
    .toSorted((a, b) => a - b)
  const range = `${formatDuration(least ?? 0)} to ${formatDuration(most ?? 0)}`
  const cost = `${base.name} against ${head.name}: mostly ${range}, at most ${formatDuration(estimateComparisonSeconds(trial))}`
  return [
    `fair: ${base.name} did not differ from itself; ${describeVisibleDifference(trial, prospects)}`,
    ...(goesOn ? [cost] : []),
  ]
}

function describeVisibleDifference(
  { calibration }: TrialEstimate,
  { smallest_visible_gain: visible }: NonNullable<TrialEstimate['prospects']>,
): string {
  if (visible === null) return 'the noise hides every gain'
  return `a gain of ${formatSize(visible, calibration?.scale ?? 'log')} would be seen with a chance of 80 %`
}

/** Assumes that all jobs use all their pairs. */
export function estimateComparisonSeconds({ seconds, calibration, prospects }: TrialEstimate): number {
  const noise = calibration?.noise ?? null
  if (prospects === null || noise === null) return 4 * seconds
  const { pairs_per_job: pairs, max_jobs: jobs } = prospects
  return jobs * (2 * pairs * noise.execution_seconds + noise.overhead_seconds)
}

/** Estimates from one execution, before the noise is known. */
export function estimateInitialSeconds({ evidence }: Spec, execution: number): number {
  const calibration = CALIBRATION_JOBS * 2 * (resolvePairsPerJob(evidence, 0) + 1)
  return execution * (calibration + evidence.max_jobs * 2 * (resolvePairsPerJob(evidence, execution) + 1))
}

export function renderComparisonProgress(paired: PairedCase | null, spec: Spec, job: number): string {
  const position = `job ${job} of at most ${spec.evidence.max_jobs}`
  if (paired === null || paired.jobs.length === 0) return `${position}: begins`
  return `${position}: ${renderEvidenceSentence(paired, evaluatePairs(paired))}`
}

export function renderComparisonLiveLine(
  { trial, paired, executions }: ComparisonState,
  { base, head }: ComparedNames,
  elapsed: number,
): string {
  const time = formatDuration(elapsed)
  const pairs = paired?.jobs.flatMap(job => job.pairs).length ?? 0
  if (trial === null && pairs === 0)
    return `${base.name} against itself: ${executions.calibration} executions, ${time}`
  const limit = trial === null ? '' : ` of at most ${formatDuration(estimateComparisonSeconds(trial))}`
  const status = `${head.name} against ${base.name}: ${formatCount(pairs, 'pair')}, ${time}${limit}`
  return paired === null || pairs === 0
    ? status
    : `${status}; ${renderEvidenceSentence(paired, evaluatePairs(paired))}`
}
