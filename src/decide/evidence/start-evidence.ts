import { UserError } from '../../errors.ts'
import type { MetricDirection, EvidenceScale } from './difference.ts'
import { NO_BETS } from './rank-evidence.ts'
import type { EvidenceRule, EvidenceState, GiveUpRule } from './state.ts'
import { NO_SUMS } from './variance-prior.ts'

export type EvidenceOptions = {
  direction: MetricDirection
  /** theta1, the smallest gain worth having: a difference of ln under log, metric units under linear. */
  minEffect: number
  /** theta0, what still counts as nothing: minEffect/4, on one machine minEffect/2. */
  nullEffect?: number
  /** The level in force, alpha_t: .01; for a combination .05. */
  alpha?: number
  screen?: number
  pairsPerJob?: number
  maxJobs?: number
  freshRunners?: number
  scale?: EvidenceScale
  /** Confirmed on an old base: no second screen, level .05 (decision 3.4). */
  confirmed?: boolean
  /** A runner-up on a new incumbent: no screen, two runners. */
  combination?: boolean
  /** One machine is all there is: a new job counts as a fresh runner (decision 3.3). */
  singleMachine?: boolean
  /** When the search for a gain ends without an answer; early unless told. */
  giveUp?: GiveUpRule
  /** Scores of items: ties carry no evidence, and the mean is the effect. */
  graded?: boolean
  /** How many required objectives share the level. */
  m?: number
  /**
   * A share of the evidence, half unless told, from a likelihood ratio (decision 4.9) that takes the pair sd to be
   * `noise`. Unlike the ranks it is fair only if the noise is not understated: off unless asked for.
   */
  hybrid?: { noise: number; share?: number }
}

const CONFIRMED_LEVEL = 0.05
const DEFAULT_LEVEL = 0.01

function requireThat(holds: boolean, what: string, fix: string): void {
  if (!holds) throw new UserError(`evidence: ${what}`, { fix })
}

function requireWholeNumber(name: string, value: number, least: number): void {
  requireThat(
    Number.isInteger(value) && value >= least,
    `${name} is ${value}`,
    `give a whole number of at least ${least}`,
  )
}

function selectLevel({ confirmed, combination, alpha }: EvidenceOptions): number {
  if (confirmed === true) return CONFIRMED_LEVEL
  return alpha ?? (combination === true ? CONFIRMED_LEVEL : DEFAULT_LEVEL)
}

function checkRule(rule: EvidenceRule): void {
  const { min_effect, null_effect, level, screen, noise, ratio_share } = rule
  const positive = 'give a finite number above 0'
  requireThat(Number.isFinite(min_effect) && min_effect > 0, `minEffect is ${min_effect}`, positive)
  const sane = null_effect >= 0 && null_effect < min_effect
  requireThat(sane, `nullEffect is ${null_effect}`, `give a number from 0 to below minEffect (${min_effect})`)
  requireThat(level > 0 && level < 1, `the level is ${level}`, 'give an alpha above 0 and below 1')
  requireThat(
    screen === null || (Number.isFinite(screen) && screen > 1),
    `screen is ${screen}`,
    'give more than 1',
  )
  requireThat(noise === null || (Number.isFinite(noise) && noise > 0), `hybrid.noise is ${noise}`, positive)
  requireThat(
    ratio_share > 0 && ratio_share < 1,
    `hybrid.share is ${ratio_share}`,
    'give a share between 0 and 1',
  )
  requireWholeNumber('pairsPerJob', rule.pairs_per_job, 1)
  requireWholeNumber('maxJobs', rule.max_jobs, 1)
  requireWholeNumber('freshRunners', rule.fresh_runners, 0)
}

function buildEvidenceRule(options: EvidenceOptions): EvidenceRule {
  const { direction, minEffect, singleMachine = false, freshRunners = 1, m = 1 } = options
  requireWholeNumber('m', m, 1)
  const unscreened = options.confirmed === true || options.combination === true || freshRunners === 0
  return {
    direction,
    scale: options.scale ?? 'log',
    min_effect: minEffect,
    null_effect: options.nullEffect ?? minEffect / (singleMachine ? 2 : 4),
    level: selectLevel(options) / m,
    screen: unscreened ? null : (options.screen ?? 20),
    pairs_per_job: options.pairsPerJob ?? 8,
    max_jobs: options.maxJobs ?? 8,
    fresh_runners: freshRunners,
    runners: Math.max(freshRunners + 1, options.combination === true ? 2 : 1),
    single_machine: singleMachine,
    noise: options.hybrid?.noise ?? null,
    ratio_share: options.hybrid?.share ?? 0.5,
    give_up: options.giveUp ?? 'early',
    graded: options.graded ?? false,
  }
}

/** The state before the first pair of one (base tree, candidate tree, harness): E = 1 (decision 3.2 to 3.4). */
export function startEvidence(options: EvidenceOptions): EvidenceState {
  const rule = buildEvidenceRule(options)
  checkRule(rule)
  return {
    rule,
    differences: [],
    failures: 0,
    keep: { from: 0, ln: NO_BETS, sums: rule.noise === null ? null : NO_SUMS },
    drop: NO_BETS,
    harm: NO_BETS,
    screened: null,
    jobs: [],
    given_up: null,
    decided: null,
  }
}
