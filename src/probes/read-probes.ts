import { assessCandidate } from '../decide/assess.ts'
import type { Assessment } from '../decide/assessment.ts'
import { SCORED_ITEMS, SHARED_ITEMS } from '../decide/ce/judged.ts'
import { findFailure } from '../decide/failures.ts'
import { computeWorstLoss, LOSS_PART, selectLossTerms } from '../decide/loss.ts'
import { describeLostOutput, describeShortOutput } from '../decide/lost-output.ts'
import { listDecisiveMetrics, listExecutions, readNumber, readValuePair } from '../decide/metrics.ts'
import { computeLeastEffect, readOnceRule } from '../decide/once.ts'
import { formatMetricChange } from '../decide/wording.ts'
import { toCanonicalJson } from '../model/canonical-json.ts'
import type { Order } from '../model/order.ts'
import {
  PROBE_NAMES,
  type ProbeLabel,
  type ProbeName,
  type ProbeResult,
  toProbeLabel,
} from '../model/probe.ts'
import {
  type Execution,
  findFailedPart,
  joinStreams,
  type MetricValue,
  type Report,
} from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { MARK_MESSAGE } from './language.ts'
import { selectProbeGates } from './probe-rule.ts'
import { hasTextProbes } from './text-probes.ts'

/** What stops a probe that no check has stopped. */
export const NO_GAIN = 'no gain'

interface ProbeCase {
  spec: Spec
  order: Pick<Order, 'id' | 'stop' | 'earlier_jobs' | 'candidates'>
  report: Report
  name: ProbeName
  label: ProbeLabel
}

/** One result for each probe of the order: what stopped it, in the order in which winnow lists probes. */
export function readProbes(spec: Spec, order: ProbeCase['order'], report: Report): ProbeResult[] {
  const gated = selectProbeGates(selectProbedMetrics(spec))
  const measured = new Set<string>(order.candidates.map(({ label }) => label))
  return PROBE_NAMES.filter(name => measured.has(toProbeLabel(name))).map(name => {
    const label = toProbeLabel(name)
    // Gates are only run for a probe that the numbers would keep.
    const isGated = report.gates.some(({ side }) => side === label)
    return readProbe({ spec: isGated ? gated : { ...gated, gates: [] }, order, report, name, label })
  })
}

/** The commands that measured the same without the code. Null: they read it, or something stopped the probe. */
export function findIgnoringCommands(spec: Spec, results: readonly ProbeResult[]): string[] | null {
  const vanish = results.find(({ name }) => name === 'vanish')
  if (vanish === undefined || !vanish.applicable || vanish.caught_by !== null) return null
  const { command } = spec.measurement
  if (vanish.detail.startsWith(HARNESS_UNCHANGED) || vanish.detail === EXIT_UNNOTICED) return [command]
  if (vanish.detail !== UNCHANGED && vanish.detail !== TEXTS_IGNORED) return null
  return [command, ...selectProbeGates(spec).gates.map(gate => gate.command)]
}

function readProbe(probe: ProbeCase): ProbeResult {
  const { name, report, label } = probe
  const unbuilt = findUnbuilt(probe)
  if (unbuilt !== null) return { name, caught_by: null, detail: unbuilt, applicable: false }
  if (name === 'remember') return readMemory(probe)
  // A text may say little, so that without it the number is the same.
  const isCodeGone = name === 'vanish' && !hasTextProbes(probe.spec)
  if (name === 'vanish' && findFailure(probe) === null) {
    if (isCodeGone) return readVanished(probe)
    if (hasRepeat(probe) && isTextIgnored(probe.spec, report))
      return { name, caught_by: null, detail: TEXTS_IGNORED, applicable: true }
  }
  const unscored = isJudgedMetric(probe.spec) ? findUnscored(probe) : null
  if (unscored !== null) return unscored
  const assessment = name === 'slow-clock' ? assessSlowClock(probe) : assess(probe)
  if (assessment.retry)
    return { name, caught_by: null, detail: `not measured: ${assessment.reason}`, applicable: false }
  if (assessment.outcome === 'eligible')
    return { name, caught_by: null, detail: assessment.reason, applicable: true }
  const check = nameCheck(report, label, assessment)
  const unused = isCodeGone ? describeUnusedCode(probe, check) : null
  if (unused !== null) return { name, caught_by: null, detail: unused, applicable: true }
  return {
    name,
    caught_by: check,
    detail: toFirstLine(assessment.reason).replace(/^no gain: /, ''),
    applicable: true,
  }
}

