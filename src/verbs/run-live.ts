import { type CampaignProgress, computeProgress } from '../decide/progress.ts'
import type { ControllerContext } from '../engine/apply.ts'
import { getCampaignSpec } from '../spec/recorded-spec.ts'
import type { LoadedCampaign } from '../ledger/load.ts'
import type { Campaign } from '../model/campaign.ts'
import { renderLiveLine } from '../report/live-text.ts'

/** What a run says of itself while it goes on: looked at from outside, and of no influence on it. */
export function createLiveRenderer({
  memory,
  runner,
  asking,
  place,
}: ControllerContext): () => string | null {
  const begun = new Map<string, number>()
  let told: { loaded: LoadedCampaign; progress: CampaignProgress } | null = null

  function progressNow(loaded: LoadedCampaign): CampaignProgress {
    if (told?.loaded === loaded) return told.progress
    const progress = computeProgress(loaded.campaign, getCampaignSpec(loaded.campaign))
    told = { loaded, progress }
    return progress
  }

  return () => {
    const { loaded } = memory
    if (loaded === null) return null
    const orders = measuredHere(loaded.campaign)
    const asked = asking.asked
    const now = place.clock.monotonic()
    const keys = new Set([...orders.map(({ order }) => order.id), ...asked])
    for (const key of begun.keys()) if (!keys.has(key)) begun.delete(key)
    for (const key of keys) if (!begun.has(key)) begun.set(key, now)
    const seconds = (now - Math.min(now, ...begun.values())) / 1_000
    return renderLiveLine(loaded.campaign, progressNow(loaded), {
      orders,
      asked,
      seconds,
      elsewhere: isMeasuredElsewhere(loaded.campaign),
    })
  }

  function isMeasuredElsewhere({ orders }: Campaign): boolean {
    return Object.values(orders).some(
      ({ report, run_id }) => report === null && run_id !== null && run_id !== runner.runId,
    )
  }

  function measuredHere({ orders }: Campaign) {
    return Object.values(orders).filter(
      ({ order, report }) => report === null && runner.doing(order.id) === 'running',
    )
  }
}
