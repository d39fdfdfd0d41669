import { changeText, numberText, percentText } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { incumbentMetrics } from '../model/incumbent-metrics.ts'
import { snapshotMetrics } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { numberIn } from '../model/report.ts'

/** The primary metric as the campaign moved it; null where nothing was measured (invariant 5). */
export interface Progress {
  metric: string
  /** What progress is counted from, and where the incumbent is. */
  from: number | null
  now: number | null
  kept: Kept[]
  /** Numbers of the first and the last experiment; both 0 without any. */
  first: number
  last: number
}

export interface Kept {
  id: string
  number: number
  value: number
  takenBack: boolean
  /** It took an earlier change back. */
  isRevert?: boolean
}

export function progressOf(campaign: Campaign, spec: Spec): Progress {
  const { name: metric } = spec.metric.primary
  const { experiments, landings, origin } = campaign
  const numbers = Object.values(experiments).map(({ number }) => number)
  const kept = landings.flatMap(({ experiment, reverted }): Kept[] => {
    const landed = experiments[experiment]
    const value = numberIn(landed?.metrics ?? {}, metric)
    if (landed === undefined || value === null) return []
    return [
      {
        id: landed.id,
        number: landed.number,
        value,
        takenBack: reverted !== null,
        isRevert: landed.outcome === 'revert_landed',
      },
    ]
  })
  return {
    metric,
    from: numberIn(snapshotMetrics(origin), metric),
    now: numberIn(incumbentMetrics(campaign), metric),
    kept,
    first: numbers[0] ?? 0,
    last: numbers.reduce((most, number) => Math.max(most, number), 0),
  }
}

/** "bytes 1200 -> 1100 (-8.3 %)", or what is known of it. */
export function progressText({ metric, from, now }: Progress): string {
  if (from !== null && now !== null) return changeText(metric, from, now)
  return now === null ? `${metric} is not measured yet` : `${metric} ${numberText(now)}`
}

/** As few characters as say it: "-8.3 %". */
export function gainText({ from, now }: Progress): string {
  if (from === null || now === null) return 'not measured'
  if (from === now) return 'no gain yet'
  const change = now - from
  return from === 0 ? `${change > 0 ? '+' : ''}${numberText(change)}` : percentText(change / Math.abs(from))
}
