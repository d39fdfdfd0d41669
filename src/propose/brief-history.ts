import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { experimentsOf } from '../model/experiments.ts'
import { isBetterAlone, isLanded, outcomeLabel } from '../model/outcome.ts'
import { reasonOf as recordedReason } from '../model/reason.ts'
import { adviceText, strategyOf } from '../plan/strategy.ts'
import { oneLine, quoted } from './quoted-text.ts'

const RECENT = 10
const UNDER_WAY = 10
const LOST = 15

export function underWay(campaign: Campaign): string[] {
  const live = newestFirst(campaign).filter(({ status }) => status !== 'ended')
  return live.slice(0, UNDER_WAY).map(({ id, hypothesis }) => `- ${id}: ${quoted(hypothesis, 200)}`)
}

export function recent(campaign: Campaign): string[] {
  const ended = newestFirst(campaign).filter(({ status }) => status === 'ended')
  return ended.slice(0, RECENT).map(experiment => {
    const { id, hypothesis, verdict, outcome, learnings } = experiment
    const label = verdict === null ? 'ended' : outcomeLabel(outcome, verdict)
    const learned = learnings === null ? '' : ` Learned: ${quoted(learnings, 200)}`
    return `- ${id}, ${label}: ${quoted(hypothesis, 200)} ${quoted(reasonOf(experiment), 200)}${learned}`
  })
}

/** Words of people who may steer, the newest first: quoted like everything that was written by others. */
export function avoided({ avoid }: Campaign): string[] {
  return avoid.toReversed().map(({ text }) => `- ${quoted(text, 200)}`)
}

/** How each kind of idea fared, what pays first, with the latest that was learned of it. */
export function kinds(campaign: Campaign): string[] {
  return strategyOf(campaign).map(standing => {
    const [latest] = standing.learned
    const learned = latest === undefined ? '' : `. Learned: ${quoted(latest.text, 160)}`
    return `- ${quoted(standing.category, 40)}: ${adviceText(standing)}${learned}`
  })
}

/** Each reason once, with the newest idea it ended: the same mistake is not read ten times. */
export function lost(campaign: Campaign): string[] {
  const reasons = new Map<string, { newest: Experiment; count: number }>()
  for (const experiment of newestFirst(campaign)) {
    const { outcome } = experiment
    if (outcome === null || isLanded(outcome) || isBetterAlone(outcome) || outcome === 'withdrawn') continue
    const kind = oneLine(reasonOf(experiment), 200)
      .toLowerCase()
      .replaceAll(/\d+(?:\.\d+)?/g, '#')
    const known = reasons.get(kind)
    if (known) known.count += 1
    else reasons.set(kind, { newest: experiment, count: 1 })
  }
  return [...reasons.values()].slice(0, LOST).map(({ newest, count }) => {
    const others = count === 1 ? '' : ` (and ${count - 1} more like it)`
    return `- ${quoted(newest.hypothesis, 120)} ${quoted(reasonOf(newest), 160)}${others}`
  })
}

/** Gains that another change was preferred to: they may be offered again on what was kept. */
export function betterAlone(campaign: Campaign): string[] {
  return newestFirst(campaign)
    .filter(({ outcome }) => isBetterAlone(outcome))
    .slice(0, RECENT)
    .map(each => `- ${each.id}: ${quoted(each.hypothesis, 120)} ${quoted(reasonOf(each), 160)}`)
}

function newestFirst(campaign: Campaign): Experiment[] {
  return experimentsOf(campaign).toSorted((a, b) => b.number - a.number)
}

/** A proposer that knew what a holdout found would fit its ideas to it. */
function reasonOf({ reason }: Experiment): string {
  if (reason === null) return 'no reason was recorded'
  if (/hold[\s_-]?out/i.test(reason)) return 'failed a final check that is not shown'
  return recordedReason(reason).sentence
}
