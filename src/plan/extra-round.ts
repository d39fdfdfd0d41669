import type { StopCode } from '../decide/stop-rules.ts'
import { isAwaitingSync } from '../model/alerts.ts'
import type { Campaign } from '../model/campaign.ts'
import {
  type Experiment,
  findSubject,
  isResumedAutomatically,
  isUnderWay as isBeingPicked,
  listExperiments,
  type PickedChange,
} from '../model/experiment.ts'
import type { PlanStep } from './action.ts'
import { listNewProposals } from './intake.ts'
import { needsPermission } from './permissions.ts'
import { isPicking, listPickRequests } from './picks.ts'
import { isAlphaSpent } from './round-orders.ts'
import type { World } from './world.ts'

const FINAL_STOP_CODES: ReadonlySet<string> = new Set([
  'person',
  'fresh',
  'archived',
  'merged',
  'level_used_up' satisfies StopCode,
])

/** True only for a stopped campaign: an experiment approved now gets one extra round. */
export function isStillAwaitingApproval(
  { stop_code }: Pick<Campaign, 'stop_code'>,
  { status }: Pick<Experiment, 'status'>,
): boolean {
  return status === 'deferred' && canHaveExtraRound(stop_code)
}

/** After a stop with any other code, approved ideas wait for `winnow resume`. */
export function canHaveExtraRound(code: string | null): boolean {
  return code !== null && !FINAL_STOP_CODES.has(code)
}

/** The code of the stop does not matter here: a person asked for these experiments. */
export function planExtraRound(world: World): PlanStep[] {
  const { campaign } = world
  if (!canHaveExtraRound(campaign.stop_code)) return []
  const late = campaign.approved_after_stop.filter(id => findSubject(campaign, id)?.status === 'queued')
  if (late.length === 0) return []
  const reason = `${late.join(', ')} ${late.length === 1 ? 'was' : 'were'} approved after the stop, so winnow starts one more round`
  return [buildExtraRoundStep(campaign, reason)]
}

function buildExtraRoundStep({ seq }: Campaign, reason: string): PlanStep {
  const cause = `extra round at ${seq}`
  return { step: 'event', draft: { kind: 'campaign-resumed', cause, reason, extra_round: true } }
}

/** A stop with one of these codes also ends picks. After other stops a pick is still measured. */
const CODES_ENDING_PICKS: ReadonlySet<string> = new Set(['person', 'fresh', 'archived', 'merged'])
/** After these no pick is taken any more: the campaign is archived, or the default branch has all of it. */
const CODES_ENDING_REQUESTS: ReadonlySet<string> = new Set(['fresh', 'archived', 'merged'])

/** winnow no longer maintains the offers of such a campaign: the next campaign does not know them. */
export function isArchivedStop({ stop_code }: Pick<Campaign, 'stop_code'>): boolean {
  return CODES_ENDING_REQUESTS.has(stop_code ?? '')
}

/** The campaign is archived with its branches: ideas queued there would wait forever. */
export function isClosingIdeas({ campaign, spec }: Pick<World, 'campaign' | 'spec'>): boolean {
  const { stop_code: code } = campaign
  return code === 'fresh' || code === 'archived' || (code === 'merged' && spec.merge.on_merge === 'restart')
}

export function isPickContinued(
  { stop_code, approved_after_stop }: Pick<Campaign, 'stop_code' | 'approved_after_stop'>,
  pick: PickedChange,
): boolean {
  const code = stop_code ?? ''
  if (pick.status === 'deferred') return !CODES_ENDING_REQUESTS.has(code)
  return isBeingPicked(pick) && (approved_after_stop.includes(pick.id) || !CODES_ENDING_PICKS.has(code))
}

export function startPickRound(world: World): PlanStep[] {
  const { campaign } = world
  const requests = CODES_ENDING_REQUESTS.has(campaign.stop_code ?? '') ? [] : listPickRequests(world)
  const open = Object.values(campaign.picks).filter(
    pick => isBeingPicked(pick) && isPickContinued(campaign, pick),
  )
  const wanted = [...open.map(({ picks }) => picks), ...requests.map(({ experiment }) => experiment)]
  if (wanted.length === 0) return []
  const reason = `${[...new Set(wanted)].join(', ')} ${wanted.length === 1 ? 'is' : 'are'} measured alone`
  return [buildExtraRoundStep(campaign, reason)]
}

const UNDER_WAY_STATUSES: ReadonlySet<Experiment['status']> = new Set(['queued', 'ordered', 'measured'])

/** Restores the previous stop once the late experiments have their verdicts. */
export function findExtraRoundStop(world: World): Campaign['extra_round'] {
  const { campaign } = world
  const open = campaign.approved_after_stop.some(id =>
    UNDER_WAY_STATUSES.has(campaign.experiments[id]?.status ?? 'ended'),
  )
  if (campaign.extra_round === null || (open && !isAlphaSpent(world)) || isPicking(world)) return null
  return campaign.extra_round
}

/** First experiments that used up their jobs, then those given up early (docs/deciding.md, When it stops). */
export function resumeNotProven(world: World): PlanStep[] {
  const { campaign, askable, asking, targetBranch } = world
  const all = listExperiments(campaign)
  const busy =
    all.some(each => each.status === 'queued' && !needsPermission(world, each.id) && !isAwaitingSync(each)) ||
    listNewProposals(world).length > 0
  if (busy || targetBranch !== null || askable.length + asking.length > 0 || isAlphaSpent(world)) return []
  const retryable = all.filter(isResumedAutomatically)
  const promising = retryable.filter(({ given_up }) => given_up === null)
  return (promising.length > 0 ? promising : retryable).map(({ id, opened }) => {
    const reason = 'nothing else is queued'
    const cause = `resume ${opened}`
    return { step: 'event', draft: { kind: 'steered', cause, action: 'retry', experiment: id, reason } }
  })
}
