import type { Progress } from '../decide/progress.ts'
import { gainText } from '../decide/progress-text.ts'
import type { Campaign, Landing } from '../model/campaign.ts'
import { numberIn } from '../model/report.ts'
import { snapshotMetrics } from '../model/snapshot.ts'

/** The primary metric as the kept changes moved it; null where nothing was measured (invariant 5). */
export interface ChartData {
  metric: string
  /** The progress in a few characters, as the badge has it. */
  gain: string
  /** Where progress is counted from. */
  start: number | null
  marks: Mark[]
  /** Where one test of all kept changes puts the metric. */
  end: number | null
  /** Numbers of the first and the last experiment; both 0 without any. */
  first: number
  last: number
}

export interface Mark {
  id: string
  number: number
  /** Differs from the mark before where something else than winnow changed the metric. */
  from: number
  value: number
  takenBack: boolean
  /** A kept change's revert: part of the line, and no gain. */
  isRevert: boolean
}

type Level = Pick<Mark, 'from' | 'value'>

export function chartData(campaign: Campaign, progress: Progress): ChartData {
  const { experiments, origin } = campaign
  const { metric } = progress
  const numbers = Object.values(experiments).map(({ number }) => number)
  const start = numberIn(snapshotMetrics(origin?.snapshot ?? null), metric)
  const tested = progress.is === 'tested' ? progress.effect : null
  return {
    metric,
    gain: gainText(progress),
    start,
    marks: marksOf(campaign, progress, start),
    end: start === null || tested === null ? null : moved(start, tested, progress),
    first: numbers[0] ?? 0,
    last: numbers.reduce((most, number) => Math.max(most, number), 0),
  }
}

/** The metric at the start of the campaign and with everything that was kept; null where one of them is unknown. */
export function fromStartToNow(campaign: Campaign, progress: Progress): { from: number; to: number } | null {
  if (progress.is === 'numbers') {
    const [{ from }] = progress.stretches
    return { from, to: progress.stretches.at(-1)?.to ?? from }
  }
  const from = numberIn(snapshotMetrics(campaign.origin?.snapshot ?? null), progress.metric)
  if (from === null || !('effect' in progress)) return null
  return { from, to: moved(from, progress.effect, progress) }
}

function marksOf(campaign: Campaign, progress: Progress, start: number | null): Mark[] {
  let level = start
  return campaign.landings.flatMap((landing): Mark[] => {
    const kept = campaign.experiments[landing.experiment]
    const found =
      progress.is === 'tested' || progress.is === 'composed'
        ? byEffect(landing, level, progress)
        : byNumbers(campaign, landing, progress.metric)
    if (kept === undefined || found === null) return []
    const takenBack = landing.reverted !== null
    if (!takenBack) level = found.value
    const isRevert = kept.purpose === 'revert'
    return [{ id: kept.id, number: kept.number, takenBack, isRevert, ...found }]
  })
}

function byNumbers({ steps }: Campaign, { experiment }: Landing, metric: string): Level | null {
  const step = steps.find(each => each.experiment === experiment && each.by === 'numbers')
  const from = numberIn(step?.from.metrics ?? {}, metric)
  const value = numberIn(step?.to.metrics ?? {}, metric)
  return from === null || value === null ? null : { from, value }
}

/** The steps of a noisy metric are effects of pairs: medians of different hours cannot be compared. */
function byEffect({ effect }: Landing, from: number | null, progress: Progress): Level | null {
  if (from === null || effect?.metric !== progress.metric) return null
  return { from, value: moved(from, effect.effect, progress, effect.scale) }
}

function moved(
  value: number,
  effect: number,
  progress: Progress,
  scale: 'log' | 'linear' = 'scale' in progress ? progress.scale : 'linear',
): number {
  const change = progress.direction === 'minimize' ? 0 - effect : effect
  return scale === 'log' ? value * Math.exp(change) : value + change
}
