import { planCampaign } from '../src/plan/stages.ts'
import type { World } from '../src/plan/world.ts'
import { world } from '../test/plan/a-world.ts'
import { longCampaign } from '../test/plan/many.ts'
import { row } from './table.ts'

const BUDGET_MS = 50
const TIMES = 21

/** One plan of a campaign of which all but ten experiments have ended. */
export function planning(): void {
  for (const experiments of [100, 10_000]) {
    const took = milliseconds(experiments)
    const budget = took / BUDGET_MS
    row(`plan() on ${experiments} experiments (budget ${BUDGET_MS} ms)`, `${took.toFixed(2)} ms`, budget, 1)
  }
}

/** As after a look that opened an experiment: what was known of the others together is found out again. */
function anew({ campaign }: World): void {
  campaign.experiments = { ...campaign.experiments }
}

function milliseconds(experiments: number): number {
  const look = world(longCampaign(experiments))
  const took = Array.from({ length: TIMES }, () => {
    anew(look)
    const began = performance.now()
    planCampaign(look)
    return performance.now() - began
  })
  return took.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)] ?? NaN
}
