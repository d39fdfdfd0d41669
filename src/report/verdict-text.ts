import { computeStateEffect } from '../decide/evidence/interval.ts'
import { computeEvidenceVerdict } from '../decide/evidence/rules.ts'
import { listObjectives } from '../decide/metrics.ts'
import { formatEffect, removeMetricName } from '../decide/paired/effect-text.ts'
import { evaluatePairs, type PairedCase } from '../decide/paired/evaluate.ts'
import { formatCount } from '../decide/wording.ts'
import { describeSyncObstacle, isAwaitingSync } from '../model/alerts.ts'
import { type Campaign, type EffectMeasurement, findLanding, isReverted } from '../model/campaign.ts'
import type { SyncObstacle } from '../model/event-schemas.ts'
import type { Experiment } from '../model/experiment.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import { describeStatus, withReason } from '../model/status.ts'
import { parseReason, toSentenceCase } from '../model/text.ts'
import { getOutcomeLabel, isLanded, type OutcomeLabel, type VerdictWord } from '../model/verdict.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { HOLDOUT_FAILED_REASON } from '../plan/holdout.ts'
import { type CampaignSpecText, getCampaignSpec } from '../spec/load.ts'
import { escapeMarkdown } from './markdown.ts'

// Verdict

export type ExperimentState = Pick<Experiment, 'status' | 'verdict' | 'outcome' | 'reason'> & {
  /** A reverted change is no longer kept. */
  reverted?: boolean
  /** The experiment may be measured again. */
  stays_open?: boolean
  /** Result of its pairs before there is a verdict. */
  progress?: string | null
  /** Packages that must be approved before it is measured. */
  packages?: string | null
  /** No person with the permission has allowed the measurement yet. */
  permission?: boolean
  /** A person must merge the default branch before it is measured. */
  sync?: boolean
  /** The campaign is stopped: what has to happen first. Null while it runs. */
  after?: string | null
  /** Why it was requeued. */
  requeueReason?: string | null
  /** What would settle it, if that is still possible. */
  next?: string | null
}
type VerdictFacts = Pick<ExperimentState, 'verdict' | 'outcome' | 'reason' | 'reverted' | 'stays_open'>

export function describeVerdict(
  experiment: ExperimentState,
): VerdictWord | VerdictLabel | `waiting for ${string}` {
  return toVerdictLabel(experiment) ?? `waiting for ${describeAwaited(experiment)}`
}

const REVERTED_LABEL = 'kept, then reverted'

type VerdictLabel = typeof REVERTED_LABEL | OutcomeLabel

function toVerdictLabel({ verdict, outcome, reverted }: VerdictFacts): VerdictWord | VerdictLabel | null {
  if (reverted === true) return REVERTED_LABEL
  return verdict === null ? null : getOutcomeLabel(outcome, verdict)
}

function describeAwaited({ status, packages, permission, sync, after }: ExperimentState): string {
  switch (status) {
    case 'queued':
      if (after != null) return after
      if (sync === true) return AWAITS_SYNC
      return permission === true ? 'permission to be measured' : 'a runner'
    case 'ordered':
      return 'a runner'
    case 'deferred':
      return packages == null || packages === '' ? 'approval' : `approval of ${packages}`
    case 'measured':
      return 'the rest of its round'
    case 'not-proven':
      return 'more evidence'
    case 'landing':
      return 'its merge'
    case 'ended':
      return 'its verdict'
    default:
      return status satisfies never
  }
}

export function renderVerdictSentence(judged: VerdictFacts): string {
  const { outcome, reason, stays_open } = judged
  const label = toVerdictLabel(judged)
  const word = label === null ? 'Closed' : toSentenceCase(label)
  const suffix = stays_open === true ? ' yet' : ''
  const why = reason === HOLDOUT_FAILED_REASON ? HOLDOUT_FAILED : getPlainReason(judged)
  if (outcome === 'runner_up_dropped' && why.startsWith('promising alone')) return toSentenceCase(why)
  return why === '' ? `${word}${suffix}.` : `${word}${suffix}: ${why}`
}

