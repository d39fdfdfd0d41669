import { listAwaitedFindings } from '../model/approval.ts'
import { roundNumbers } from '../decide/wording.ts'
import { toSentenceCase } from '../model/text.ts'
import { type Campaign, findLanding } from '../model/campaign.ts'
import { type Experiment, isUndecided } from '../model/experiment.ts'
import { describeHarness, describeGuard } from '../model/harness-guard.ts'
import type { FailedPart } from '../model/report.ts'
import {
  EXIT_CODES,
  type Outcome,
  toVerdictWord,
  type VerdictWord,
  WAITING_EXIT_CODE,
} from '../model/verdict.ts'
import { readCampaignSpec } from '../spec/load.ts'
import { toShortId } from './event-log.ts'
import { getEvidenceLine, getExperimentState } from './experiment-state.ts'
import { type ReadonlyMetrics, suggestQuieterMetric } from './metrics.ts'
import type { Results } from './results.ts'
import { renderFailedOutput } from './verdict-markdown.ts'
import { describeVerdict, renderStateSentence } from './verdict-text.ts'

/** Answer of `winnow try`. Agents rely on exactly these JSON keys. */
export interface TryAnswer {
  campaign: string
  /** Null if no experiment was created. */
  id: string | null
  verdict: ReturnType<typeof describeVerdict>
  outcome: Outcome | null
  sentence: string
  /** Evidence behind the sentence, if pairs decided. */
  evidence_line: string | null
  /** Effect on the primary. Positive is better; on the log scale, a difference of natural logarithms. */
  effect: number | null
  interval: readonly [number, number] | null
  scale: 'log' | 'linear' | null
  evidence: { reached: number; needed: number } | null
  metrics: ReadonlyMetrics
  /** Metrics of the version that it was compared with. */
  base_metrics: ReadonlyMetrics
  warnings: readonly string[]
  /** Whether the probes showed that the harness can be deceived: `guarded`, `forgeable by: …`, `not probed`. */
  guard: string | null
  failed: FailedPart | null
  next: string
  hypothesis: string | null
  branch: string | null
  pr: number | null
  /** The commit on the optimize branch that landed it. */
  landed: string | null
  /** The same files were measured before, and this is the earlier verdict. */
  tried_before: boolean
  left_out: string[]
}

export interface TryContext {
  optimize: string
  pr: number | null
  triedBefore: boolean
  leftOut: readonly string[]
  take: string
  waiting: string | null
  measured: Pick<Results, 'effect' | 'evidence' | 'metrics' | 'warnings' | 'failed'>
}

export function buildTryAnswer(campaign: Campaign, experiment: Experiment, context: TryContext): TryAnswer {
  const state = getExperimentState(campaign, experiment)
  const { id, outcome, hypothesis, branch } = experiment
  const landed = findLanding(campaign, id)?.commit ?? null
  const sentence = renderStateSentence({ ...state, next: null })
  return {
    campaign: campaign.name,
    id,
    verdict: describeVerdict(state),
    outcome,
    sentence: composeTrySentence(sentence, { ...context, id, landed }),
    evidence_line: getEvidenceLine(campaign, experiment),
    ...roundNumbers(collectTryNumbers(context.measured, experiment.metrics)),
    guard: experiment.guard ?? describeGuard(campaign),
    next: describeNextStep(campaign, experiment, context),
    hypothesis,
    branch,
    pr: context.pr,
    landed,
    tried_before: context.triedBefore,
    left_out: [...context.leftOut],
  }
}

type TryNumbers = Pick<
  TryAnswer,
  'metrics' | 'effect' | 'interval' | 'scale' | 'evidence' | 'base_metrics' | 'warnings' | 'failed'
>

/** Takes both sides of a metric from the executions of all deciding jobs, and not from the last job alone. */
function collectTryNumbers(
  { effect, evidence, metrics, warnings, failed }: TryContext['measured'],
  lastMeasured: ReadonlyMetrics,
): TryNumbers {
  const decided = Object.entries(metrics)
  const candidates = Object.fromEntries(decided.map(([name, { candidate }]) => [name, candidate]))
  return {
    metrics: decided.length === 0 ? lastMeasured : candidates,
    effect: effect?.value ?? null,
    interval: effect?.interval ?? null,
    scale: effect?.scale ?? null,
    evidence,
    base_metrics: Object.fromEntries(decided.map(([name, { base }]) => [name, base])),
    warnings,
    failed,
  }
}

/** Keeps one sentence, and adds the landing commit or the fact that the verdict is an earlier one. */
function composeTrySentence(
  sentence: string,
  { id, landed, optimize, triedBefore, waiting }: TryContext & { id: string; landed: string | null },
): string {
  const plain = sentence.replace(/\.$/, '')
  const before = triedBefore ? plain.replace(/^([^:]+)/, `$1 (tried before, as ${id})`) : plain
  if (landed !== null) return `${before}; it is merged into ${optimize} as ${toShortId(landed)}.`
  return waiting === null ? `${before}.` : `${before}: ${toClause(waiting)}.`
}

