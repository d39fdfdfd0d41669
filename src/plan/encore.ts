import type { StopCode } from '../decide/stopping.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import type { Step } from './action.ts'
import { measuresNoMore } from './rounds.ts'
import type { World } from './world.ts'

/** After these nothing more can be measured; after any other stop what waits for an approval may still get it. */
const FOR_GOOD: ReadonlySet<string> = new Set([
  'person',
  'fresh',
  'archived',
  'merged',
  'level_used_up' satisfies StopCode,
])

/** It stays open when the campaign stops: approved late, it has one more round. */
export function waitsOn(
  { stop_code }: Pick<Campaign, 'stop_code'>,
  { status }: Pick<Experiment, 'status'>,
): boolean {
  return status === 'deferred' && stop_code !== null && !FOR_GOOD.has(stop_code)
}

/** One more round for what was approved after the stop, whatever stopped the campaign: a person asked for it. */
export function encoreSteps(world: World): Step[] {
  const { campaign } = world
  const late = campaign.late.filter(id => campaign.experiments[id]?.status === 'queued')
  if (late.length === 0) return []
  const reason = `${late.join(', ')} ${late.length === 1 ? 'was' : 'were'} approved after the stop: one more round`
  return [
    {
      step: 'event',
      draft: { kind: 'campaign-resumed', cause: `encore at ${campaign.seq}`, reason, encore: true },
    },
  ]
}

const UNDER_WAY: ReadonlySet<Experiment['status']> = new Set(['queued', 'ordered', 'measured'])

/** It stops as it did, once what came late has its answer. */
export function stopAfterEncore(world: World): Campaign['encore'] {
  const { campaign } = world
  const open = campaign.late.some(id => UNDER_WAY.has(campaign.experiments[id]?.status ?? 'ended'))
  if (campaign.encore === null || (open && !measuresNoMore(world))) return null
  return campaign.encore
}
