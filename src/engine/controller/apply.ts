import type { StagedChanges } from '../../github/port.ts'
import { findSyncTip } from '../../model/alerts.ts'
import { removeEnvelope } from '../../model/event.ts'
import type { ExperimentId } from '../../model/ids.ts'
import type { Plan, PlanAction, PullChange } from '../../plan/action.ts'
import { planCampaign } from '../../plan/stages.ts'
import { isBadgeCurrent } from '../../report/charts.ts'
import { buildReplacedCheck } from '../../report/check-run.ts'
import { BADGE_FILE } from '../../report/ledger-views.ts'
import { type Observation, predictWorld } from '../observe/observe.ts'
import {
  type ApplyResult,
  type ControllerContext,
  runEffect,
  sortEffects,
  stageChanges,
  toApplyResult,
} from './effects.ts'
import { tryUpdateCheck, updateCheck } from './pull-texts.ts'
import { writeSteps } from './steps.ts'
import { Transaction } from './transaction.ts'

/** A plan that follows on another without anybody's answer belongs to the same push, up to this many. */
const MOST_PLANS = 12

/**
 * Carries a plan out. Everything that moves refs is one push: the transaction, what follows from it as if it
 * had been accepted already, and what tidies up after the one before. Only then come the effects, which are
 * found again if they are cut off (invariants 7 and 9).
 */
export async function applyPlan(
  hands: ControllerContext,
  seen: Observation,
  first: Plan,
): Promise<ApplyResult> {
  const { place, memory } = hands
  const transaction = new Transaction(place, { loaded: seen.loaded, refs: seen.refs })
  const actions = selectActions(await planUntilStable(hands, seen, transaction, first), transaction)
  await renewOldViews(hands, seen, transaction)
  const staged = await stagePulls(hands, seen, transaction, actions)
  const { shows, others } = splitShownChecks(actions)
  for (const experiment of shows) await updateCheck(hands, seen.loaded.campaign, experiment)
  for (const event of transaction.events) {
    if (event.kind !== 'head-moved' || event.from === null) continue
    await tryUpdateCheck(place, buildReplacedCheck(seen.loaded.campaign, event.experiment, event.from))
  }
  if (!transaction.isEmpty) {
    place.faults.reach('before:commit')
    const result = await transaction.push()
    if (!result.ok) return toApplyResult(result, transaction.events.map(removeEnvelope))
    staged?.accepted()
    memory.refs = transaction.refsAfter(() => true).refs
    memory.loaded = await transaction.loaded()
    place.faults.reach('after:commit')
  }
  for (const action of sortEffects(hands, others)) {
    place.faults.reach(`before:${action.do}`)
    const applied = await runEffect(hands, seen, action)
    if (applied.result !== 'done') return applied
    place.faults.reach(`after:${action.do}`)
  }
  return { result: 'done' }
}

/**
 * Merges what several plans of a turn want of pull requests, so that each is written once. A later plan may have refused
 * what an earlier one opened: that branch was never pushed, so no pull request is opened for it.
 */
function selectActions(actions: readonly PlanAction[], transaction: Transaction): PlanAction[] {
  const all = actions.flatMap(action => (action.do === 'pulls' ? action.changes : []))
  const isThere = (change: PullChange) =>
    change.change !== 'open' || transaction.tip(`refs/heads/${change.branch}`) !== null
  const wanted = new Map(all.filter(isThere).map(change => [JSON.stringify(change), change]))
  const kinds = actions.map(action => action.do)
  return actions.flatMap((action, index): PlanAction[] => {
    if (action.do === 'campaign-pull') return kinds.lastIndexOf(action.do) === index ? [action] : []
    if (action.do !== 'pulls') return [action]
    const isFirst = kinds.indexOf(action.do) === index
    return isFirst && wanted.size > 0 ? [{ do: 'pulls', changes: [...wanted.values()] }] : []
  })
}

/**
 * What ends with this push is shown before it where nothing finds its head again afterwards: who is cut off in between
 * decides the same again, and shows it again.
 */