function assess({ spec, order, report, label }: ProbeCase): Assessment {
  return assessCandidate({ spec, order, report, label, baseline: null })
}

/**
 * A clock that shows a tenth of the time does so in every run, against every run of the base. A machine that becomes
 * faster meanwhile shows a gain in each turn, but none from the last run of the base to the first of the probe.
 */
function assessSlowClock(probe: ProbeCase): Assessment {
  const assessment = assess(probe)
  if (assessment.outcome !== 'eligible') return assessment
  const roles: Partial<Record<Execution['role'], Execution['role']>> = { sample: 'repeat', repeat: 'sample' }
  const executions = probe.report.executions.map(run =>
    run.side === 'base' ? { ...run, role: roles[run.role] ?? run.role } : run,
  )
  return assess({ ...probe, report: { ...probe.report, executions } })
}

function toFirstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}

/** The compiler or the interpreter could not read what winnow wrote. */
const UNREADABLE = /SyntaxError|IndentationError|syntax error|Transform failed|error TS\d+/

/** The set-up of a project that reads its code notices that the code is gone, which is as good as a failure later. */
function findUnbuilt({ report, name, label }: ProbeCase): string | null {
  if (name === 'vanish') return null
  const setup = report.setups.find(each => each.side === label && !each.ok)
  if (setup !== undefined) return 'could not be built'
  const part = findFailedPart(report, label)
  const isUnreadable = part?.output != null && UNREADABLE.test(joinStreams(part.output))
  return isUnreadable ? 'could not be written for this code' : null
}

function nameCheck(report: Report, label: ProbeLabel, { outcome, reason }: Assessment): string {
  if (outcome === 'refused') return 'the check for changed files'
  const failed = findFailedPart(report, label)?.what
  if (failed !== undefined) return failed === 'the harness' ? nameHarnessCheck(report, label) : failed
  const own = report.gates.filter(({ side }) => side === label)
  const short = own.find(gate => describeShortOutput(gate, listBaseRuns(report, gate)) !== null)
  if (short !== undefined) return `gate ${short.name}`
  if (describeLostOutput(report, label) !== null) return 'the missing output'
  if (outcome === 'dropped' || outcome === 'inconclusive') return NO_GAIN
  return /does not hold|benchmarks differ|missing/.test(reason) ? 'the printed numbers' : 'the harness'
}

function nameHarnessCheck({ executions }: Report, label: ProbeLabel): string {
  const run = executions.find(({ side, status }) => side === label && status !== 'ok')
  if (run?.status === 'timeout') return 'the time limit'
  return run?.status === 'crashed' ? 'the harness' : 'the missing output'
}

function listBaseRuns({ gates }: Report, { name, phase }: Report['gates'][number]): Report['gates'] {
  return gates.filter(gate => gate.side === 'base' && gate.name === name && gate.phase === phase)
}

// Vanish

const UNCHANGED = 'every command succeeds without the code, and the number stays the same'
const HARNESS_UNCHANGED = 'the harness succeeds without the code, and prints the same'
const EXIT_UNNOTICED =
  'set-up needs the code, and the harness succeeds and prints the same if the code ends at once'

