import { ConflictError, UserError } from '../../errors.ts'
import { SilentRemote } from '../../git/runner.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import type { EventDraft } from '../../model/event.ts'
import type { Plan, PlanAction, PlanWaiting } from '../../plan/action.ts'
import { planCampaign } from '../../plan/stages.ts'
import { canRestart } from '../../plan/stop.ts'
import { type CampaignContext, requireHome, resetMemory } from '../campaign/context.ts'
import { readCommittedSpec, recordRename, startCampaign } from '../campaign/start.ts'
import { type ControllerContext, type Observation, observe } from '../observe/observe.ts'
import { applyPlan } from './apply.ts'
import { recordAlert, withSavedEvents } from './record.ts'
import { recordReviewApprovals } from './reviews.ts'
import { updateGithub } from './update-github.ts'

export interface TickResult {
  waiting: PlanWaiting
  seen: Observation | null
}

const MOST_LOST_RACES = 200
const MOST_SILENT = 2
/** Observations in a row with unchanged refs. More of them are a bug in the plan. */
const MOST_UNCHANGED = 20

/** After a lost race it throws the plan away and observes again (invariant 7). */
export async function tickCampaign(controller: ControllerContext): Promise<TickResult> {
  dropStaleRefs(controller)
  controller.memory.turn += 1
  for (let lost = 0, unchanged = 0, silent = 0; ; ) {
    const { refs } = controller.memory
    const readsRefs = refs === null
    const step = await tickOnce(controller, silent)
    silent = step !== 'again' && 'silent' in step ? silent + 1 : 0
    // A tick that read the remote or pushed has new refs to compare with.
    unchanged = step === 'again' && !readsRefs && controller.memory.refs === refs ? unchanged + 1 : 0
    if (unchanged > MOST_UNCHANGED)
      throw new Error(`campaign ${controller.context.name} keeps planning actions that change nothing`)
    if (step === 'again') lost = 0
    else if ('lost' in step) {
      lost += 1
      await backOff(controller, lost, step.lost)
    } else if (readsRefs || isInProgress(step.waiting)) {
      const waiting = step.seen ? await restartIfMerged(controller, step.seen, step.waiting) : step.waiting
      if (waiting !== null) return { ...step, waiting }
      resetMemory(controller.memory)
    } else {
      // Jobs of other processes may have ended since these refs were read.
      controller.memory.refs = null
    }
  }
}

/** These waits end without a person, so the controller observes again. */
function isInProgress({ for: what }: PlanWaiting): boolean {
  return what === 'orders' || what === 'judges' || what === 'proposers'
}

async function backOff(
  { context }: ControllerContext,
  lost: number,
  unwritten: readonly EventDraft[],
): Promise<void> {
  if (lost > MOST_LOST_RACES) {
    const error = new ConflictError(
      `other processes changed the campaign's branches ${lost} times in a row while winnow was writing to them`,
      [],
    )
    throw await withSavedEvents(context, unwritten, error)
  }
  await context.clock.sleep(10 + context.random.fraction() * 20 * Math.min(lost, 50))
}

type TickStep = TickResult | 'again' | { lost: readonly EventDraft[]; silent?: true }

async function tickOnce(controller: ControllerContext, silent: number): Promise<TickStep> {
  const { memory } = controller
  try {
    const observation = await observe(controller)
    if (observation === null)
      return { waiting: { for: 'nothing', reason: 'no campaign was started' }, seen: observation }
    requireHome(controller.context, observation.loaded.campaign)
    if (
      (await recordRename(controller.context, observation, observation.defaultBranch)) ||
      (await recordComments(controller, observation))
    ) {
      resetMemory(memory)
      return 'again'
    }
    const planned = deferGithubActions(controller, planCampaign(observation.world))
    const isSettled = planned.actions.every(({ do: what }) => AFTER_GITHUB.has(what))
    if (await updateGithub(controller, observation, planned, isSettled)) return 'again'
    const applied = await applyPlan(controller, observation, planned)
    if (applied.result !== 'done') resetMemory(memory)
    if (applied.result === 'lost') return { lost: applied.unwritten }
    if (applied.result === 'held')
      return { waiting: { for: 'person', what: applied.what }, seen: observation }
    return planned.waiting === null ? 'again' : { waiting: planned.waiting, seen: observation }
  } catch (error) {
    // A damaged cache may be the cause, so the ledger is read again.
    memory.loaded = null
    resetMemory(memory)
    if (error instanceof ConflictError) return { lost: [] }
    // The push may have arrived: the next observation shows it, as after a lost race. Reads have their own
    // retry limit.
    if (error instanceof SilentRemote && error.isPush && silent < MOST_SILENT) {
      controller.context.progress.say(`${error.message}; winnow checks whether the push arrived`)
      return { lost: [], silent: true }
    }
    throw explainDiskError(controller.context, error)
  }
}

