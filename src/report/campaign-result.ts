import { type CampaignProgress, computeChange, computeProgress, formatProgress } from '../decide/progress.ts'
import { formatCount } from '../decide/wording.ts'
import { listAwaitedPackages } from '../model/approval.ts'
import type { Campaign, EffectMeasurement } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { isBetterAlone, type VerdictWord, verdictWordSchema } from '../model/verdict.ts'
import { getCampaignSpec } from '../spec/load.ts'
import { listAwaitingApproval } from './approval.ts'
import { isReverted, listKeptExperiments } from './verdict-text.ts'

// Result

/** Effect of a landing, measured with pairs that were not used to select it; null until then. */
export type MeasuredEffect = Pick<EffectMeasurement, 'effect' | 'interval' | 'pairs' | 'scale'>

interface ProgressView {
  metric: string
  /**
   * numbers: deterministic values. tested: one test of all changes together. composed: effects of the single
   * changes.
   */
  by: CampaignProgress['is']
  text: string
  scale: EffectMeasurement['scale'] | null
  /** Positive is better. On the log scale, a difference of logarithms. */
  effect: number | null
  interval: EffectMeasurement['interval']
  pairs: number | null
  /** Relative change of the metric: -0.25 is a quarter less. */
  change: number | null
  /**
   * Values before and after, for a deterministic metric. A new entry starts where the default branch changed
   * them.
   */
  stretches: readonly { from: number; to: number }[]
  /** Kept changes that none of these numbers includes. */
  not_measured: readonly string[]
}

export interface CampaignResult {
  started_at: string | null
  /** From the start to the last event. */
  duration_seconds: number | null
  /** The part of it that was spent waiting for other processes of the machine. */
  waited_seconds: number
  /** By displayed word. The counts add up to the number of experiments. */
  verdicts: Tally
  progress: ProgressView
  improvements: {
    id: string
    hypothesis: string
    effect: MeasuredEffect | null
    selected_by: number | null
  }[]
  deferred: { id: string; hypothesis: string; packages: string[]; approve: string }[]
  spent: Campaign['spent']
}

export function buildCampaignResult(campaign: Campaign): CampaignResult {
  const { started_at, updated_at, spent, waited_seconds } = campaign
  return {
    started_at,
    duration_seconds: computeSecondsBetween(started_at, updated_at),
    waited_seconds,
    verdicts: countVerdicts(campaign),
    progress: toProgressView(computeCampaignProgress(campaign)),
    improvements: listKeptExperiments(campaign).map(({ id, hypothesis, primary_delta }) => ({
      id,
      hypothesis,
      effect: findMeasuredEffect(campaign, id),
      selected_by: primary_delta,
    })),
    deferred: listAwaitingApproval(campaign).map(experiment => ({
      id: experiment.id,
      hypothesis: experiment.hypothesis,
      packages: listAwaitedPackages(experiment),
      approve: `winnow approve ${experiment.id}`,
    })),
    spent,
  }
}

export function computeCampaignProgress(campaign: Campaign): CampaignProgress {
  return computeProgress(campaign, getCampaignSpec(campaign))
}

function toProgressView(progress: CampaignProgress): ProgressView {
  const { metric, is: by } = progress
  const text = formatProgress(progress)
  const none = { scale: null, effect: null, interval: null, pairs: null, change: null, stretches: [] }
  if (!('effect' in progress))
    return { metric, by, text, ...none, not_measured: by === 'not measured' ? progress.missing : [] }
  const change = computeChange(progress)
  const { scale, effect, missing } = progress
  return {
    metric,
    by,
    text,
    scale,
    effect,
    interval: progress.is === 'numbers' ? null : progress.interval,
    pairs: progress.is === 'numbers' ? null : progress.pairs,
    change: 'share' in change ? change.share : null,
    stretches: progress.is === 'numbers' ? progress.stretches : [],
    not_measured: missing,
  }
}

export function findMeasuredEffect(
  { landings }: Pick<Campaign, 'landings'>,
  id: Experiment['id'],
): MeasuredEffect | null {
  const landing = landings.find(({ experiment, reverted }) => experiment === id && reverted === null)
  return landing?.effect ? toMeasuredEffect(landing.effect) : null
}

function toMeasuredEffect({ effect, interval, pairs, scale }: EffectMeasurement): MeasuredEffect {
  return { effect, interval, pairs, scale }
}

function computeSecondsBetween(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : (Date.parse(to) - Date.parse(from)) / 1_000
}

// Counts

/** Counts every experiment exactly once, so that the numbers add up. */
export type Tally = Record<VerdictWord | 'waiting' | 'reverted' | 'reverts', number>

type TallyCampaign = Pick<Campaign, 'experiments' | 'landings'>

export function countVerdicts(campaign: TallyCampaign): Tally {
  const words = Object.fromEntries(verdictWordSchema.options.map(word => [word, 0])) as Record<
    VerdictWord,
    number
  >
  const tally = { ...words, waiting: 0, reverted: 0, reverts: 0 }
  for (const experiment of Object.values(campaign.experiments)) tally[getTallyKey(campaign, experiment)] += 1
  return tally
}

/** Example: "10 experiments: 3 kept, 5 no gain, 1 broken, 1 waiting". */
export function renderTally(campaign: TallyCampaign): string {
  const opened = formatCount(Object.keys(campaign.experiments).length, 'experiment')
  const verdicts = describeVerdictCounts(campaign)
  return verdicts === '' ? opened : `${opened}: ${verdicts}`
}

export function describeVerdictCounts(campaign: TallyCampaign): string {
  const experiments = Object.values(campaign.experiments)
  const better = experiments.filter(each => !isOpen(each) && isBetterAlone(each.outcome)).length
  return Object.entries(countVerdicts(campaign))
    .filter(([, count]) => count > 0)
    .map(([key, count]) => {
      const words = key === 'reverts' ? formatCount(count, 'revert') : `${count} ${WORDS[key] ?? key}`
      return key === 'no gain' && better > 0 ? `${words} (${better} better alone)` : words
    })
    .join(', ')
}

const WORDS: Readonly<Record<string, string>> = { reverted: 'kept, then reverted' }

const OPEN: ReadonlySet<Experiment['status']> = new Set(['queued', 'deferred', 'ordered', 'measured'])

/** Can be true after a verdict: a not proven experiment may be measured again. */
function isOpen({ status }: Experiment): boolean {
  return OPEN.has(status)
}

function getTallyKey(campaign: TallyCampaign, experiment: Experiment): keyof Tally {
  const { id, verdict, outcome } = experiment
  if (isOpen(experiment) || verdict === null) return 'waiting'
  if (outcome === 'revert_landed') return 'reverts'
  return isReverted(campaign, id) ? 'reverted' : verdict
}
