import { formatCount, formatNumber } from '../decide/wording.ts'
import { describeRequest, formatPackages, type PackageAddition } from '../model/approval.ts'
import type { EventKind, LedgerEvent } from '../model/event.ts'
import { describeHarness, describeGuard } from '../model/harness-guard.ts'
import { formatRunName, toShortRef } from '../model/ids.ts'
import { aggregateMetrics, aggregateSnapshot, formatRunnerError, type Side } from '../model/report.ts'
import { withReason } from '../model/status.ts'
import { parseReason, toOneLine } from '../model/text.ts'
import { readSpec } from '../spec/load.ts'
import {
  describeCalibrationResult,
  formatChanges,
  formatMetrics,
  type ShownMetrics,
  selectShownMetrics,
} from './metrics.ts'
import { renderVerdictSentence } from './verdict-text.ts'

const MAX_LINE_LENGTH = 400

/** One line per event for people. Metrics that the spec judges come first. */
export function renderEvent(event: LedgerEvent, metrics: ShownMetrics): string {
  const say = texts[event.kind] as (event: LedgerEvent, metrics: ShownMetrics) => string
  return toOneLine(say(event, metrics), MAX_LINE_LENGTH)
}

/** Renders the events of a ledger, each with the spec that was in force when it was written. */
export class EventRenderer {
  #metrics: ShownMetrics
  #path = 'spec.yaml'

  /** `yaml`: the spec in force before the first event. */
  constructor(yaml: string | null = null) {
    this.#metrics = readShownMetrics(yaml, this.#path)
  }