/** No command failed. A better number would be kept; an equal one says that the commands use other code. */
function readVanished(probe: ProbeCase): ProbeResult {
  const { name, spec } = probe
  const { outcome, reason } = assess(probe)
  const found = { name, applicable: true }
  if (outcome === 'eligible') return { ...found, caught_by: null, detail: reason }
  const { pair, isSame } = compareFirstRuns(probe)
  if (pair === null || isSame) return { ...found, caught_by: null, detail: UNCHANGED }
  const detail = formatMetricChange(spec.metric.primary.name, pair.base, pair.candidate)
  return { ...found, caught_by: NO_GAIN, detail }
}

/** Shows that the harness does not use the code, though another check noticed that it is gone. */
function describeUnusedCode(probe: ProbeCase, check: string): string | null {
  if (isHarnessUnchanged(probe)) return `${HARNESS_UNCHANGED}; only ${check} failed`
  return check === 'set-up' && isExitUnnoticed(probe) ? EXIT_UNNOTICED : null
}

/** Where nothing can be built without the code, the harness was measured with code that ends at once. */
function isExitUnnoticed(probe: ProbeCase): boolean {
  const exits = (['exit-at-load', 'exit-at-call'] as const).map(name => ({
    ...probe,
    name,
    label: toProbeLabel(name),
  }))
  const measured = exits.filter(({ report, label }) => listExecutions(report, label).length > 0)
  return measured.length > 0 && measured.every(isHarnessUnchanged)
}

/**
 * The harness succeeded without the code, or with code that ends at once, and printed the same. A score of 0 is no sign of
 * that, because code that scores nothing yet is as good as none.
 */
function isHarnessUnchanged(probe: ProbeCase): boolean {
  const { name, direction } = probe.spec.metric.primary
  const { base, own, pair, isSame } = compareFirstRuns(probe)
  if (base?.status !== 'ok' || own?.status !== 'ok' || pair === null || !isSame) return false
  if (pair.base === 0 && direction === 'maximize') return false
  const [before, after] = [listPrinted(base, name), listPrinted(own, name)]
  return (
    base.printed_lines === own.printed_lines &&
    before.size === after.size &&
    [...before].every(([printed, value]) => isAlike(value, after.get(printed)))
  )
}

function compareFirstRuns({ spec, order: { stop }, report, label }: ProbeCase) {
  const [base, own] = (['base', label] as const).map(side => listExecutions(report, side, 'sample')[0])
  const pair = base && own ? readValuePair(spec.metric.primary.name, base, own) : null
  const least = pair === null || stop.rule !== 'once' ? 0 : computeLeastEffect(readOnceRule(stop), pair.base)
  return { base, own, pair, isSame: pair !== null && Math.abs(pair.candidate - pair.base) <= least }
}

/** All that the harness printed beside the metric. */
function listPrinted({ metrics, tasks = {} }: Execution, metric: string): Map<string, MetricValue> {
  const others = Object.entries(metrics).filter(([name]) => name !== metric && !BUILT_IN_METRICS.has(name))
  return new Map([
    ...others,
    ...Object.entries(tasks).map(([task, score]) => [`tasks.${task}`, score] as const),
  ])
}

/** A number that is no metric may vary from run to run. */
const MOST_NOISE = 0.2

function isAlike(before: MetricValue, after: MetricValue | undefined): boolean {
  if (typeof before !== 'number' || typeof after !== 'number') return before === after
  return Math.abs(after - before) <= MOST_NOISE * Math.abs(before)
}

// Texts

const TEXTS_IGNORED = 'every command succeeds without the texts, and every score stays the same'

function hasRepeat({ report, label }: ProbeCase): boolean {
  return listExecutions(report, label, 'repeat').length > 0
}

/**
 * The empty texts have the scores of the base, in each run and for each task: a weak text changes some of them. A score
 * that could not be worse says nothing.
 */
