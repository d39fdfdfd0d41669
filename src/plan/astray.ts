import { toShortRef, buildCampaignRefs } from '../model/refs.ts'
import type { PlanStep, PlanWaiting } from './action.ts'
import { recordForeignTip } from './foreign.ts'
import type { World } from './world.ts'

/**
 * A campaign that does not run moves nothing and measures nothing: where its optimize branch was deleted, rewound or
 * given commits of others, a person hears of it and how to go on. Such a branch must not be merged as the result.
 */
export function reportMisplacedBranch(world: World): { steps: PlanStep[]; waiting: PlanWaiting | null } {
  const { branchMismatch: astray, campaign, spec } = world
  if (astray === null) return { steps: [], waiting: null }
  const branch = toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
  const incumbent = campaign.incumbent.commit.slice(0, 10)
  const back = `winnow recover --campaign ${campaign.name} puts it back at the recorded incumbent ${incumbent}`
  const waits = (what: string): PlanWaiting => ({ for: 'person', what, astray: true })
  switch (astray.is) {
    case 'gone':
      return { steps: [], waiting: waits(`${branch} was deleted and is not merged: ${back}`) }
    case 'rewound':
      return {
        steps: [],
        waiting: waits(
          `${branch} was moved back to ${astray.tip.commit.slice(0, 10)} and lacks kept changes: ${back}`,
        ),
      }
    case 'foreign':
      return {
        steps:
          campaign.foreign?.to.commit === astray.tip.commit ? [] : recordForeignTip(world, astray.tip).steps,
        waiting: waits(
          `${branch} is at ${astray.tip.commit.slice(0, 10)}, which winnow did not put there and has not measured: winnow resume measures it against the recorded incumbent ${incumbent}`,
        ),
      }
    default:
      return astray satisfies never
  }
}