  next(event: LedgerEvent): string {
    if (event.kind === 'campaign-started') this.#path = event.spec_path
    if (event.kind === 'campaign-started' || event.kind === 'campaign-amended')
      this.#metrics = readShownMetrics(event.spec_yaml, this.#path)
    return renderEvent(event, this.#metrics)
  }
}

function readShownMetrics(yaml: string | null, file: string): ShownMetrics {
  return selectShownMetrics(yaml === null ? null : (readSpec(yaml, { file })?.spec ?? null))
}

/** `run` prints these while it works. A revert says why winnow takes a change back. */
export function isNotableEvent(event: LedgerEvent): boolean {
  return NOTABLE_EVENTS.has(event.kind) || (event.kind === 'steered' && event.action === 'revert')
}

const NOTABLE_EVENTS: ReadonlySet<EventKind> = new Set([
  'campaign-started',
  'campaign-amended',
  'calibrated',
  'baseline-measured',
  'probed',
  'experiment-opened',
  'experiment-refused',
  'proposal-lost',
  'judged',
  'judging-lost',
  'order-lost',
  'measured',
  'report-rejected',
  'decided',
  'requeued',
  'merged',
  'effect-measured',
  'approval-requested',
  'approved',
  'approval-withdrawn',
  'synced',
  'foreign-tip',
  'reverted',
  'alert',
  'campaign-paused',
  'campaign-resumed',
  'campaign-stopped',
])

const MERGE_NOTE = { push: '', api: ', merged by GitHub', person: ', merged by a person' } as const

/** The type requires a text for every event kind. */
const texts: { [K in EventKind]: (event: LedgerEvent<K>, metrics: ShownMetrics) => string } = {
  'campaign-started': ({ spec, start }) => `campaign ${spec} started at ${toShortId(start.commit)}`,
  'campaign-amended': ({ source, reason, default_branch: renamed }) =>
    renamed !== undefined
      ? `the default branch has another name: ${reason}`
      : `spec amended by ${source === 'person' ? 'a person' : 'the default branch'}: ${reason}`,
  calibrated: event => `calibrated: ${describeCalibrationResult(event)}`,
  probed: event => describeProbed(event),
  'baseline-measured': ({ tree, snapshot }, metrics) =>
    `baseline on tree ${toShortId(tree)}: ${formatMetrics(aggregateSnapshot(snapshot), metrics)}`,
  'effect-measured': ({ what, experiment, reason }) =>
    `${what === 'progression' ? 'progress of the campaign' : `effect of ${experiment ?? 'the incumbent'}`}: ${reason}`,
  'hypothesis-added': ({ hypothesis, suggested }) =>
    `hypothesis ${suggested === true ? 'suggested' : 'added'}: ${hypothesis}`,
  'hypothesis-updated': ({ hypothesis, status }) => `hypothesis ${toShortId(hypothesis)} is ${status}`,
  'proposal-requested': ({ who }) => `requested an idea from ${who}, in a separate job`,
  'proposal-answered': ({ key, hypothesis }) => `${key} proposed an idea: ${hypothesis}`,
  'proposal-lost': ({ key, reason }) => `${key} returned no answer: ${reason}`,
  'answer-repeated': ({ key, experiment }) => `${key} gave the same answer as ${experiment}`,
  'experiment-opened': ({ experiment, hypothesis, source }) =>
    `${experiment} opened (${source.use}): ${hypothesis}`,
  'experiment-refused': ({ experiment, message }) => `${experiment} Refused: ${message}`,
  'head-moved': ({ experiment, to }) => `${experiment} has a new head, ${toShortId(to)}: queued again`,
  requeued: ({ experiment, reason, why }) =>
    `${experiment} ${why === 'held' ? 'held' : 'put back'}: ${parseReason(reason).sentence}`,
  'order-issued': ({ purpose, candidates }) =>
    purpose === 'probe'
      ? `ordered: ${formatCount(candidates.length, 'probe')}`
      : `ordered: ${[purpose, ...candidates.map(({ label }) => describeSide(label))].join(' ')}`,
  'order-dispatched': ({ order, run_id }) =>
    `order ${toShortId(order)} dispatched to ${formatRunName(run_id)}`,
  'order-lost': ({ order, reason }) => `order ${toShortId(order)} lost: ${reason}`,
  measured: ({ report }, metrics) => describeMeasurement(report, metrics),
  'report-rejected': ({ order, reason }) => `report on order ${toShortId(order)} rejected: ${reason}`,
  'order-printed': ({ order, run_id }) =>
    `order ${toShortId(order)} measured in ${formatRunName(run_id)}; waiting for scores`,
  'judging-requested': ({ order }) =>
    `requested scores for order ${toShortId(order)} from models, in a separate job`,
  judged: ({ order, model, records, ended }) =>
    `order ${toShortId(order)}: requested ${formatCount(records.length, 'score')} from ${model}${ended === null ? '' : `, then stopped: ${ended.reason}`}`,
  'judging-lost': ({ order, reason }) => `order ${toShortId(order)} has no scores yet: ${reason}`,
  decided: event => describeDecision(event),
  merged: ({ experiment, commit, via }) =>
    `${experiment} landed as ${toShortId(commit)}${MERGE_NOTE[via ?? 'push']}`,
  closed: ({ experiment, outcome }) => `${experiment} closed (${outcome})`,
  'approval-requested': ({ experiment, packages, additions = [], findings = [] }) =>
    packages.length === 0
      ? describeNoApprovalNeeded(experiment, additions)
      : `${experiment} is waiting for approval of ${describeRequest(packages, { additions, findings })}`,
  'permission-requested': ({ experiment, head, author }) =>
    `${experiment} waits for permission: ${author} has no write access, and ${toShortId(head)} is not allowed to be measured yet`,
  'permission-granted': ({ experiment, head, login }) =>
    `${experiment}: ${login} allows ${toShortId(head)} to be measured`,
  'approval-withdrawn': ({ experiment, packages, login }) =>
    `${experiment}: ${login} withdrew the approval of ${packages.join(', ')}`,
  'sync-awaited': ({ experiment, obstacle }) =>
    obstacle === null
      ? `${experiment} no longer waits for a person to sync its branch`
      : `${experiment} waits for a person to sync its branch (${obstacle})`,
  'comments-read': ({ pull }) => `read the comments of pull request ${pull}`,
  approved: ({ experiment, packages, by }) => `${experiment} approved by ${by.actor}: ${packages.join(', ')}`,
  'incumbent-moved': ({ to, why }) => `incumbent is now ${toShortId(to.commit)} (${why})`,
  synced: ({ default_tip }) => `synced with the default branch at ${toShortId(default_tip)}`,
  'foreign-tip': ({ to, state, reason }) => `foreign tip ${toShortId(to.commit)} ${state}: ${reason}`,
  'round-closed': ({ round, members }) => `round ${round} closed: ${members.join(', ')}`,
  reverted: ({ experiment, to }) => `${experiment} reverted by ${toShortId(to.commit)}`,
  steered: ({ action, experiment, reason, restores }) =>
    restores !== undefined
      ? `return of ${restores.artifact} to v${restores.version} requested: ${reason}`
      : experiment === null
        ? `${action}: ${reason}`
        : `${action} of ${experiment} requested: ${reason}`,
  note: ({ text, experiment }) => `note${experiment === null ? '' : ` on ${experiment}`}: ${text}`,
  alert: ({ code, message }) => `alert ${code}: ${message}`,
  spent: ({ what, who, minutes, usd }) =>
    `spent on ${what}${who === null ? '' : ` by ${who}`}: ${formatNumber(minutes)} min, ${formatNumber(usd)} USD`,
  'knob-changed': ({ knob, from, to }) => `${toShortRef(knob)} changed from ${from} to ${to}`,
  'uncapped-allowed': ({ spenders, by }) =>
    `${by.actor} allowed ${spenders.join(' and ')} to spend money without a cap`,
  'campaign-paused': ({ reason }) => withReason('paused', reason),
  'campaign-resumed': ({ reason }) => withReason('resumed', reason),
  'campaign-stopped': ({ reason }) => withReason('stopped', reason),
}

function describeProbed(event: LedgerEvent<'probed'>): string {
  const harness = describeHarness(describeGuard({ probes: event }))
  return `probes: ${harness}${event.not_probed === null ? '' : `: ${event.not_probed}`}`
}

function describeNoApprovalNeeded(experiment: string, additions: readonly PackageAddition[]): string {
  if (additions.length === 0) return `${experiment} no longer needs an approval`
  const names = [...new Set(additions.map(({ name }) => name))]
  return `${experiment} adds ${formatPackages(names, additions)}, which the spec approves`
}

function describeDecision(event: LedgerEvent<'decided'>): string {
  const { evidence } = parseReason(event.reason)
  const line = evidence === null ? '' : ` ${evidence}`
  return `${event.experiment} ${renderVerdictSentence(event)}${line}${formatWarnings(event.warnings)}`
}

function describeMeasurement(report: LedgerEvent<'measured'>['report'], metrics: ShownMetrics): string {
  if (report.runner_error !== null) return formatRunnerError(report.runner_error)
  if (report.executions.some(({ role }) => role === 'holdout')) return 'measured on the holdout'
  const sides = [...new Set(report.executions.map(({ side }) => side))]
  if (sides.some(side => side.startsWith('probe-'))) return 'measured the probes'
  if (sides.length === 0) return 'measured nothing: setup or a gate failed'
  const values = (side: Side) => aggregateMetrics(report, side, metrics.aggregation)
  const candidates = sides.filter(side => side !== 'base')
  const shown =
    candidates.length === 0
      ? sides.map(side => [side, formatMetrics(values(side), metrics)])
      : candidates.map(side => [side, formatChanges(values('base'), values(side), metrics)])
  const named = shown.map(([side, text]) => `${describeSide(side)} ${text || 'has no result'}`)
  return `measured: ${named.join('; ')}`
}

/** Calibration measures the base against a copy of itself. */
function describeSide(side = ''): string {
  return side === 'base-copy' ? 'a copy of the base' : side
}

/** Prints only the first word of each warning. `winnow show` prints them in full. */
function formatWarnings(warnings: readonly string[]): string {
  return warnings.length === 0 ? '' : ` [${warnings.map(warning => warning.split(':', 1)[0]).join('; ')}]`
}

export function toShortId(id: string): string {
  return id.slice(0, 12)
}

// Audit and replay

interface AuditFindings {
  ok: boolean
  campaign: string
  checked: Readonly<Record<string, number>>
  problems: readonly { what: string }[]
  unproven: { what: string } | null
  open: readonly { what: string }[]
  continuity: string | null
  attestation: { says: string }
  limits: string
}

interface ReplayFindings {
  ok: boolean
  decisions: number
  rounds: number
  differences: readonly {
    seq: number
    experiment: string | null
    field: string
    recorded: unknown
    recomputed: unknown
  }[]
}

export function renderAudit(found: AuditFindings): string[] {
  const counts = Object.entries(found.checked).map(([name, count]) =>
    name.endsWith('s') ? formatCount(count, name.slice(0, -1)) : `${count} ${name}`,
  )
  const result = found.ok ? 'no problem' : formatCount(found.problems.length, 'problem')
  return [
    `Audit of ${found.campaign}: ${result}. Checked ${counts.join(', ')}.`,
    ...(found.unproven === null ? [] : [`First without evidence: ${found.unproven.what}`]),
    ...found.problems
      .filter(({ what }) => what !== found.unproven?.what)
      .map(({ what }) => `  problem: ${what}`),
    ...found.open.map(({ what }) => `  open: ${what}`),
    ...(found.continuity === null ? [] : [found.continuity]),
    found.attestation.says,
    found.limits,
  ]
}

export function renderReplay(campaign: string, found: ReplayFindings): string[] {
  const result = found.ok ? 'no difference' : formatCount(found.differences.length, 'difference')
  const json = (value: unknown) => JSON.stringify(value) ?? 'nothing'
  return [
    `Replay of ${campaign}: ${formatCount(found.decisions, 'verdict')} in ${formatCount(found.rounds, 'round')}, ${result}.`,
    ...found.differences.map(
      ({ seq, experiment, field, recorded, recomputed }) =>
        `  event ${seq}${experiment === null ? '' : ` ${experiment}`}: ${field} is recorded as ${json(recorded)}, computed as ${json(recomputed)}`,
    ),
  ]
}