export function isTextIgnored(spec: Spec, report: Pick<Report, 'executions'>): boolean {
  if (!hasTextProbes(spec)) return false
  const sides = ['base', toProbeLabel('vanish')] as const
  const [base = [], own = []] = sides.map(side => listExecutions(report, side, 'sample', 'repeat'))
  if (own.length === 0 || own.length !== base.length || own.some(({ status }) => status !== 'ok'))
    return false
  if (isJudgedMetric(spec))
    return own.every(run => readNumber(run, SHARED_ITEMS) === readNumber(run, SCORED_ITEMS))
  return (
    own.every((run, at) => renderScores(spec, run) === renderScores(spec, base[at])) &&
    !base.every(run => isWorstScore(spec, readNumber(run, spec.metric.primary.name)))
  )
}

function renderScores(spec: Spec, run: Execution | undefined): string {
  const names = new Set([...listDecisiveMetrics(spec), MODEL_TOKENS])
  const scores = Object.entries(run?.metrics ?? {}).filter(
    ([name]) => names.has(name) || name.startsWith(LOSS_PART),
  )
  return toCanonicalJson([Object.fromEntries(scores), run?.tasks ?? null])
}

/** Other tokens show that the texts reach a model. */
const MODEL_TOKENS = 'model_tokens'

function isWorstScore(spec: Spec, score: number | null): boolean {
  const { type, direction } = spec.metric.primary
  if (score === null) return true
  return type === 'loss'
    ? score >= computeWorstLoss(selectLossTerms(spec, null)).total
    : direction === 'maximize' && score <= 0
}

// Scores of models

/** `min_effect` is about scores. Other metrics are single runs, of which only a bound of their own says something. */
function selectProbedMetrics(spec: Spec): Spec {
  if (!isJudgedMetric(spec)) return spec
  const { metric, policy } = spec
  const objectives = metric.objectives.filter(
    ({ role, max_regression: bound }) => role === 'guardrail' && bound !== null,
  )
  return { ...spec, metric: { ...metric, objectives }, policy: { ...policy, tie_breakers: [] } }
}

/** Null where rules stopped the probe, or every item has a score. */
function findUnscored(probe: ProbeCase): ProbeResult | null {
  const { name, report, label } = probe
  if (findFailure(probe) !== null) return null
  const runs = listExecutions(report, label, 'sample', 'repeat')
  const silent = runs.find(({ error }) => error !== undefined)?.error
  if (silent !== undefined) return { name, caught_by: 'the judge', detail: silent, applicable: true }
  if (runs.some(({ metrics }) => Object.hasOwn(metrics, SCORED_ITEMS))) return null
  return { name, caught_by: null, detail: 'not measured: no model scored it', applicable: false }
}

// Remember

/** The first execution leaves marks. Only what they survive in can make the second one fail. */
function readMemory(probe: ProbeCase): ProbeResult {
  const { name, report, label, spec } = probe
  const runs = listExecutions(report, label, 'sample')
  const [first, second] = runs
  const found = { name, applicable: true }
  const failed = runs.find(({ status }) => status !== 'ok')
  const said = [...runs, ...report.gates.filter(({ side }) => side === label)].map(({ output }) =>
    joinStreams(output),
  )
  const places = said.map(text => readMarkedPlaces(text)).find(text => text !== null)
  if (places !== undefined)
    return { ...found, caught_by: null, detail: `a later execution found its mark in ${places}` }
  if (first?.status === 'ok' && second !== undefined && second.status !== 'ok')
    return { ...found, caught_by: null, detail: 'a later execution found its mark' }
  if (failed !== undefined || second === undefined) {
    const reason = findFailure({ spec, report, label })?.reason ?? 'it did not run twice'
    return { name, caught_by: null, detail: `not measured: ${toFirstLine(reason)}`, applicable: false }
  }
  return {
    ...found,
    caught_by: 'the same start every time',
    detail: 'no execution found what an earlier one had left',
  }
}

function readMarkedPlaces(text: string): string | null {
  const at = text.indexOf(MARK_MESSAGE)
  return at === -1 ? null : toFirstLine(text.slice(at + MARK_MESSAGE.length)).trim()
}