/** Removes the verdict from the start of a reason, because the label already contains it. */
function getPlainReason({ verdict, reason }: Pick<VerdictFacts, 'verdict' | 'reason'>): string {
  const { sentence } = parseReason(reason ?? '')
  const prefix = `${verdict}: `
  return sentence.startsWith(prefix) ? sentence.slice(prefix.length) : sentence
}

const HOLDOUT_FAILED = 'better on the metric, but failed the holdout'

const NOT_PROVEN = 'not proven' satisfies VerdictWord

export function renderStateSentence(experiment: ExperimentState): string {
  const { verdict, progress = null, next = null, requeueReason = null } = experiment
  const then = next === null ? '' : ` Next: ${next}.`
  if (verdict !== null) return `${renderVerdictSentence(experiment)}${then}`
  if (progress === null) {
    const why = requeueReason === null ? '' : `: ${requeueReason}`
    return `${toSentenceCase(describeVerdict(experiment))}${why}.${then}`
  }
  return `${toSentenceCase(NOT_PROVEN)} yet: ${progress}${then}`
}

// Waiting

export function describeWaiting(waiting: PlanWaiting): string {
  switch (waiting.for) {
    case 'orders':
      return `Waiting for ${countMeasurements(waiting.orders)}.`
    case 'judges': {
      const failed = waiting.reason === null ? '' : ` The last time: ${waiting.reason}.`
      return `Waiting for models to score ${countMeasurements(waiting.orders)}.${failed}`
    }
    case 'proposers':
      return `Waiting for an idea from ${countNames(waiting.who)}.`
    case 'ideas':
      return describeWaitingIdeaSources(waiting.disabled ?? [])
    case 'limit':
      return `Waiting: ${waiting.what}.`
    case 'person':
      return `Waiting for a person: ${waiting.what}`
    case 'nothing':
      return toSentenceCase(withReason('stopped', waiting.reason))
    default:
      return waiting satisfies never
  }
}

function countMeasurements({ length }: readonly unknown[]): string {
  return length === 1 ? 'a measurement' : `${length} measurements`
}

