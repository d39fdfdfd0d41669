import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { type EvidenceScale, type MetricDirection, NO_BETS, NO_SUMS } from './rank-test.ts'

const naturalNumber = z.number().int().nonnegative()
const positiveNumber = z.number().positive()
const betsSchema = z.tuple([z.number(), z.number()]).readonly()

/**
 * When measuring ends before a proof. early: after little promise, to save money. late: where a gain of twice
 * min_effect is excluded. equal: where a loss of twice min_effect is excluded as well, which a guard against
 * regressions needs. never: a person asked for more.
 */
const giveUpRuleSchema = z.enum(['early', 'late', 'equal', 'never'])

/** Fixed before the first pair. */
const ruleSchema = z.strictObject({
  direction: z.enum(['minimize', 'maximize']),
  scale: z.enum(['log', 'linear']),
  min_effect: positiveNumber,
  null_effect: z.number().nonnegative(),
  /** alpha_t, already divided among the required objectives. */
  level: positiveNumber.max(1),
  /** null: confirmed before, a combination, or no fresh runner is required. */
  screen: positiveNumber.nullable(),
  pairs_per_job: naturalNumber.min(1),
  max_jobs: naturalNumber.min(1),
  fresh_runners: naturalNumber,
  runners: naturalNumber.min(1),
  single_machine: z.boolean(),
  /** The hybrid's pair noise; null where the rank process decides alone. */
  noise: positiveNumber.nullable(),
  ratio_share: positiveNumber.max(1),
  give_up: giveUpRuleSchema,
  /** Scores of items, read once a whole sample is scored: ties carry no evidence, and the mean is the effect. */
  graded: z.boolean(),
})

const jobSchema = z.strictObject({
  id: z.union([z.string(), z.number()]),
  runner: z.string(),
  also_on: z.array(z.string()).readonly().optional(),
  pairs: naturalNumber,
  /** The base failed: recorded, not counted. */
  void_pairs: naturalNumber,
  base_first: naturalNumber,
  ended: z.boolean(),
})

/** The keep side: starts again at pair `from` when it screens. */
const keepSideSchema = z.strictObject({
  from: naturalNumber,
  ln: betsSchema,
  /** The same bets on differences about the usual ones of two speeds: equal to `ln` where there is one speed. */
  ln_centred: betsSchema,
  /** The part of both that lost pairs took. */
  ln_lost: betsSchema,
  /** Sums of the hybrid; null without it, or once a candidate failed since `from`. */
  sums: z
    .strictObject({
      pairs: naturalNumber,
      about_null: z.number().nonnegative(),
      about_alternatives: z.array(z.number().nonnegative()).readonly(),
    })
    .nullable(),
})

const decidedSchema = z.strictObject({
  status: z.enum(['keep', 'drop']),
  reason: z.enum(['gain-shown', 'broken', 'gain-ruled-out', 'harm-shown']),
})

/** The search for a gain has ended after this many pairs; that claims nothing about the gain. */
const givenUpSchema = z.strictObject({
  reason: z.enum([
    'no-promise-after-job-1',
    'no-promise-after-job-2',
    'gain-unlikely',
    'large-gain-ruled-out',
    'large-change-ruled-out',
    'gain-ruled-out',
  ]),
  pairs: naturalNumber,
})

/** All that is known of one comparison; plain JSON in which every number is finite. */
export const evidenceStateSchema = z.strictObject({
  rule: ruleSchema,
  /** Counted pairs in order, without the cost of running first; null: the candidate failed. */
  differences: z.array(z.number().nullable()).readonly(),
  /** The same without differences between two speeds of the machine; 0: too little is known of them. */
  centred: z.array(z.number().nullable()).readonly(),
  measured: z.array(z.number().nullable()).readonly(),
  base_first: z.array(z.boolean()).readonly(),
  failures: naturalNumber,
  keep: keepSideSchema,
  /** Bets against a gain of min_effect. */
  drop: betsSchema,
  /** Bets on a loss. */
  harm: betsSchema,
  /** The job that screened, and the evidence it carries over. */
  screened: z.strictObject({ job: naturalNumber, ln: z.number() }).nullable(),
  jobs: z.array(jobSchema).readonly(),
  given_up: givenUpSchema.nullable(),
  decided: decidedSchema.nullable(),
})
export type EvidenceState = z.infer<typeof evidenceStateSchema>
export type EvidenceJob = z.infer<typeof jobSchema>
export type KeepSide = z.infer<typeof keepSideSchema>
export type EvidenceDecision = z.infer<typeof decidedSchema>
export type GiveUp = z.infer<typeof givenUpSchema>
type EvidenceRule = EvidenceState['rule']
type GiveUpRule = EvidenceRule['give_up']

