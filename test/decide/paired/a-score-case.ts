import type { PairedCase, PairedRule } from '../../../src/decide/paired/evaluate.ts'
import type { PairedTerms } from '../../../src/model/order.ts'
import type { PairJob } from '../../../src/model/pairs.ts'
import { aSpec } from '../a-spec.ts'

/** Pairs of one job: gains in percent of a base of 100, null for a candidate that failed. */
export function aJob(order: string, gains: readonly (number | null)[], rest: Partial<PairJob> = {}): PairJob {
  const pairs = gains.map((gain, at) => ({
    first: at % 2 === 0 ? ('base' as const) : ('candidate' as const),
    base: { score: 100 },
    candidate: gain === null ? null : { score: 100 * (1 - gain / 100) },
  }))
  return { order: order.repeat(64), runner: `runner ${order}`, complete: true, pairs, ...rest }
}

export function aRule(rest: Partial<PairedRule> = {}): PairedRule {
  return {
    rule: 'paired',
    metrics: ['score'],
    scale: 'log',
    pairs: 8,
    min_effect: 0.02,
    null_effect: 0.005,
    screen: 20,
    fresh_runners: 1,
    single_machine: false,
    terms: {},
    ...rest,
  }
}

export function aCase(
  jobs: readonly PairJob[],
  more: { rule?: Partial<PairedRule>; terms?: Partial<PairedTerms>; metric?: Record<string, unknown> } = {},
): PairedCase {
  const primary = { type: 'hard', name: 'score', direction: 'minimize' }
  const spec = aSpec({ metric: { primary, ...more.metric } })
  const terms = {
    as: 'idea' as const,
    alpha: 0.01,
    alpha_share: 0.1,
    variant: 0,
    touched: null,
    give_up: 'early' as const,
    asked_at: null,
    refused_path: null,
    refused_line: null,
    max_jobs: 8,
    ...more.terms,
  }
  return { spec, rule: aRule(more.rule), terms, jobs }
}

/** Always the same sizes, so that ranks never tie. */
export const GAINS = [5, 6.1, 4.2, 7.3, 5.4, 6.5, 4.6, 7.7]