/** A merge needs a pull request that is ready, and a branch is deleted once its pull request shows the end. */
const AFTER_GITHUB: ReadonlySet<PlanAction['do']> = new Set(['merge', 'delete-branches'])

/** On GitHub these actions wait until nothing else is left to do; the next plan has them again. */
function deferGithubActions({ context: { forge } }: ControllerContext, plan: Plan): Plan {
  const others = plan.actions.filter(({ do: what }) => !AFTER_GITHUB.has(what))
  return forge === null || others.length === 0 ? plan : { ...plan, actions: others }
}

async function recordComments(
  { context, runComments }: ControllerContext,
  observation: Observation,
): Promise<boolean> {
  if (context.forge === null) return false
  return (
    (await recordReviewApprovals(context, observation)) ||
    (runComments !== undefined && (await runComments(observation)))
  )
}

const FRESH_MS = 1_000

/** Within one run the refs may be up to this old: pushes are leased, and waiting reads the refs again. */
function dropStaleRefs({ memory, context }: ControllerContext): void {
  if (context.clock.monotonic() - memory.refsReadAt > FRESH_MS) memory.refs = null
}

/**
 * Archives a merged campaign and starts the next one in one push, if both the recorded spec and the spec on
 * the default branch ask for it. `insteadOf` names the ledger that was observed: of two processes that see the
 * merge, only one starts the next campaign (invariants 7 and 9). Returns null when the caller has to observe
 * again.
 */
async function restartIfMerged(
  { context, targetBranch }: ControllerContext,
  { world, loaded }: Observation,
  waiting: PlanWaiting,
): Promise<PlanWaiting | null> {
  const { campaign, spec } = world
  if (targetBranch !== null || waiting.for !== 'nothing' || !canRestart(campaign, spec)) return waiting
  try {
    const restartContext = { ...context, defaultBranch: campaign.default_branch }
    const committed = await readCommittedSpec(restartContext, campaign.spec_path)
    if (committed.spec.merge.on_merge !== 'restart') return waiting
    context.faults.reach('before:restart')
    await startCampaign(restartContext, committed, { fresh: true, insteadOf: loaded.tip.commit })
    context.faults.reach('after:restart')
    return null
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const fix = error.fix === undefined ? '' : ` (${error.fix})`
    const what = `the campaign was merged, but the next campaign cannot start: ${error.message}${fix}`
    const alert = { code: 'restart-refused', message: what, about: null }
    const alertContext = { ...context, nonce: `${alert.code} ${hashSha256(what)}` }
    return (await recordAlert(alertContext, campaign.alerts, alert)) ? null : { for: 'person', what }
  }
}

const DISK_ERROR_CODES: ReadonlySet<unknown> = new Set([
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

/** Writing to an open file fails with these codes and names no path. */
const WRITE_ERROR_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

/** Explains a disk error inside winnow's own directories. Returns every other error unchanged. */
export function explainDiskError(
  { dataDir, machineDir }: Pick<CampaignContext, 'dataDir' | 'machineDir'>,
  error: unknown,
): unknown {
  if (!(error instanceof Error) || !('code' in error) || !DISK_ERROR_CODES.has(error.code)) return error
  const unnamed = WRITE_ERROR_CODES.has(error.code) ? dataDir : ''
  const path = 'path' in error && typeof error.path === 'string' ? error.path : unnamed
  if (!path.startsWith(dataDir) && !path.startsWith(machineDir)) return error
  return new UserError(`${path} cannot be used: ${error.message}`, {
    place: { file: path },
    fix: 'free space or give write permission, then run again; what was recorded stays valid',
    cause: error,
  })
}
