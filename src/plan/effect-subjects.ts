import { hasUntestedGain } from '../decide/progress.ts'
import { isOwnGain } from '../model/fold-progress.ts'
import type { Campaign, Landing } from '../model/campaign.ts'
import { getProgressJobs } from '../model/fold-order.ts'
import type { Point } from '../model/ids.ts'
import { EFFECT_JOBS, type OrderCandidate, type ReportingPurpose } from '../model/order.ts'
import type { PairJob } from '../model/pairs.ts'
import { selectComparison, type ComparingFacts } from './orders.ts'
import { buildPairsRule } from './paired-order.ts'
import type { World } from './world.ts'

/** Something to be measured once more, by pairs that decide nothing about it. */
export interface EffectSubject {
  purpose: ReportingPurpose
  base: Point
  candidates: OrderCandidate[]
  carried: PairJob[]
  /** Of the progression test: which of its jobs. */
  part?: number
  /** Since when it could be measured. */
  since: string
  /** The event that its orders answer. */
  cause: string
  /** What is said if it cannot be measured, once for each `about`. */
  alert: { code: string; about: string; what: string }
}

export const WATCH_INTERVAL_MS = 20 * 3_600_000

/** Every landing that pairs proved, and that has not been measured since (decision.md 3.6). */
export function listUnreportedLandings(world: World): EffectSubject[] {
  const { campaign } = world
  return listCurrentLandings(world).flatMap((landing): EffectSubject[] => {
    if (landing.effect !== null) return []
    const { experiment: about, base, commit, tree, watch } = landing
    const alert = { code: 'effect-not-measured', about, what: `the effect of ${about}` }
    const candidates = [toIncumbentCandidate({ commit, tree })]
    const cause = getLandingCause(campaign, landing)
    return [{ purpose: 'effect', base, candidates, carried: [], since: watch.at, cause, alert }]
  })
}

/** Landings to be looked at again this night (decision.md 3.7): nothing is said of what is to be taken back. */
export function listWatchedLandings(world: World): EffectSubject[] {
  const { campaign, now } = world
  return listCurrentLandings(world).flatMap((landing): EffectSubject[] => {
    const { experiment: about, base, watch } = landing
    const leaving = campaign.steered.some(wish => wish.action === 'revert' && wish.experiment === about)
    if (watch.state !== 'open' || leaving || base.tree === campaign.incumbent.tree) return []
    if (!(Date.parse(now) - Date.parse(watch.at) >= WATCH_INTERVAL_MS)) return []
    const alert = { code: 'watch-ended', about, what: `whether ${about} still holds` }
    const candidates = [toIncumbentCandidate(campaign.incumbent)]
    const cause = getLandingCause(campaign, landing)
    return [{ purpose: 'regression', base, candidates, carried: watch.jobs, since: watch.at, cause, alert }]
  })
}

/** The incumbent against the default branch it contains, where anything that was kept lies between the two. */
export function listUnreportedProgress(world: ComparingFacts): EffectSubject[] {
  const { reference: base, incumbent: to, started: cause } = world.campaign
  if (selectComparison(world)?.by !== 'pairs' || !hasUntestedGain(world.campaign)) return []
  const alert = { code: 'progression-not-measured', about: to.commit, what: 'the progress of the campaign' }
  const since = world.campaign.landings.at(-1)?.watch.at ?? ''
  const about = {
    purpose: 'progression',
    base,
    candidates: [toIncumbentCandidate(to)],
    carried: [],
    since,
    cause,
    alert,
  } as const
  return listPartsLeft(world).map(part => ({
    ...about,
    candidates: [toIncumbentCandidate(to)],
    carried: [],
    part,
  }))
}

/** The jobs of the progression test that have not been measured. */
function listPartsLeft({ campaign }: Pick<ComparingFacts, 'campaign'>): number[] {
  const { reference: from, incumbent: to, progressing } = campaign
  const done = getProgressJobs(campaign, { from, to }).length === 0 ? [] : (progressing?.parts ?? [])
  return Array.from({ length: EFFECT_JOBS }, (_, part) => part).filter(part => !done.includes(part))
}

/**
 * The campaign against its start by one job, after each round in which something landed. While there is one landing,
 * its own effect is just that.
 */
export function selectProgressSample(world: ComparingFacts): EffectSubject[] {
  const { landings, reference, incumbent: to } = world.campaign
  const left = listUnreportedProgress(world)
  const own = landings.filter(isOwnGain)
  const isOne = own.length === 1 && own[0]?.base.commit === reference.commit && own[0].commit === to.commit
  return left.length < EFFECT_JOBS || isOne ? [] : left.slice(0, 1)
}

/** The time that the progression test still takes; 0 where nothing is left to test. */
export function computeProgressMinutes(world: ComparingFacts): number {
  const left = listUnreportedProgress(world).length
  const { calibration, host } = world.campaign
  const noise = calibration?.noise ?? null
  if (left === 0 || noise === null) return 0
  const job = (noise.overhead_seconds + 2 * (buildPairsRule(world).pairs + 1) * noise.execution_seconds) / 60
  // In a run of their own, between its tick and its settle.
  return host === 'github' ? left * Math.max(1, Math.ceil(job)) + 2 : left * job
}

/** Runner minutes set aside for the progression test, unless they are more than half of the limit. */
export function computeReservedMinutes(world: ComparingFacts): number {
  const limit = world.spec.stopping.max_runner_minutes
  const minutes = computeProgressMinutes(world)
  return limit === null || minutes > limit / 2 ? 0 : minutes
}

/** Landings that pairs proved, that are still there, and whose trees fit the ruler in force. */
function listCurrentLandings(world: World): Landing[] {
  const { campaign } = world
  if (selectComparison(world)?.by !== 'pairs') return []
  return campaign.landings.filter(
    ({ experiment, reverted, pin }) =>
      reverted === null && pin === campaign.pin.commit && campaign.experiments[experiment]?.share != null,
  )
}

function toIncumbentCandidate({ commit, tree }: Point): OrderCandidate {
  return { label: 'incumbent', head: commit, tree }
}

function getLandingCause({ experiments, started }: Campaign, { experiment }: Landing): string {
  return experiments[experiment]?.opened ?? started
}
