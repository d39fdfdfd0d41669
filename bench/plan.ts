import { plan } from '../src/plan/plan.ts'
import { world } from '../test/plan/a-world.ts'
import { longCampaign } from '../test/plan/many.ts'

const BUDGET_MS = 50

/** Median of repeated plans over a campaign of which all but ten experiments have ended. */
export function planMilliseconds(experiments: number): number {
  const look = world(longCampaign(experiments))
  const took = Array.from({ length: 21 }, () => {
    const began = performance.now()
    plan(look)
    return performance.now() - began
  })
  return took.toSorted((a, b) => a - b)[10] ?? NaN
}

export function benchPlan(): string {
  const [few, many] = [100, 10_000].map(planMilliseconds)
  return `plan(): ${few?.toFixed(2)} ms at 100 experiments, ${many?.toFixed(2)} ms at 10,000 (budget ${BUDGET_MS} ms)`
}
