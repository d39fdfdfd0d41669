import { hasUntestedGain } from '../decide/progress.ts'
import type { Campaign, Landing } from '../model/campaign.ts'
import { progressOf } from '../model/fold-order.ts'
import type { Point } from '../model/ids.ts'
import type { OrderCandidate, ReportingPurpose } from '../model/order.ts'
import type { Job } from '../model/pairs.ts'
import { EFFECT_JOBS } from './effect-reading.ts'
import { comparing, type ComparingFacts } from './orders.ts'
import { pairsStop } from './paired-order.ts'
import type { World } from './world.ts'

/** Something to be measured once more, by pairs that decide nothing about it. */
export interface EffectSubject {
  purpose: ReportingPurpose
  base: Point
  candidates: OrderCandidate[]
  carried: Job[]
  /** The event that its orders answer. */
  cause: string
  /** What is said if it cannot be measured, once for each `about`. */
  alert: { code: string; about: string; what: string }
}

const LOOK_AGAIN_MS = 20 * 3_600_000

/** Every landing that pairs proved, and that has not been measured since (decision.md 3.6). */
export function unreportedLandings(world: World): EffectSubject[] {
  const { campaign } = world
  return standing(world).flatMap((landing): EffectSubject[] => {
    if (landing.effect !== null) return []
    const { experiment: about, base, commit, tree } = landing
    const alert = { code: 'effect-not-measured', about, what: `the effect of ${about}` }
    const candidates = [incumbent({ commit, tree })]
    return [{ purpose: 'effect', base, candidates, carried: [], cause: causeOf(campaign, landing), alert }]
  })
}

/** Landings to be looked at again this night (decision.md 3.7): nothing is said of what is to be taken back. */
export function landingsToWatch(world: World): EffectSubject[] {
  const { campaign, now } = world
  return standing(world).flatMap((landing): EffectSubject[] => {
    const { experiment: about, base, watch } = landing
    const leaving = campaign.steered.some(wish => wish.action === 'revert' && wish.experiment === about)
    if (watch.state !== 'open' || leaving || base.tree === campaign.incumbent.tree) return []
    if (!(Date.parse(now) - Date.parse(watch.at) >= LOOK_AGAIN_MS)) return []
    const alert = { code: 'watch-ended', about, what: `whether ${about} still holds` }
    const candidates = [incumbent(campaign.incumbent)]
    const cause = causeOf(campaign, landing)
    return [{ purpose: 'regression', base, candidates, carried: watch.jobs, cause, alert }]
  })
}

/** The incumbent against the default branch it contains, where anything that was kept lies between the two. */
export function unreportedProgress(world: ComparingFacts): EffectSubject[] {
  const { reference: base, incumbent: to, started: cause } = world.campaign
  if (comparing(world)?.by !== 'pairs' || !hasUntestedGain(world.campaign)) return []
  const alert = { code: 'progression-not-measured', about: to.commit, what: 'the progress of the campaign' }
  const carried = progressOf(world.campaign, { from: base, to })
  return [{ purpose: 'progression', base, candidates: [incumbent(to)], carried, cause, alert }]
}

/** The time that the progression test still takes; 0 where nothing is left to test. */
export function progressMinutes(world: ComparingFacts): number {
  const [subject] = unreportedProgress(world)
  const noise = world.campaign.calibration?.noise ?? null
  if (subject === undefined || noise === null) return 0
  const job = noise.overhead_seconds + 2 * (pairsStop(world).pairs + 1) * noise.execution_seconds
  return ((EFFECT_JOBS - subject.carried.length) * job) / 60
}

/** Runner minutes set aside for the progression test, unless they are more than half of the limit. */
export function setAsideMinutes(world: ComparingFacts): number {
  const limit = world.spec.stopping.max_runner_minutes
  const minutes = progressMinutes(world)
  return limit === null || minutes > limit / 2 ? 0 : minutes
}

/** Landings that pairs proved, that are still there, and whose trees fit the ruler in force. */
function standing(world: World): Landing[] {
  const { campaign } = world
  if (comparing(world)?.by !== 'pairs') return []
  return campaign.landings.filter(
    ({ experiment, reverted, pin }) =>
      reverted === null && pin === campaign.pin.commit && campaign.experiments[experiment]?.share != null,
  )
}

function incumbent({ commit, tree }: Point): OrderCandidate {
  return { label: 'incumbent', head: commit, tree }
}

function causeOf({ experiments, started }: Campaign, { experiment }: Landing): string {
  return experiments[experiment]?.opened ?? started
}
