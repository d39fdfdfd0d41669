import { numberText, plural } from '../decide/wording.ts'

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

export function judgingText(judging: JudgingForecast): string[] {
  const { model, asked, items, wanted, cost, leastItems } = judging
  const where = asked ? [] : ['warning: WINNOW_MODEL_URL is not set, so that winnow run cannot ask any model']
  return [
    `judged: ${wanted} of ${plural(items, 'item')} of each side by ${model} in one job, ${plural(cost.requests, 'request')}, about ${moneyText(cost)}`,
    `an idea worth keeping: about ${plural(Math.round(judging.goodIdeaJobs * 10) / 10, 'job')}, and one more for its reported effect; the campaign: two before, eight after`,
    capText(judging),
    `shown by: ${plural(leastItems, 'item')} at least; ${visibleText(judging)}`,
    ...where,
  ]
}

function moneyText({ usd, tokens }: JudgingForecast['cost']): string {
  const many = `${numberText(tokens)} tokens`
  return usd === null ? many : `${many} or ${dollars(usd)}`
}

function capText({ capUsd, cost: { usd } }: JudgingForecast): string {
  if (capUsd === null) return 'budget: none (metric.judge.max_total_cost_usd)'
  const jobs = usd === null || usd === 0 ? '' : `, about ${plural(Math.floor(capUsd / usd), 'job')}`
  return `budget: ${dollars(capUsd)} in all${jobs} (metric.judge.max_total_cost_usd)`
}

function visibleText({ visibleGain, assumedSpread, primary }: JudgingForecast): string {
  const if_ = `where scores of one item vary by ${numberText(Number(assumedSpread.toPrecision(2)))}`
  if (visibleGain === null) return `no gain is seen ${if_}`
  return `gains of ${numberText(Number(visibleGain.toPrecision(2)))} ${primary} are seen ${if_}`
}

function dollars(usd: number): string {
  return `${numberText(Number(usd.toPrecision(2)))} USD`
}
