import { formatNumber, formatCount } from '../decide/wording.ts'

/** What judging would be, as far as it is known before a model was asked. */
export interface JudgingForecast {
  model: string
  /** Where it is asked is known. */
  asked: boolean
  /** Printed, and scored of each side in one job. */
  items: number
  wanted: number
  /** Of one job, in the middle. */
  cost: { requests: number; tokens: number; usd: number | null }
  capUsd: number | null
  /** No fewer can show anything. */
  leastItems: number
  /** Of scores of one item, assumed: what is known is what calibration finds. */
  assumedSpread: number
  visibleGain: number | null
  /** Jobs of an idea that gains twice minimum_improvement. */
  goodIdeaJobs: number
  primary: string
}

export function renderJudgingForecast(judging: JudgingForecast): string[] {
  const { model, asked, items, wanted, cost, leastItems } = judging
  const where = asked ? [] : ['warning: WINNOW_MODEL_URL is not set, so that winnow run cannot ask any model']
  return [
    `judged: ${wanted} of ${formatCount(items, 'item')} of each side by ${model} in one job, ${formatCount(cost.requests, 'request')}, about ${formatJudgingCost(cost)}`,
    `an idea worth keeping: about ${formatCount(Math.round(judging.goodIdeaJobs * 10) / 10, 'job')}, and one more for its reported effect; the campaign: two before, eight after`,
    describeCostCap(judging),
    `shown by: ${formatCount(leastItems, 'item')} at least; ${describeVisibleScoreGain(judging)}`,
    ...where,
  ]
}

function formatJudgingCost({ usd, tokens }: JudgingForecast['cost']): string {
  const many = `${formatNumber(tokens)} tokens`
  return usd === null ? many : `${many} or ${formatDollars(usd)}`
}

function describeCostCap({ capUsd, cost: { usd } }: JudgingForecast): string {
  if (capUsd === null) return 'budget: none (metric.judge.max_total_cost_usd)'
  const jobs = usd === null || usd === 0 ? '' : `, about ${formatCount(Math.floor(capUsd / usd), 'job')}`
  return `budget: ${formatDollars(capUsd)} in all${jobs} (metric.judge.max_total_cost_usd)`
}

function describeVisibleScoreGain({ visibleGain, assumedSpread, primary }: JudgingForecast): string {
  const if_ = `where scores of one item vary by ${formatNumber(Number(assumedSpread.toPrecision(2)))}`
  if (visibleGain === null) return `no gain is seen ${if_}`
  return `gains of ${formatNumber(Number(visibleGain.toPrecision(2)))} ${primary} are seen ${if_}`
}

function formatDollars(usd: number): string {
  return `${formatNumber(Number(usd.toPrecision(2)))} USD`
}
