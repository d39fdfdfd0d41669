import { ConflictError } from '../errors.ts'
import { SilentRemote } from '../git/remote-limits.ts'
import type { EventDraft } from '../model/event.ts'
import type { PlanAction, Plan, PlanWaiting } from '../plan/action.ts'
import { planCampaign } from '../plan/stages.ts'
import type { ControllerContext } from './apply.ts'
import { recordRename } from './default-branch.ts'
import { requireHome } from './home.ts'
import { resetMemory } from './memory.ts'
import { type Observation, observe } from './observe.ts'
import { restartIfMerged } from './restart.ts'
import { recordReviewApprovals } from './reviews.ts'
import { applyPlan } from './turn.ts'
import { explainDiskError } from './unwritable.ts'
import { withSavedEvents } from './unwritten.ts'

export interface TickResult {
  waiting: PlanWaiting
  seen: Observation | null
}

const PATIENCE = 200
/** As many pushes in a row may get no answer. */
const MOST_SILENT = 2
/** Looks in a row after which no ref was another one: more than any effects need to show, and then it is a mistake. */
const MOST_STILL = 20

/**
 * Observe, plan, apply, until nothing is left to do now (invariant 7). A lost race is no error here: the plan
 * is thrown away and the world looked at again.
 */
export async function tickCampaign(hands: ControllerContext): Promise<TickResult> {
  dropStaleRefs(hands)
  hands.memory.turn += 1
  for (let lost = 0, still = 0, silent = 0; ; ) {
    const { refs } = hands.memory
    const asked = refs === null
    const step = await tickOnce(hands, silent)
    silent = step !== 'again' && 'silent' in step ? silent + 1 : 0
    // Who heard something, or pushed, has other refs to look at.
    still = step === 'again' && !asked && hands.memory.refs === refs ? still + 1 : 0
    if (still > MOST_STILL) throw new Error(`campaign ${hands.place.name} plans what changes nothing`)
    if (step === 'again') lost = 0
    else if ('lost' in step) {
      lost += 1
      await backOff(hands, lost, step.lost)
    } else if (asked || isInProgress(step.waiting)) {
      const waiting = step.seen ? await restartIfMerged(hands, step.seen, step.waiting) : step.waiting
      if (waiting !== null) return { ...step, waiting }
      resetMemory(hands.memory)
    } else {
      // What somebody else has to end may have ended since these refs were read.
      hands.memory.refs = null
    }
  }
}

/** It ends by itself, and then there is another look. */
function isInProgress({ for: what }: PlanWaiting): boolean {
  return what === 'orders' || what === 'judges' || what === 'proposers'
}

async function backOff(
  { place }: ControllerContext,
  lost: number,
  unwritten: readonly EventDraft[],
): Promise<void> {
  if (lost > PATIENCE) {
    const given = new ConflictError(`lost ${lost} races for the campaign's refs in a row`, [])
    throw await withSavedEvents(place, unwritten, given)
  }
  await place.clock.sleep(10 + place.random.fraction() * 20 * Math.min(lost, 50))
}

type TickStep = TickResult | 'again' | { lost: readonly EventDraft[]; silent?: true }

/** Whatever cuts a turn off, what it had begun to fold is forgotten. */
async function tickOnce(hands: ControllerContext, silent: number): Promise<TickStep> {
  const { memory } = hands
  try {
    const seen = await observe(hands)
    if (seen === null) return { waiting: { for: 'nothing', reason: 'no campaign was started' }, seen }
    requireHome(hands.place, seen.loaded.campaign)
    if ((await recordRename(hands.place, seen)) || (await recordComments(hands, seen))) {
      resetMemory(memory)
      return 'again'
    }
    const planned = planCampaign(seen.world)
    const later = deferTidying(hands, seen, planned)
    if (later) return { waiting: later, seen }
    const applied = await applyPlan(hands, seen, planned)
    if (applied.result !== 'done') resetMemory(memory)
    if (applied.result === 'lost') return { lost: applied.unwritten }
    if (applied.result === 'held') return { waiting: { for: 'person', what: applied.what }, seen }
    return planned.waiting === null ? 'again' : { waiting: planned.waiting, seen }
  } catch (error) {
    resetMemory(memory)
    if (error instanceof ConflictError) return { lost: [] }
    // The push may have arrived: another look shows it, as after a lost race. Looking has its own patience.
    if (error instanceof SilentRemote && error.isPush && silent < MOST_SILENT) {
      hands.place.progress.say(`${error.message}; winnow looks whether it arrived`)
      return { lost: [], silent: true }
    }
    throw explainDiskError(hands.place, error)
  }
}

/** Where there are other people, what they say is recorded before anything is planned. */
async function recordComments(
  { place, runComments: heed }: ControllerContext,
  seen: Observation,
): Promise<boolean> {
  if (place.forge.readPermission === undefined) return false
  return (await recordReviewApprovals(place, seen)) || (heed !== undefined && (await heed(seen)))
}

const TIDYING: ReadonlySet<PlanAction['do']> = new Set([
  'pulls',
  'campaign-pull',
  'tell',
  'greet',
  'delete-branches',
  'advance-campaign-branch',
])

/** Tidying up alone is not worth a push while this process measures: it rides along with the next report. */
function deferTidying(
  { place, runner }: ControllerContext,
  { world }: Observation,
  { actions }: Plan,
): PlanWaiting | null {
  if (!place.forge.stage || actions.length === 0 || !actions.every(action => TIDYING.has(action.do)))
    return null
  const orders = Object.keys(world.campaign.orders).filter(order => runner.holds(order))
  return orders.length > 0 ? { for: 'orders', orders } : null
}

const FRESH_MS = 1_000

/** Between two ticks of one run the refs may be as old as this: our pushes are leased, and waiting looks again. */
function dropStaleRefs({ memory, place }: ControllerContext): void {
  if (place.clock.monotonic() - memory.askedAt > FRESH_MS) memory.refs = null
}