export type EvidenceOptions = {
  direction: MetricDirection
  /** theta1, the smallest gain worth having: a difference of ln under log, metric units under linear. */
  minEffect: number
  /** theta0, the largest effect that still counts as none: minEffect/4, on one machine minEffect/2. */
  nullEffect?: number
  /** The level in force, alpha_t: .01; for a combination .05. */
  alpha?: number
  screen?: number
  pairsPerJob?: number
  maxJobs?: number
  freshRunners?: number
  scale?: EvidenceScale
  /** Confirmed on an old base: no second screen, level .05. */
  confirmed?: boolean
  /** A runner-up on a new incumbent: no screen, two runners. */
  combination?: boolean
  /** Only one machine exists: a new job counts as a fresh runner. */
  singleMachine?: boolean
  /** When the search for a gain ends without an answer; `early` by default. */
  giveUp?: GiveUpRule
  graded?: boolean
  m?: number
  /**
   * A share of the evidence, 1/2 by default, from a likelihood ratio that takes the pair sd to
   * be `noise`. Unlike the ranks it is fair only if the noise is not understated, so it is off by default.
   */
  hybrid?: { noise: number; share?: number }
}

export const NO_KEEP_BETS = { ln: NO_BETS, ln_centred: NO_BETS, ln_lost: NO_BETS }

const CONFIRMED_LEVEL = 0.05
const DEFAULT_LEVEL = 0.01

function requireThat(holds: boolean, what: string, fix: string): void {
  if (!holds) throw new UserError(`evidence: ${what}`, { fix })
}

function requireWholeNumber(name: string, value: number, least: number): void {
  const holds = Number.isInteger(value) && value >= least
  requireThat(holds, `${name} is ${value}`, `give a whole number of at least ${least}`)
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
  const screens = screen === null || (Number.isFinite(screen) && screen > 1)
  requireThat(screens, `screen is ${screen}`, 'give more than 1')
  requireThat(noise === null || (Number.isFinite(noise) && noise > 0), `hybrid.noise is ${noise}`, positive)
  const shared = ratio_share > 0 && ratio_share < 1
  requireThat(shared, `hybrid.share is ${ratio_share}`, 'give a share between 0 and 1')
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

/** The state before the first pair: E = 1. */
export function startEvidence(options: EvidenceOptions): EvidenceState {
  const rule = buildEvidenceRule(options)
  checkRule(rule)
  return {
    rule,
    differences: [],
    centred: [],
    measured: [],
    base_first: [],
    failures: 0,
    keep: { from: 0, ...NO_KEEP_BETS, sums: rule.noise === null ? null : NO_SUMS },
    drop: NO_BETS,
    harm: NO_BETS,
    screened: null,
    jobs: [],
    given_up: null,
    decided: null,
  }
}

/** Lets a state that is not proven use more jobs; measuring longer does not inflate the error. */
export function resumeEvidence(state: EvidenceState, { maxJobs }: { maxJobs: number }): EvidenceState {
  if (state.decided !== null) {
    const { status } = state.decided
    throw new UserError(`evidence: a verdict was reached (${status}), so nothing can be resumed`)
  }
  if (!Number.isInteger(maxJobs) || maxJobs <= state.jobs.length) {
    throw new UserError(`evidence: maxJobs is ${maxJobs}, and ${state.jobs.length} jobs are used`, {
      fix: `give a whole number above ${state.jobs.length}`,
    })
  }
  return { ...state, given_up: null, rule: { ...state.rule, max_jobs: maxJobs, give_up: 'never' } }
}
