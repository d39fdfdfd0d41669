import { listPrintedNames } from '../decide/absent-metrics.ts'
import { formatSize } from '../decide/noise-text.ts'
import { listObjectives } from '../decide/objectives.ts'
import { evaluatePairs } from '../decide/paired/standing.ts'
import { formatCount } from '../decide/wording.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import { describeCalibrationNoise } from './calibration-text.ts'
import type { ComparisonResult, CompareView } from './compare-view.ts'
import { formatDuration } from './duration.ts'
import { renderFailedOutput } from './failed-output-text.ts'

/** One sentence first, then what it rests on, what it cannot know, and what it cost. */
export function renderComparisonReport(
  view: CompareView,
  compared: ComparisonResult,
  differing: readonly string[],
): string[] {
  const { sentence, evidence_line: evidence } = view
  if (compared.end === 'same') return [sentence]
  return [
    sentence,
    ...(evidence === null ? [] : [`  ${evidence}`]),
    ...renderComparisonFailure(view, compared),
    ...renderTimedNote(compared),
    ...renderNoiseLine(compared),
    ...(view.compared === 'pairs' ? [`  ${ONE_MACHINE}`] : []),
    ...(view.compared === null ? [] : [`  ${describeUnprotectedBenchmark(compared, differing)}`]),
    `  ${describeComparisonCost(view, compared)}`,
    ...renderFurtherSteps(view, compared),
  ]
}

const ONE_MACHINE =
  'one machine: new builds stood for fresh runners, so what is special to this machine is not averaged out'

function renderComparisonFailure({ failure }: CompareView, { assessment }: ComparisonResult): string[] {
  if (failure === null) return []
  const { command, output, fix } = failure
  const [, ...more] = (assessment?.reason ?? '').split('\n')
  return [
    ...more.map(line => `  ${line}`),
    ...(command === null ? [] : [`  ran: ${command}`]),
    ...renderFailedOutput(output, LINES),
    ...(fix === null ? [] : [`  fix: ${fix}`]),
  ]
}

const LINES = 15

/** Who repeats until a time has passed always takes that time: a number that it prints is more than how long it took. */
function renderTimedNote({ spec, report }: ComparisonResult): string[] {
  const timed = listObjectives(spec.metric)[0].name === 'wall_seconds'
  const [first, ...more] = timed ? listPrintedNames(report?.executions ?? [], BUILT_IN_METRICS) : []
  if (first === undefined) return []
  const printed = [first, ...more].slice(0, 3).join(', ')
  return [
    `  timed: all that the command does; it also prints ${printed}, and --metric ${first} compares that`,
  ]
}

function renderNoiseLine({ trial }: ComparisonResult): string[] {
  const said = describeCalibrationNoise(trial?.calibration ?? null)
  return said === null ? [] : [`  ${said}`]
}

/** No scope, no pin: who wrote the change could have written the benchmark too. */
function describeUnprotectedBenchmark(
  { spec, head }: ComparisonResult,
  differing: readonly string[],
): string {
  const named = findBenchmarkFiles(differing, spec.measurement)
  const own = 'unprotected: each side ran the benchmark that it has itself'
  if (named.length === 0) return `${own}; no file that the command names differs`
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

/** Files that differ and that the command names: themselves, a folder above them, or what its tool reads. */
export function findBenchmarkFiles(
  differing: readonly string[],
  { command, working_directory: directory }: Pick<MeasurementSection, 'command' | 'working_directory'>,
): string[] {
  const words = command.split(/[\s'"=:;&|()]+/).map(word => word.replace(/^\.\//, '').replace(/\/$/, ''))
  const manifests = words.flatMap(word => (Object.hasOwn(MANIFESTS, word) ? (MANIFESTS[word] ?? []) : []))
  const files = new Set([...words.filter(word => /\w/.test(word)), ...manifests])
  const folders = [...files].filter(word => word.length > 1)
  const start = directory === '.' ? '' : `${directory}/`
  return differing.filter(path => {
    const here = path.startsWith(start) ? path.slice(start.length) : path
    return files.has(here) || folders.some(folder => here.startsWith(`${folder}/`))
  })
}

type MeasurementSection = ComparisonResult['spec']['measurement']

function describeComparisonCost({ executions, seconds }: CompareView, { base }: ComparisonResult): string {
  const { calibration, comparison } = executions
  const first = calibration === 0 ? '' : `, ${calibration} of them of ${base.name} with itself`
  return `cost: ${formatCount(calibration + comparison, 'execution')}${first}, ${formatDuration(seconds)} of this machine`
}

/** Not proven is no dead end: how much could have been seen, and what would show more. */
function renderFurtherSteps({ verdict }: CompareView, { trial, paired, end }: ComparisonResult): string[] {
  const prospects = trial?.prospects ?? null
  if (verdict !== 'not proven' || prospects === null || paired === null) return []
  const { smallest_visible_gain: visible, max_jobs } = prospects
  const seen =
    visible === null
      ? 'no gain could be seen through this noise'
      : `with this noise ${formatSize(visible, paired.rule.scale)} is the smallest gain shown with a chance of 80 %`
  const usedUp = end === 'decided' && evaluatePairs(paired).primary.given_up === null
  const more = usedUp ? `; --max-jobs ${2 * max_jobs} goes on longer` : ''
  return [`  next: ${seen}${more}`]
}
