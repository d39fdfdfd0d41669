import { ConflictError, UserError } from '../../errors.ts'
import { SilentRemote } from '../../git/runner.ts'
import type { Campaign } from '../../model/campaign.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import type { EventDraft } from '../../model/event.ts'
import type { Plan, PlanAction, PlanWaiting } from '../../plan/action.ts'
import { planCampaign } from '../../plan/stages.ts'
import { canRestart } from '../../plan/stop.ts'
import { type CampaignContext, requireHome, resetMemory } from '../campaign/context.ts'
import { readCommittedSpec, startCampaign } from '../campaign/start.ts'
import { type Observation, observe, recordRename } from '../observe/observe.ts'
import { applyPlan } from './apply.ts'
import type { ControllerContext } from './effects.ts'
import { recordEvents, withSavedEvents } from './record.ts'
import { recordReviewApprovals } from './reviews.ts'

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

/**
 * A campaign that was merged is put aside and the next one begins, in one push, where the spec wants that: the one in
 * force, and the one that the default branch has now. Only on the very ledger that was looked at: of two that find it
 * merged, one begins the next (invariants 7 and 9). Answers what to wait for, or nothing where it is to be looked again.
 */
async function restartIfMerged(
  { place, targetBranch: only }: ControllerContext,
  { world, loaded }: Observation,
  waiting: PlanWaiting,
): Promise<PlanWaiting | null> {
  const { campaign, spec } = world
  if (only !== null || waiting.for !== 'nothing' || !canRestart(campaign, spec)) return waiting
  try {
    const here = { ...place, defaultBranch: campaign.default_branch }
    const committed = await readCommittedSpec(here, campaign.spec_path)
    if (committed.spec.merge.on_merge !== 'restart') return waiting
    place.faults.reach('before:restart')
    await startCampaign(here, committed, { fresh: true, insteadOf: loaded.tip.commit })
    place.faults.reach('after:restart')
    return null
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const fix = error.fix === undefined ? '' : ` (${error.fix})`
    const what = `the campaign was merged, and the next one cannot begin: ${error.message}${fix}`
    return (await recordRestartRefusal(place, campaign, what)) ? { for: 'person', what } : null
  }
}

const REFUSED = 'restart-refused'

/** The ledger says why, once for each reason; false where it had not said so yet, and has grown. */
async function recordRestartRefusal(
  place: CampaignContext,
  { alerts }: Campaign,
  message: string,
): Promise<boolean> {
  if (alerts.some(alert => alert.code === REFUSED && alert.message === message)) return true
  const once = { ...place, nonce: `${REFUSED} ${hashSha256(message)}` }
  await recordEvents(once, [{ kind: 'alert', code: REFUSED, message, about: null }])
  return false
}

const CODES: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EACCES',
  'EPERM',
  'EIO',
  'ENOTDIR',
  'EISDIR',
  'EEXIST',
])

/** A disk that does not take what has to be kept on this machine is a person's to mend; any other error is itself. */
export function explainDiskError(
  { dataDir, machineDir }: Pick<CampaignContext, 'dataDir' | 'machineDir'>,
  error: unknown,
): unknown {
  if (!(error instanceof Error) || !('code' in error) || !CODES.has(error.code)) return error
  const path = 'path' in error && typeof error.path === 'string' ? error.path : dataDir
  if (!path.startsWith(dataDir) && !path.startsWith(machineDir)) return error
  return new UserError(`${path} cannot be used: ${error.message}`, {
    place: { file: path },
    fix: 'free space or give write permission, then run again; what was recorded stays valid',
    cause: error,
  })
}
