import { type CampaignProgress, computeProgress } from '../decide/progress.ts'
import type { ControllerContext } from '../engine/observe/observe.ts'
import type { LoadedCampaign } from '../ledger/load.ts'
import type { Campaign } from '../model/campaign.ts'
import { renderLiveLine } from '../report/terminal.ts'
import { getCampaignSpec } from '../spec/load.ts'
import type { Call } from './verb.ts'

const REFRESH_MS = 250

/** Node treats a longer timeout as 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** `text` returns null to show nothing. Without a terminal nothing is shown. */
export async function showLive<T>(
  { terminal, environment: { clock } }: Pick<Call, 'terminal' | 'environment'>,
  text: (elapsedSeconds: number) => string | null,
  work: () => Promise<T>,
): Promise<T> {
  const begun = clock.monotonic()
  const over = new AbortController()
  const refresh = async () => {
    while (!over.signal.aborted) {
      terminal.live(text((clock.monotonic() - begun) / 1_000))
      await clock.sleep(REFRESH_MS, over.signal)
    }
  }
  const running = Promise.resolve()
    .then(work)
    .finally(() => over.abort())
  const [shown, done] = await Promise.allSettled([refresh(), running])
  terminal.live(null)
  if (done.status === 'rejected') throw done.reason
  if (shown.status === 'rejected') throw shown.reason
  return done.value
}

/** Only reads the controller's state. */
export function createLiveRenderer({ memory, runner, context }: ControllerContext): () => string | null {
  const begun = new Map<string, number>()
  let cached: { loaded: LoadedCampaign; progress: CampaignProgress } | null = null

  function getProgress(loaded: LoadedCampaign): CampaignProgress {
    if (cached?.loaded === loaded) return cached.progress
    const progress = computeProgress(loaded.campaign, getCampaignSpec(loaded.campaign))
    cached = { loaded, progress }
    return progress
  }

  return () => {
    const { loaded } = memory
    if (loaded === null) return null
    const orders = listOrdersHere(loaded.campaign)
    const asked = runner.proposing
    const now = context.clock.monotonic()
    const keys = new Set([...orders.map(({ order }) => order.id), ...asked])
    for (const key of begun.keys()) if (!keys.has(key)) begun.delete(key)
    for (const key of keys) if (!begun.has(key)) begun.set(key, now)
    const seconds = (now - Math.min(now, ...begun.values())) / 1_000
    return renderLiveLine(loaded.campaign, getProgress(loaded), {
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

  function listOrdersHere({ orders }: Campaign) {
    return Object.values(orders).filter(
      ({ order, report }) => report === null && runner.doing(order.id) === 'running',
    )
  }
}

/** Limits measuring time. Waiting for other processes or for an answer does not count. */
export interface MeasuringTime {
  /** Aborts when the time is used up; never without a limit. */
  signal: AbortSignal
  begins: () => void
  /** Returns whether it was counting. */
  ends: () => boolean
  seconds: () => number
}

/** `now` returns monotonic milliseconds. */
export function createMeasuringTime(minutes: number | null, now: () => number): MeasuringTime {
  const done = new AbortController()
  let left = minutes === null ? Number.POSITIVE_INFINITY : minutes * 60_000
  let since: number | null = null
  let spent = 0
  let timer: NodeJS.Timeout | undefined
  return {
    signal: done.signal,
    begins() {
      if (since !== null || done.signal.aborted) return
      since = now()
      if (left < LONGEST_TIMER_MS) timer = setTimeout(() => done.abort(), Math.max(0, left)).unref()
    },
    ends() {
      if (since === null) return false
      clearTimeout(timer)
      const counted = now() - since
      left -= counted
      spent += counted
      since = null
      return true
    },
    seconds: () => (spent + (since === null ? 0 : now() - since)) / 1000,
  }
}
