import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import { isBetterAlone, isLanded, getOutcomeLabel } from '../model/outcome.ts'
import { parseReason as recordedReason } from '../model/reason.ts'
import { formatAdvice, summarizeCategories } from '../plan/strategy.ts'
import { toSafeLine, quoteCode } from './quoted-text.ts'

const RECENT = 10
const UNDER_WAY = 10
const LOST = 15

export function listUnderWay(campaign: Campaign): string[] {
  const live = sortNewestFirst(campaign).filter(({ status }) => status !== 'ended')
  return live.slice(0, UNDER_WAY).map(({ id, hypothesis }) => `- ${id}: ${quoteCode(hypothesis, 200)}`)
}

export function listRecent(campaign: Campaign): string[] {
  const ended = sortNewestFirst(campaign).filter(({ status }) => status === 'ended')
  return ended.slice(0, RECENT).map(experiment => {
    const { id, hypothesis, verdict, outcome, learnings } = experiment
    const label = verdict === null ? 'ended' : getOutcomeLabel(outcome, verdict)
    const learned = learnings === null ? '' : ` Learned: ${quoteCode(learnings, 200)}`
    return `- ${id}, ${label}: ${quoteCode(hypothesis, 200)} ${quoteCode(getShownReason(experiment), 200)}${learned}`
  })
}

/** Words of people who may steer, the newest first: quoted like everything that was written by others. */
export function listAvoided({ avoid }: Campaign): string[] {
  return avoid.toReversed().map(({ text }) => `- ${quoteCode(text, 200)}`)
}

/** How each kind of idea fared, what pays first, with the latest that was learned of it. */
export function listCategories(campaign: Campaign): string[] {
  return summarizeCategories(campaign).map(standing => {
    const [latest] = standing.learned
    const learned = latest === undefined ? '' : `. Learned: ${quoteCode(latest.text, 160)}`
    return `- ${quoteCode(standing.category, 40)}: ${formatAdvice(standing)}${learned}`
  })
}

/** Each reason once, with the newest idea it ended: the same mistake is not read ten times. */
export function listFailureReasons(campaign: Campaign): string[] {
  const reasons = new Map<string, { newest: Experiment; count: number }>()
  for (const experiment of sortNewestFirst(campaign)) {
    const { outcome } = experiment
    if (outcome === null || isLanded(outcome) || isBetterAlone(outcome) || outcome === 'withdrawn') continue
    const kind = toSafeLine(getShownReason(experiment), 200)
      .toLowerCase()
      .replaceAll(/\d+(?:\.\d+)?/g, '#')
    const known = reasons.get(kind)
    if (known) known.count += 1
    else reasons.set(kind, { newest: experiment, count: 1 })
  }
  return [...reasons.values()].slice(0, LOST).map(({ newest, count }) => {
    const others = count === 1 ? '' : ` (and ${count - 1} more like it)`
    return `- ${quoteCode(newest.hypothesis, 120)} ${quoteCode(getShownReason(newest), 160)}${others}`
  })
}

/** Gains that another change was preferred to: they may be offered again on what was kept. */
export function listBetterAlone(campaign: Campaign): string[] {
  return sortNewestFirst(campaign)
    .filter(({ outcome }) => isBetterAlone(outcome))
    .slice(0, RECENT)
    .map(each => `- ${each.id}: ${quoteCode(each.hypothesis, 120)} ${quoteCode(getShownReason(each), 160)}`)
}

function sortNewestFirst(campaign: Campaign): Experiment[] {
  return listExperiments(campaign).toSorted((a, b) => b.number - a.number)
}

/** A proposer that knew what a holdout found would fit its ideas to it. */
function getShownReason({ reason }: Experiment): string {
  if (reason === null) return 'no reason was recorded'
  if (/hold[\s_-]?out/i.test(reason)) return 'failed a final check that is not shown'
  return recordedReason(reason).sentence
}
