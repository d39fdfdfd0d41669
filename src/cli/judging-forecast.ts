import { CALIBRATION_JOBS } from '../decide/calibration.ts'
import { UserError } from '../errors.ts'
import { createWebFetch } from '../github/web.ts'
import { estimateJudgingCost } from '../judge/ask-judges.ts'
import { openBudget } from '../judge/budget.ts'
import { formatModels } from '../judge/judge-models.ts'
import { SAMPLES_TO_KEEP } from '../judge/judging-task.ts'
import { hasModelUrl, type Price, readModelAccess } from '../judge/model-access.ts'
import { buildRubric, computeSampleReach } from '../judge/rubric.ts'
import type { Item } from '../measure/output/harness-output.ts'
import { computeProspects } from '../plan/prospects.ts'
import { countPasses, describeGradientQuestions, describePasses } from '../report/check-effort.ts'
import { addCosts, computeRepeatedCost, type JudgingForecast } from '../report/check-trial.ts'
import type { Spec } from '../spec/schema.ts'
import { countJudges, countSampleItems, isJudgedMetric, listJudgeModels } from '../spec/spec-facts.ts'
import type { HarnessRun } from './harness-run.ts'

/** Number of simulations. The spread is only assumed, so more would not be more precise. */
const SIMULATIONS = 40

/** Assumed spread of one item's scores, as a share of the scale. The true value is unknown before judging. */
const ASSUMED_SPREAD = 1 / 8

/** Estimates the cost of judging and the smallest gain that it can show, without asking a model. */
export async function estimateJudging(
  { spec, call }: HarnessRun,
  printed: readonly Item[],
): Promise<JudgingForecast> {
  const { primary, judge } = spec.metric
  if (!isJudgedMetric(spec) || judge === null) throw new TypeError('the spec has no judge')
  const items = printed.filter(({ kind }) => kind === undefined)
  const wanted = countSampleItems(judge)
  const byMeans = spec.measurement.stability !== null
  const least = byMeans ? 1 : SAMPLES_TO_KEEP * wanted
  if (items.length < least) {
    const what = byMeans
      ? 'the harness prints no items'
      : `the harness prints ${items.length} items, and two samples that share none have ${least}`
    const place = { path: 'metric.judge.sample_size' }
    throw new UserError(what, { place, fix: byMeans ? 'print items' : 'print more items, or lower it' })
  }
  const { env } = call.environment
  const settings = { env, models: spec.models, web: createWebFetch(env) }
  const known = hasModelUrl(env)
    ? await Promise.all(listJudgeModels(judge).map(name => readModelAccess(settings, name)))
    : null
  const model = known === null ? listJudgeModels(judge).join(' + ') : formatModels(known)
  const totalCapUsd = spec.stopping.max_total_cost_usd
  // Fail here with the error that a run would give.
  for (const each of known ?? []) openBudget({ ...each, capUsd: judge.max_total_cost_usd ?? totalCapUsd })
  const sizes = items.map(({ content }) => content.length).toSorted((a, b) => a - b)
  const confirming = byMeans && judge.confirmation_seed !== null ? wanted : 0
  const rubric = buildRubric({ primary, judge })
  const costCase = {
    rubric: { ...rubric, asksFeedback: byMeans && spec.epochs !== null },
    sampleSize: Math.min(wanted + confirming, items.length) + judge.singleton_sample,
    sides: byMeans && spec.measurement.baseline === 'cached' ? 1 : 2,
    batchSize: judge.batch_size,
    judges: countJudges(judge),
    itemCharacters: sizes[sizes.length >> 1] ?? 0,
    price: findDearestPrice((known ?? []).map(({ price }) => price)),
  }
  const cost = estimateJudgingCost(costCase)
  const pass = estimateJudgingCost({ ...costCase, rubric: { ...rubric, asksFeedback: true }, sides: 1 })
  const sample = estimateJudgingCost({
    ...costCase,
    rubric,
    sampleSize: Math.min(wanted, items.length),
    sides: 1,
  })
  const asked = { model, asked: known !== null, capUsd: judge.max_total_cost_usd, cost, sample }
  const reach = byMeans ? null : computeJudgingReach(spec, items.length)
  return {
    ...asked,
    items: items.length,
    wanted: Math.min(wanted, items.length),
    reach,
    totalCapUsd,
    primary: primary.name,
    epochs: estimateEpochs(spec, {
      pass,
      jobs: { alike: estimateJudgingCost({ ...costCase, sides: 1 }), differing: cost },
    }),
  }
}

/** Before the first idea, pairs need two jobs that show the noise; under ce's rule, the first pass is the start. */
function estimateEpochs(
  spec: Spec,
  {
    pass,
    jobs,
  }: {
    pass: JudgingForecast['cost']
    jobs: { alike: JudgingForecast['cost']; differing: JudgingForecast['cost'] }
  },
): JudgingForecast['epochs'] {
  const planned = countPasses(spec)
  if (planned === null) return null
  const { baseline, count, own } = planned
  const isPaired = own === baseline + count
  const passes = computeRepeatedCost(pass, baseline + count)
  const withJobs = (job: JudgingForecast['cost']) =>
    isPaired ? addCosts(passes, computeRepeatedCost(job, CALIBRATION_JOBS)) : passes
  return {
    what: describePasses({ ...planned, own: baseline + count }),
    passes,
    withoutIdea: { alike: withJobs(jobs.alike), differing: withJobs(jobs.differing) },
    gradients: describeGradientQuestions(spec),
  }
}

/** For an estimate: each of several models counts like the dearest. Null if a price is unknown. */
function findDearestPrice(prices: readonly (Price | null)[]): Price | null {
  const known = prices.filter(price => price !== null)
  if (known.length === 0 || known.length < prices.length) return null
  return {
    input: Math.max(...known.map(({ input }) => input)),
    output: Math.max(...known.map(({ output }) => output)),
  }
}

function computeJudgingReach(spec: Spec, items: number): JudgingForecast['reach'] {
  const { primary, judge } = spec.metric
  if (judge === null) return null
  const wanted = countSampleItems(judge)
  const { scale } = buildRubric({ primary, judge })
  const pairSd = (scale[1] - scale[0]) * ASSUMED_SPREAD
  const noise = { pair_sd: pairSd, pair_sd_upper90: null, between_job_sd: null, pairs: 0, jobs: 0 }
  const seconds = { execution_seconds: 0, overhead_seconds: 0 }
  const prospects = computeProspects(spec, {
    scale: 'linear',
    noise: { ...noise, ...seconds },
    singleMachine: true,
    runs: SIMULATIONS,
  })
  const reach = { sampleSize: wanted, confirms: false, level: prospects.level }
  const { leastSampleSize } = computeSampleReach(reach)
  requireReach(leastSampleSize, wanted * Math.min(prospects.max_jobs, Math.floor(items / wanted)))
  return {
    leastItems: leastSampleSize,
    assumedSpread: pairSd,
    visibleGain: prospects.smallest_visible_gain,
    goodIdeaJobs: prospects.good_idea.jobs,
  }
}

/** Fails before anything is spent if no scores could ever keep an idea. */
function requireReach(least: number, most: number): void {
  if (least <= most) return
  throw new UserError(`no scores of ${most} items could show a gain: it takes at least ${least}`, {
    place: { path: 'metric.judge.sample_size' },
    fix: 'raise it, print more items, or raise evidence.max_jobs',
  })
}
