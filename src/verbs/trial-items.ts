import { assessCandidate } from '../decide/assess.ts'
import { readModelAccess, hasModelUrl } from '../engine/model-access.ts'
import { UserError } from '../errors.ts'
import { SAMPLES_TO_KEEP } from '../judge/judged-report.ts'
import { estimateJudgingCost } from '../judge/judging-cost.ts'
import { computeSampleReach } from '../judge/reach.ts'
import { buildRubric } from '../judge/rubric.ts'
import type { Item } from '../measure/output/items.ts'
import type { Report } from '../model/report.ts'
import { openBudget } from '../models/budget.ts'
import { computeProspects } from '../plan/prospects.ts'
import type { JudgingForecast } from '../report/check-judging.ts'
import { isJudgedMetric, countSampleItems } from '../spec/judged.ts'
import { createNotPassedError } from './not-passed.ts'
import { createTrialOrder } from './trial-order.ts'
import { measureTrial, type HarnessRun } from './trying.ts'

/** The harness once: which items there are, and what judging them would cost. No model is asked. */
export async function tryItems(trying: HarnessRun): Promise<{ report: Report; judging: JudgingForecast }> {
  const { spec } = trying
  const items: Item[] = []
  const onItems = (_: unknown, printed: readonly Item[]) => void items.push(...printed)
  const order = await createTrialOrder(trying, 'baseline', [])
  const report = await measureTrial({ ...trying, more: { ...trying.more, onItems } }, order)
  const { outcome, reason } = assessCandidate({ spec, order, report, label: 'base', baseline: null })
  if (outcome !== 'eligible') throw await createNotPassedError(trying, reason, report)
  return { report, judging: estimateJudging(trying, items) }
}

/** Simulations: of a spread that is only assumed more would be no more exact. */
const ROUGHLY = 40

/** Scores of one item that differ by an eighth of the scale from one time to the next: nobody knows before asking. */
const ASSUMED = 1 / 8

function estimateJudging({ spec, call }: HarnessRun, items: readonly Item[]): JudgingForecast {
  const { primary, judge } = spec.metric
  if (!isJudgedMetric(spec) || judge === null) throw new TypeError('the spec has no judge')
  const wanted = countSampleItems(judge)
  const least = SAMPLES_TO_KEEP * wanted
  if (items.length < least)
    throw new UserError(
      `the harness prints ${items.length} items, and two samples that share none have ${least}`,
      {
        place: { path: 'metric.judge.sample_size' },
        fix: 'print more items, or lower it',
      },
    )
  const rubric = buildRubric({ primary, judge })
  const known = hasModelUrl(call.around.env) ? readModelAccess(call.around.env, judge.model) : null
  const model = known?.model ?? judge.model
  // What a run would refuse is refused here.
  if (known !== null) openBudget({ ...known, capUsd: judge.max_total_cost_usd })
  const sizes = items.map(({ content }) => content.length).toSorted((a, b) => a - b)
  const itemCharacters = sizes[sizes.length >> 1] ?? 0
  const { batch_size: batchSize, judges } = judge
  const price = known?.price ?? null
  const cost = estimateJudgingCost({ rubric, sampleSize: wanted, batchSize, judges, itemCharacters, price })
  const pairSd = (rubric.scale[1] - rubric.scale[0]) * ASSUMED
  const noise = { pair_sd: pairSd, pair_sd_upper90: null, between_job_sd: null, pairs: 0, jobs: 0 }
  const seconds = { execution_seconds: 0, overhead_seconds: 0 }
  const prospects = computeProspects(spec, {
    scale: 'linear',
    noise: { ...noise, ...seconds },
    singleMachine: true,
    runs: ROUGHLY,
  })
  const { leastSampleSize } = computeSampleReach({
    sampleSize: wanted,
    confirms: false,
    level: prospects.level,
  })
  requireReach(leastSampleSize, wanted * Math.min(prospects.max_jobs, Math.floor(items.length / wanted)))
  return {
    model,
    asked: known !== null,
    items: items.length,
    wanted,
    cost,
    capUsd: judge.max_total_cost_usd,
    leastItems: leastSampleSize,
    assumedSpread: pairSd,
    visibleGain: prospects.smallest_visible_gain,
    goodIdeaJobs: prospects.good_idea.jobs,
    primary: primary.name,
  }
}

/** Said before anything is spent (decision 3.1): no scores at all could keep an idea. */
function requireReach(least: number, most: number): void {
  if (least <= most) return
  throw new UserError(`no scores of ${most} items could show a gain: it takes at least ${least}`, {
    place: { path: 'metric.judge.sample_size' },
    fix: 'raise it, print more items, or raise evidence.max_jobs',
  })
}
