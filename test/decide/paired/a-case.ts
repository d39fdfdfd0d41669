import type { PairedCase, PairedRule } from '../../../src/decide/paired/evaluate.ts'
import type { PairedTerms } from '../../../src/model/order.ts'
import type { PairJob, Pair } from '../../../src/model/pairs.ts'
import { aSpec } from '../a-spec.ts'

type Raw = Record<string, unknown>
/** What one pair brings: a gain of each metric, as a difference of logarithms; null: the candidate failed. */
export type Gains = Record<string, number> | null

/** Gains around a middle that differ from pair to pair, as measured ones do. */
export function around(middle: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => middle + ((at * 7) % 5) * 0.0007 - 0.0014)
}

export function gainsOf(metric: string, middle: number, count: number): Gains[] {
  return around(middle, count).map(gain => ({ [metric]: gain }))
}

/** Several metrics in the same pairs. */
export function together(count: number, middles: Record<string, number>): Gains[] {
  const all = Object.entries(middles).map(([name, middle]) => [name, around(middle, count)] as const)
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(all.map(([name, gains]) => [name, gains[at] ?? 0])),
  )
}

/** Lower is better, and the base is 100 throughout. */
export function aPair(gains: Gains, at = 0): Pair {
  const names = Object.keys(gains ?? {})
  const base = Object.fromEntries((gains === null ? ['bytes'] : names).map(name => [name, 100]))
  const candidate =
    gains === null ? null : Object.fromEntries(names.map(name => [name, 100 * Math.exp(-(gains[name] ?? 0))]))
  return { first: at % 2 === 0 ? 'base' : 'candidate', base, candidate }
}

export function aJob(order: string, gains: readonly Gains[], rest: Partial<PairJob> = {}): PairJob {
  const complete = gains.length >= 8
  return { order: order.repeat(64), runner: 'boot', complete, pairs: gains.map(aPair), ...rest }
}

export function aRule(rest: Partial<PairedRule> = {}): PairedRule {
  return {
    rule: 'paired',
    metrics: ['bytes'],
    scale: 'log',
    pairs: 8,
    min_effect: 0.02,
    null_effect: 0.01,
    screen: 20,
    fresh_runners: 1,
    single_machine: true,
    terms: {},
    ...rest,
  }
}

export function someTerms(rest: Partial<PairedTerms> = {}): PairedTerms {
  return {
    as: 'idea',
    alpha: 0.01,
    alpha_share: 0.01,
    variant: 0,
    touched: null,
    max_jobs: 8,
    give_up: 'early',
    ...rest,
  }
}

interface CaseOptions {
  metric?: Raw
  policy?: Raw
  rule?: Partial<PairedRule>
  terms?: Partial<PairedTerms>
}

export function aCase(
  jobs: readonly PairJob[],
  { metric, policy, rule, terms }: CaseOptions = {},
): PairedCase {
  const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }
  const spec = aSpec({ metric: { primary, ...metric }, ...(policy ? { policy } : {}) })
  return { spec, rule: aRule(rule), terms: someTerms(terms), jobs }
}