function toClause(text: string): string {
  return text
    .replace(/^approval: /, '')
    .replace(/\.$/, '')
    .replaceAll(/\. (\S)/g, (_, first: string) => `; ${first.toLowerCase()}`)
}

function describeNextStep(
  campaign: Campaign,
  experiment: Experiment,
  { take, optimize, measured }: TryContext,
): string {
  const { id, status, reason } = experiment
  const verdict = isUndecided(experiment) ? null : experiment.verdict
  if (status === 'deferred') {
    const what =
      listAwaitedFindings(experiment).length > 0
        ? 'read the change and approve it'
        : 'approve the new packages'
    return `ask a person to ${what}: winnow approve ${id}`
  }
  switch (verdict) {
    case null:
      return `repeat the command, or winnow show ${id}`
    case 'kept':
      return take
    case 'no gain':
      return 'try a different kind of change'
    case 'worse':
      return 'undo the change; it is harmful'
    case 'not proven':
      return describeNotProvenStep(campaign, experiment)
    case 'refused':
      if (reason?.includes(' conflict in ')) return describeConflictStep(optimize)
      return `fix it (${reason ?? 'winnow show'}), then try again`
    case 'broken':
      return measured.failed === null || measured.failed.output === null
        ? 'fix the failure, then try again'
        : `fix the failure, then try again; winnow show ${id} prints the end of its output`
    default:
      return verdict satisfies never
  }
}

/** Suggests more jobs first, unless measuring stopped for lack of a promising result. */
function describeNotProvenStep(campaign: Campaign, experiment: Experiment): string {
  const next = experiment.status === 'not-proven' ? describeMoreJobs(experiment) : 'look for a larger gain'
  const spec = readCampaignSpec(campaign)
  const quieter = spec === null ? null : suggestQuieterMetric(campaign.calibration, spec)
  return quieter === null ? next : `${next}. Or: ${quieter}`
}

function describeMoreJobs({ resumed, given_up }: Experiment): string {
  const again = 'repeat the command for more jobs'
  if (given_up !== null) return `look for a larger gain, or ${again}`
  return resumed === 0 ? again : `${again}, or look for a larger gain`
}

/** Two ideas change the same lines. Uses git's terms, because the user resolves the conflict with git. */
export function describeConflictStep(optimize: string): string {
  return `commit it to a branch, merge ${optimize} there, resolve, then repeat the command`
}

// Without an experiment

interface UnmeasuredTry {
  campaign: string
  verdict: 'refused' | 'broken' | `waiting for ${string}`
  message: string
  next: string
  leftOut: readonly string[]
}

export function buildUnmeasuredAnswer(unmeasured: UnmeasuredTry): TryAnswer {
  const { campaign, verdict, message, next, leftOut } = unmeasured
  return {
    campaign,
    id: null,
    verdict,
    outcome: verdict === 'refused' ? 'refused' : null,
    sentence: `${toSentenceCase(verdict)}: ${message.replace(/\.$/, '')}.`,
    evidence_line: null,
    ...collectTryNumbers({ effect: null, evidence: null, metrics: {}, warnings: [], failed: null }, {}),
    guard: null,
    next,
    hypothesis: null,
    branch: null,
    pr: null,
    landed: null,
    tried_before: false,
    left_out: [...leftOut],
  }
}

export function toTryExitCode({ verdict, outcome }: TryAnswer): number {
  if (verdict === 'kept, then reverted') return EXIT_CODES['no gain']
  if (outcome !== null && !isWord(verdict)) return EXIT_CODES[toVerdictWord(outcome, false)]
  return isWord(verdict) ? EXIT_CODES[verdict] : WAITING_EXIT_CODE
}

function isWord(verdict: string): verdict is VerdictWord {
  return Object.hasOwn(EXIT_CODES, verdict)
}

const MAX_OUTPUT_LINES = 10

export function renderTryAnswer(answer: TryAnswer): string[] {
  const { sentence, evidence_line: evidence, id, pr, branch, landed, next, failed, guard } = answer
  const where = id === null ? [] : [[id, pr === null ? '' : `#${pr}`, landed === null ? (branch ?? '') : '']]
  return [
    sentence,
    ...(evidence === null ? [] : [`  ${evidence}`]),
    ...(guard === null ? [] : [`  ${describeHarness(guard)}`]),
    ...renderFailedOutput(failed?.output, MAX_OUTPUT_LINES),
    ...where.map(words => `  ${words.filter(word => word !== '').join('  ')}`),
    `Next: ${next}`,
  ]
}
