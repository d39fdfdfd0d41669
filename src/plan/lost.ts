import { subjectsOf } from '../model/picked.ts'
import type { Step } from './action.ts'
import { endSteps } from './ending.ts'
import type { World } from './world.ts'

/** One lost report is bad luck and measured again with new coins; the second is an error: no free re-rolls. */
export function lostTooOften(world: World): Step[] {
  const unlucky = subjectsOf(world.campaign).filter(
    ({ status, lost }) => status !== 'ended' && status !== 'ordered' && lost >= 2,
  )
  return unlucky.flatMap(experiment =>
    endSteps({
      experiment,
      order: null,
      outcome: 'error',
      assessment: null,
      reason: `its report was lost ${experiment.lost} times after measuring had begun`,
      cause: experiment.opened,
    }),
  )
}