function splitShownChecks(actions: readonly PlanAction[]): { shows: ExperimentId[]; others: PlanAction[] } {
  const shows: ExperimentId[] = []
  const others = actions.flatMap((action): PlanAction[] => {
    if (action.do !== 'pulls') return [action]
    const changes = action.changes.filter(({ change }) => change !== 'show')
    const shown = action.changes.filter(({ change }) => change === 'show')
    shows.push(...shown.map(({ experiment }) => experiment))
    return changes.length === 0 ? [] : [{ ...action, changes }]
  })
  return { shows: [...new Set(shows)], others }
}

/**
 * A person's pause, stop or resumption is an event of its own, written without views: whoever turns next brings
 * them up to date, once, and makes anew what was deleted.
 */
async function renewOldViews(
  { place, memory }: ControllerContext,
  seen: Observation,
  transaction: Transaction,
) {
  const { tip, campaign } = seen.loaded
  if (memory.shown === campaign.status || tip.tree === null) return
  const entry = await place.repository.findEntry(tip.tree, BADGE_FILE)
  const badge = entry?.type === 'blob' ? (await place.repository.blob(entry.oid)).toString('utf8') : ''
  if (!isBadgeCurrent(badge, campaign.status)) transaction.renewViews()
  memory.shown = campaign.status
}

/** Plans on what the transaction makes of the world until a plan has nothing more to write. */
async function planUntilStable(
  hands: ControllerContext,
  seen: Observation,
  transaction: Transaction,
  first: Plan,
): Promise<PlanAction[]> {
  const { repository } = hands.place
  const all = new Map<string, PlanAction>()
  let next = first
  for (let plans = 1; ; plans++) {
    const alone = repository.canPushWorkflows && hasSync(next)
    // What comes before it is pushed first, and then the sync is found again.
    if (alone && !transaction.isEmpty) return [...all.values()]
    for (const action of next.actions) {
      if (plans > 1 && action.do === 'propose') continue
      if (alone && MOVES_OTHERS.has(action.do)) continue
      await addMoves(transaction, seen, action)
      if (action.do !== 'commit') all.set(JSON.stringify(action), action)
    }
    const isLast = alone || plans === MOST_PLANS
    if (isLast || !next.actions.some(action => action.do === 'commit')) return [...all.values()]
    next = planCampaign(await predictWorld(hands, seen, transaction.refsAfter(() => true).refs))
  }
}

/** They move branches beside those of the campaign itself, and are found again. */
const MOVES_OTHERS: ReadonlySet<PlanAction['do']> = new Set(['delete-branches', 'advance-campaign-branch'])

/** Where an App's token may have to push it, a sync is a push of its own: that token moves no branch of an experiment. */
function hasSync({ actions }: Plan): boolean {
  const steps = actions.flatMap(action => (action.do === 'commit' ? action.steps : []))
  const drafts = steps.flatMap(step => {
    if (step.step === 'event') return [step.draft]
    return step.step === 'move' ? step.events : []
  })
  return findSyncTip(drafts) !== null
}

async function addMoves(transaction: Transaction, seen: Observation, action: PlanAction): Promise<void> {
  switch (action.do) {
    case 'commit':
      return writeSteps(transaction, seen.loaded.campaign, action.steps)
    case 'delete-branches':
      for (const { name } of action.branches) transaction.move(`refs/heads/${name}`, null)
      return
    case 'advance-campaign-branch':
      return transaction.move(transaction.place.refs.campaign, action.to)
    case 'dispatch':
    case 'cancel':
    case 'merge':
    case 'pulls':
    case 'campaign-pull':
    case 'tell':
    case 'greet':
    case 'propose':
    case 'stop-asking':
      return
    default:
      return action satisfies never
  }
}

/** Where pull requests are kept in refs they change with the same push; a landing settles its own as merged. */
async function stagePulls(
  { place }: ControllerContext,
  seen: Observation,
  transaction: Transaction,
  actions: readonly PlanAction[],
): Promise<StagedChanges | null> {
  const changes = actions.flatMap(action => (action.do === 'pulls' ? action.changes : []))
  if (changes.length === 0 && transaction.isEmpty) return null
  const staged = await stageChanges(place, seen.loaded.campaign, changes, transaction)
  for (const { ref, to } of staged?.updates ?? []) transaction.move(ref, to)
  return staged
}