/** Example: "claude (2 at once), codex". */
function countNames(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} at once)`)).join(', ')
}

function describeWaitingIdeaSources(disabled: readonly string[]): string {
  if (disabled.length === 0) return 'Waiting for ideas: no idea is queued, and no proposer has another.'
  const [are, them] = disabled.length === 1 ? ['is', 'it'] : ['are', 'them']
  const why = `${disabled.join(', ')} ${are} disabled after failing to produce a usable idea`
  return `Waiting for ideas: no idea is queued, and ${why}. winnow resume asks ${them} again.`
}

// Effect

/** The reported effect of a landing, and the effect that selected it, which is biased upwards. */
interface ReportedEffectText {
  /** Null: not measured yet. */
  reported: string | null
  selectedBy: string | null
}

type EffectCampaign = Pick<Campaign, 'landings' | 'calibration'> & CampaignSpecText
type DecidedExperiment = Pick<Experiment, 'id' | 'alpha_share' | 'primary_delta' | 'reason' | 'verdict'>

/** Returns null without pairs, and for a reverted change. */
export function describeReportedEffect(
  campaign: EffectCampaign,
  { id, alpha_share, primary_delta }: Pick<Experiment, 'id' | 'alpha_share' | 'primary_delta'>,
): ReportedEffectText | null {
  const landing = findLanding(campaign, id)
  if (!landing || alpha_share === null) return null
  const { effect } = landing
  const scale = effect?.scale ?? campaign.calibration?.scale ?? 'linear'
  const selected = primary_delta === null ? null : { effect: primary_delta, interval: null, scale }
  return {
    reported: effect && `${formatEffectWords(campaign, effect)}, ${formatCount(effect.pairs, 'pair')}`,
    selectedBy: selected && formatEffectWords(campaign, selected),
  }
}

/** Every table uses this reason. Once the reported effect is known, the selection effect follows it. */
export function describeTableReason(campaign: EffectCampaign, experiment: DecidedExperiment): string {
  const effect = describeReportedEffect(campaign, experiment)
  if (effect?.reported == null) return getPlainReason(experiment)
  return `reported effect ${effect.reported}${effect.selectedBy === null ? '' : `; selected by ${effect.selectedBy}`}`
}

/** Omits the metric's name where it is obvious: "77.0 % less CPU (74.0 to 77.8 %)". */
export function describeKeptEffect(campaign: EffectCampaign, experiment: DecidedExperiment): string | null {
  const { name } = getCampaignSpec(campaign).metric.primary
  const effect = findLanding(campaign, experiment.id)?.effect ?? null
  if (effect !== null) return removeMetricName(formatEffectWords(campaign, effect), name)
  const selected = describeReportedEffect(campaign, experiment)?.selectedBy ?? null
  const about = selected?.replace(`${name} `, () => `${name} about `)
  const reason = getPlainReason(experiment).replaceAll(' -> ', ' → ')
  return removeMetricName(about ?? reason.replace(/, deterministic.*$/, ''), name) || null
}

function formatEffectWords(
  campaign: CampaignSpecText,
  { effect, interval, scale }: Pick<EffectMeasurement, 'effect' | 'interval' | 'scale'>,
): string {
  const [{ name, direction }] = listObjectives(getCampaignSpec(campaign).metric)
  return formatEffect(effect, interval, { name, direction, scale })
}

/** A positive effect is better. On the log scale it is a difference of natural logarithms. */
export function computePairedNumbers(paired: PairedCase, evaluation = evaluatePairs(paired)) {
  const { evidence: reached, threshold: needed } = computeEvidenceVerdict(evaluation.primary)
  const { effect, interval } = computeStateEffect(evaluation.primary)
  return { effect, interval, evidence: { reached, needed } }
}

// Paused campaigns

const MAX_REASON_LENGTH = 600

/** For an experiment that waits until the campaign continues. */
export function renderPausedSentence(campaign: Pick<Campaign, 'name' | 'status' | 'status_reason'>): string {
  const state = escapeMarkdown(describeStatus(campaign), MAX_REASON_LENGTH)
  return `campaign ${escapeMarkdown(campaign.name)} is ${state}. It goes on by itself when the campaign does.`
}

// Kept changes

/** Excludes reverted changes and reverts. */
export function listKeptExperiments(campaign: Pick<Campaign, 'experiments' | 'landings'>): Experiment[] {
  return Object.values(campaign.experiments).filter(
    ({ id, outcome }) =>
      outcome !== null && isLanded(outcome) && outcome !== 'revert_landed' && !isReverted(campaign, id),
  )
}

// Sync by a person

export const AWAITS_SYNC = "a person's sync"

type SyncCampaign = Pick<Campaign, 'name' | 'default_branch'> & CampaignSpecText

type SyncWords = ReturnType<typeof describeSyncObstacle>

export function findSyncWords(campaign: SyncCampaign, experiment: Experiment): SyncWords | null {
  const obstacle = experiment.awaits_sync?.obstacle
  return obstacle === undefined || !isAwaitingSync(experiment) ? null : buildSyncWords(campaign, obstacle)
}

export function buildSyncWords(campaign: SyncCampaign, obstacle: SyncObstacle): SyncWords {
  const { optimize } = buildCampaignRefs(getCampaignSpec(campaign).branches.prefix, campaign.name)
  return describeSyncObstacle(campaign, { optimize: toShortRef(optimize), obstacle })
}

const MAX_SENTENCE_LENGTH = 400

export function renderSyncMarkdown(words: SyncWords): string {
  return `Waiting for ${AWAITS_SYNC}: ${renderSyncSentence(words)} winnow measures it automatically after that.`
}

export function renderSyncSentence({ because, next }: SyncWords): string {
  return `${escapeMarkdown(because, MAX_SENTENCE_LENGTH)}. Next step: ${escapeMarkdown(next, MAX_SENTENCE_LENGTH)}.`
}
