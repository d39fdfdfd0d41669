import type { PickFate, PickedChange } from '../model/experiment.ts'
import { toShortRef } from '../model/refs.ts'
import type { PlanAction, PlanStep } from './action.ts'
import { closePick } from './picks.ts'
import { createPullFinder } from './pull-of.ts'
import type { PullFacts, World } from './world.ts'

/** What people did with changes that were offered alone: recorded once, whatever the campaign is doing. */
export function planPickFates(world: World): { steps: PlanStep[]; actions: PlanAction[] } {
  const pullOf = createPullFinder(world)
  const steps: PlanStep[] = []
  const actions: PlanAction[] = []
  for (const pick of Object.values(world.campaign.picks)) {
    const ending = pick.closed ? null : findPickEnding(world, pick, pullOf(pick))
    if (ending === null) continue
    steps.push(closePick(pick, ending.fate, ending.why))
    if (pick.status === 'ordered' && pick.order !== null) actions.push({ do: 'cancel', order: pick.order })
  }
  return { steps, actions }
}

interface PickEnding {
  fate: PickFate
  why: string
}

function findPickEnding(world: World, pick: PickedChange, pull: PullFacts | undefined): PickEnding | null {
  const { campaign } = world
  const into = toShortRef(campaign.default_branch)
  const number = pull === undefined ? '' : ` #${pull.number}`
  if (pull?.state === 'merged') return { fate: 'merged', why: `it was merged into ${into} unmeasured` }
  if (pull?.state === 'closed') return { fate: 'declined', why: `its pull request${number} was closed` }
  if (pull !== undefined && pull.base !== into)
    return { fate: 'left', why: `its pull request${number} was retargeted to ${pull.base}` }
  const wish = campaign.steered.find(
    ({ action, experiment }) => action === 'withdraw' && experiment === pick.id,
  )
  if (wish !== undefined) return { fate: 'declined', why: wish.reason }
  const tip = pick.branch === null ? undefined : world.branches.get(pick.branch)
  if (tip === undefined) return { fate: 'declined', why: `its branch ${pick.branch} was deleted` }
  if (tip !== pick.head)
    return { fate: 'left', why: `a person pushed ${tip.slice(0, 10)} to its branch, which is theirs now` }
  if (campaign.status === 'stopped' && campaign.stop_code === 'merged')
    return { fate: 'merged', why: `the campaign was merged whole: ${campaign.status_reason}` }
  const facts = world.picks.get(pick.id)
  const isThere = facts !== undefined && 'present' in facts.result && facts.base.commit !== pick.base
  return isThere ? { fate: 'merged', why: `${into} has the change, by another commit` } : null
}
