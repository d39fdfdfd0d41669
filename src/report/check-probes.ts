import { formatCount, formatRounded } from '../decide/wording.ts'
import { formatHarnessGuard, formatProbeName } from '../model/harness-guard.ts'
import type { HarnessGuard, ProbeName, ProbeResult } from '../model/probe.ts'
import type { JudgingUsage } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { NO_GAIN } from '../probes/read-probes.ts'
import { hasTextProbes } from '../probes/text-probes.ts'
import { computeProbeCost, formatDollars, type HarnessTrial } from './check-trial.ts'
import { formatTable } from './terminal.ts'

export interface ProbeTrial {
  results: ProbeResult[]
  guard: HarnessGuard
  /** Commands that measured the same without the code that may change. Null: they read it. */
  ignored_by: string[] | null
  /** The cost of the models that scored them. */
  judging?: JudgingUsage
  seconds: number
}

const PROBE_PAGE = 'docs/harness.md'

export function renderProbes(spec: Spec, probes: ProbeTrial | null): string[] {
  if (probes === null) return ['attacks: none; winnow has none for the files that may change']
  const { results, guard, ignored_by: ignoring, seconds, judging } = probes
  const fixes = describeFixes(spec, probes)
  const paid =
    judging === undefined
      ? ''
      : `; ${formatCount(judging.requests, 'request')} for ${formatDollars(judging.usd)}, which no campaign counts`
  return [
    `attacks: winnow measured ${formatCount(results.length, 'change')} that must not be kept, in ${formatRounded(seconds, 2)} s${paid}`,
    ...renderProbeResults(results, guard),
    ...fixes.map(fix => `  to close it: ${fix}`),
    ...(ignoring === null ? [] : describeIgnored(spec, ignoring)),
  ]
}

/** Null where the money of the trial is enough for one run of each, and of the base, and for their scores. */
export function explainUntriedProbes(
  { models, attacks: planned = 0, judging }: Pick<HarnessTrial, 'models' | 'attacks' | 'judging'>,
  { attacks, capUsd }: { attacks: number; capUsd: number | null },
): string | null {
  const later = planned === 0 ? '' : '; a campaign tries them before an idea lands'
  const scored = judging === undefined ? null : computeProbeCost(judging, attacks)
  if (attacks === 0 || (capUsd === null && scored === null)) return null
  if (capUsd === null) {
    const most = Math.max(0.5, Math.ceil(20 * (scored?.usd ?? 0)) / 10)
    return `a model scores them; winnow check --spend ${most} asks it${later}`
  }
  const { executions, usd } = models ?? { executions: 0, usd: 0 }
  const runs = attacks + 1
  const cost = (runs * usd) / Math.max(1, executions) + (scored?.usd ?? 0)
  if (usd + cost <= capUsd) return null
  const what = formatCount(runs, scored === null ? 'execution' : 'sample')
  return `${what} would cost about ${formatDollars(cost)}, and ${formatDollars(Math.max(0, capUsd - usd))} of --spend are left${later}`
}

/** A line for each attack, and what they showed together. */
export function renderProbeResults(results: readonly ProbeResult[], guard: HarnessGuard): string[] {
  const rows = results.map(result => [`  ${formatProbeName(result.name)}`, describeResult(result)])
  return [...formatTable(rows), `harness: ${formatHarnessGuard(guard)}`]
}

function describeResult({ caught_by, applicable, detail }: ProbeResult): string {
  if (!applicable) return `not tried: ${detail}`
  if (caught_by === NO_GAIN) return `no gain: ${detail.replace(/^worse: /, '')}`
  if (caught_by !== null) return `caught by ${caught_by}`
  return `NOT caught: ${detail}`
}

function describeIgnored(spec: Spec, commands: readonly string[]): string[] {
  const files = hasTextProbes(spec) ? 'texts' : 'code'
  const what =
    commands.length === 1
      ? 'its harness does not use the files in scope.mutable'
      : 'its commands do not use the files in scope.mutable'
  return [
    `This spec cannot be run: ${what}, so no idea could change the number.`,
    ...commands.map(command => `  succeeded without the ${files}: ${command}`),
    `  Correct a wrong path, install the project editable or build it in measurement.setup, or add the ${files} to scope.mutable.`,
  ]
}

// Fixes

const UNREAD =
  'let models score what an agent makes of the text instead of the text, and let gates limit its length and repeated words'
const CHILD = 'run the code in a child process, and compare its answers in the harness'

/** One sentence for each way to close what was not caught. */
function describeFixes(spec: Spec, { results, ignored_by: ignored }: ProbeTrial): string[] {
  const open = results.filter(({ applicable, caught_by }) => applicable && caught_by === null)
  const names = open.map(({ name }) => name).filter(name => name !== 'vanish' || ignored === null)
  const fixes = [...new Set(names.map(name => describeFix(spec, name)))]
  return fixes.length === 0 ? [] : [...fixes.slice(0, -1), `${fixes.at(-1)} (${PROBE_PAGE})`]
}

function describeFix(spec: Spec, name: ProbeName): string {
  const { gates, measurement } = spec
  switch (name) {
    case 'exit-at-load':
    case 'exit-at-call':
    case 'detect':
    case 'forge-output':
    case 'forge-result-file':
      return CHILD
    case 'slow-clock':
      return 'time the code from another process, or use wall_seconds as the metric'
    case 'remember':
      return measurement.isolation === 'uid'
        ? 'derive the input of each execution from WINNOW_SEED'
        : 'measurement.isolation: uid gives each side folders of its own (Linux, as root)'
    case 'forge-text':
      if (isJudgedMetric(spec)) return UNREAD
      return 'let the harness print its result by itself: it must neither execute a text nor print it'
    case 'instruct':
    case 'stuff':
      if (isJudgedMetric(spec)) return UNREAD
      return 'grade by rules what the text makes of a task, and let gates limit its length and repeated words'
    case 'vanish':
    case 'answer-nothing':
      if (hasTextProbes(spec)) return 'let a gate check what the texts have to keep'
      return gates.length === 0 ? 'add a gate that runs the tests' : 'let a gate check the answers'
    default:
      return name satisfies never
  }
}
