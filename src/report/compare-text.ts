import { printedNames } from '../decide/absent-metrics.ts'
import { sizeText } from '../decide/noise-text.ts'
import { objectivesOf } from '../decide/objectives.ts'
import { standingOf } from '../decide/paired/standing.ts'
import { plural } from '../decide/wording.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import { calibrationText } from './calibration-text.ts'
import type { Compared, CompareView } from './compare-view.ts'
import { durationText } from './duration.ts'
import { outputText } from './failed-output-text.ts'

/** One sentence first, then what it rests on, what it cannot know, and what it cost. */
export function compareText(view: CompareView, compared: Compared, differing: readonly string[]): string[] {
  const { sentence, evidence_line: evidence } = view
  if (compared.end === 'same') return [sentence]
  return [
    sentence,
    ...(evidence === null ? [] : [`  ${evidence}`]),
    ...failureLines(view, compared),
    ...timedLine(compared),
    ...noiseLine(compared),
    ...(view.compared === 'pairs' ? [`  ${ONE_MACHINE}`] : []),
    ...(view.compared === null ? [] : [`  ${rulerText(compared, differing)}`]),
    `  ${costText(view, compared)}`,
    ...furtherText(view, compared),
  ]
}

const ONE_MACHINE =
  'one machine: new builds stood for fresh runners, so what is special to this machine is not averaged out'

function failureLines({ failure }: CompareView, { assessment }: Compared): string[] {
  if (failure === null) return []
  const { command, output, fix } = failure
  const [, ...more] = (assessment?.reason ?? '').split('\n')
  return [
    ...more.map(line => `  ${line}`),
    ...(command === null ? [] : [`  ran: ${command}`]),
    ...outputText(output, LINES),
    ...(fix === null ? [] : [`  fix: ${fix}`]),
  ]
}

const LINES = 15

/** Who repeats until a time has passed always takes that time: a number that it prints is more than how long it took. */
function timedLine({ spec, report }: Compared): string[] {
  const timed = objectivesOf(spec.metric)[0].name === 'wall_seconds'
  const [first, ...more] = timed ? printedNames(report?.executions ?? [], BUILT_IN_METRICS) : []
  if (first === undefined) return []
  const printed = [first, ...more].slice(0, 3).join(', ')
  return [
    `  timed: all that the command does; it also prints ${printed}, and --metric ${first} compares that`,
  ]
}

function noiseLine({ trial }: Compared): string[] {
  const said = calibrationText(trial?.calibration ?? null)
  return said === null ? [] : [`  ${said}`]
}

/** No scope, no pin: who wrote the change could have written the benchmark too. */
function rulerText({ spec, head }: Compared, differing: readonly string[]): string {
  const named = rulersAmong(differing, spec.measurement)
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
export function rulersAmong(
  differing: readonly string[],
  { command, working_directory: directory }: Pick<Measurement, 'command' | 'working_directory'>,
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

type Measurement = Compared['spec']['measurement']

function costText({ executions, seconds }: CompareView, { base }: Compared): string {
  const { calibration, comparison } = executions
  const first = calibration === 0 ? '' : `, ${calibration} of them of ${base.name} with itself`
  return `cost: ${plural(calibration + comparison, 'execution')}${first}, ${durationText(seconds)} of this machine`
}

/** Not proven is no dead end: how much could have been seen, and what would show more. */
function furtherText({ verdict }: CompareView, { trial, paired, end }: Compared): string[] {
  const prospects = trial?.prospects ?? null
  if (verdict !== 'not proven' || prospects === null || paired === null) return []
  const { smallest_visible_gain: visible, max_jobs } = prospects
  const seen =
    visible === null
      ? 'no gain could be seen through this noise'
      : `with this noise ${sizeText(visible, paired.rule.scale)} is the smallest gain shown with a chance of 80 %`
  const usedUp = end === 'decided' && standingOf(paired).primary.given_up === null
  const more = usedUp ? `; --max-jobs ${2 * max_jobs} goes on longer` : ''
  return [`  next: ${seen}${more}`]
}
