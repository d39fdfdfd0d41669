import type { CampaignProgress } from '../decide/progress.ts'
import { formatGain } from '../decide/progress-text.ts'
import type { Campaign, Landing } from '../model/campaign.ts'
import { getNumber } from '../model/report.ts'
import { aggregateSnapshot } from '../model/snapshot.ts'

/** The primary metric as the kept changes moved it; null where nothing was measured (invariant 5). */
export interface ChartData {
  metric: string
  /** The progress in a few characters, as the badge has it. */
  gain: string
  /** Where progress is counted from. */
  start: number | null
  marks: ChartMark[]
  /** Where one test of all kept changes puts the metric. */
  end: number | null
  /** Numbers of the first and the last experiment; both 0 without any. */
  first: number
  last: number
}

export interface ChartMark {
  id: string
  number: number
  /** Differs from the mark before where something else than winnow changed the metric. */
  from: number
  value: number
  reverted: boolean
  /** A kept change's revert: part of the line, and no gain. */
  isRevert: boolean
}

type ChartLevel = Pick<ChartMark, 'from' | 'value'>

export function buildChartData(campaign: Campaign, progress: CampaignProgress): ChartData {
  const { experiments, origin } = campaign
  const { metric } = progress
  const numbers = Object.values(experiments).map(({ number }) => number)
  const start = getNumber(aggregateSnapshot(origin?.snapshot ?? null), metric)
  const tested = progress.is === 'tested' ? progress.effect : null
  return {
    metric,
    gain: formatGain(progress),
    start,
    marks: buildChartMarks(campaign, progress, start),
    end: start === null || tested === null ? null : shiftByEffect(start, tested, progress),
    first: numbers[0] ?? 0,
    last: numbers.reduce((most, number) => Math.max(most, number), 0),
  }
}

/** The metric at the start of the campaign and with everything that was kept; null where one of them is unknown. */
export function computeMetricChange(
  campaign: Campaign,
  progress: CampaignProgress,
): { from: number; to: number } | null {
  if (progress.is === 'numbers') {
    const [{ from }] = progress.stretches
    return { from, to: progress.stretches.at(-1)?.to ?? from }
  }
  const from = getNumber(aggregateSnapshot(campaign.origin?.snapshot ?? null), progress.metric)
  if (from === null || !('effect' in progress)) return null
  return { from, to: shiftByEffect(from, progress.effect, progress) }
}

function buildChartMarks(campaign: Campaign, progress: CampaignProgress, start: number | null): ChartMark[] {
  let level = start
  return campaign.landings.flatMap((landing): ChartMark[] => {
    const kept = campaign.experiments[landing.experiment]
    const found =
      progress.is === 'tested' || progress.is === 'composed'
        ? computeLevelByEffect(landing, level, progress)
        : findLevelByNumbers(campaign, landing, progress.metric)
    if (kept === undefined || found === null) return []
    const takenBack = landing.reverted !== null
    if (!takenBack) level = found.value
    const isRevert = kept.purpose === 'revert'
    return [{ id: kept.id, number: kept.number, reverted: takenBack, isRevert, ...found }]
  })
}

function findLevelByNumbers({ steps }: Campaign, { experiment }: Landing, metric: string): ChartLevel | null {
  const step = steps.find(each => each.experiment === experiment && each.by === 'numbers')
  const from = getNumber(step?.from.metrics ?? {}, metric)
  const value = getNumber(step?.to.metrics ?? {}, metric)
  return from === null || value === null ? null : { from, value }
}

/** The steps of a noisy metric are effects of pairs: medians of different hours cannot be compared. */
function computeLevelByEffect(
  { effect }: Landing,
  from: number | null,
  progress: CampaignProgress,
): ChartLevel | null {
  if (from === null || effect?.metric !== progress.metric) return null
  return { from, value: shiftByEffect(from, effect.effect, progress, effect.scale) }
}

function shiftByEffect(
  value: number,
  effect: number,
  progress: CampaignProgress,
  scale: 'log' | 'linear' = 'scale' in progress ? progress.scale : 'linear',
): number {
  const change = progress.direction === 'minimize' ? 0 - effect : effect
  return scale === 'log' ? value * Math.exp(change) : value + change
}
