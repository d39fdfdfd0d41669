import { ASKING_FAILED, type FruitlessRuns, MEASURING_FAILED } from '../model/fruitless-runs.ts'
import type { PlanStep } from './action.ts'
import { raiseAlert } from './alerts.ts'
import type { World } from './world.ts'

/**
 * Each run starts the next one, so a mistake that makes every run fail (a secret that an environment refuses, a tool chain
 * that cannot be set up) would start runs without end. After so many in vain the next one starts later each time.
 */
const MAX_FRUITLESS_PROPOSE_RUNS = 3
/** More than one idea that ends its machine can lose by itself. */
const MAX_FRUITLESS_MEASURE_RUNS = 10

const FIRST_RUN_REST_MINUTES = 60
const LONGEST_RUN_REST_MINUTES = 12 * 60

type RunRestFacts = Pick<World, 'campaign' | 'now'>

/** Whether jobs that ask programs rest now. */
export function isProposingPaused({ campaign, now }: RunRestFacts): boolean {
  return computeRestEnd(campaign.fruitless_asking, MAX_FRUITLESS_PROPOSE_RUNS, now) !== null
}

/** Says why no order is issued now; null where one may be. */
export function findMeasuringRest({ campaign, now }: RunRestFacts): string | null {
  const runs = campaign.fruitless_measuring
  const until = computeRestEnd(runs, MAX_FRUITLESS_MEASURE_RUNS, now)
  if (until === null) return null
  return `${runs?.times} measuring runs in a row left no usable report: look at the logs of the latest; the next one starts after ${until}`
}

function computeRestEnd(runs: FruitlessRuns | null, most: number, now: string): string | null {
  if (runs === null || runs.times < most) return null
  const minutes = Math.min(LONGEST_RUN_REST_MINUTES, FIRST_RUN_REST_MINUTES * 2 ** (runs.times - most))
  const end = Date.parse(runs.at) + minutes * 60_000
  return end > Date.parse(now) ? new Date(end).toISOString() : null
}

/** Each is said once, until a run has brought something again. */
export function buildRunAlerts(world: World): PlanStep[] {
  const { fruitless_asking: asking, fruitless_measuring: measuring } = world.campaign
  const steps: PlanStep[] = []
  if (asking !== null && asking.times >= MAX_FRUITLESS_PROPOSE_RUNS) {
    const message = `the jobs of ${asking.times} runs in a row that ask programs for ideas left no answer: look at the log of the latest (${asking.run_id}), and whether it gets its secret; each next one starts later`
    steps.push(...raiseAlert(world, { code: ASKING_FAILED, about: null, message }))
  }
  if (measuring !== null && measuring.times >= MAX_FRUITLESS_MEASURE_RUNS) {
    const message = `${measuring.times} measuring runs in a row left no usable report: look at the log of the latest (${measuring.run_id}); each next one starts later`
    steps.push(...raiseAlert(world, { code: MEASURING_FAILED, about: null, message }))
  }
  return steps
}
