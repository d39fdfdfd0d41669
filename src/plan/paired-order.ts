import { computeFamilyLevel } from '../decide/evidence/rank-test.ts'
import { type IdeaVariant, isSameFamily } from '../decide/evidence/rules.ts'
import { listDecisiveMetrics } from '../decide/metrics.ts'
import { evaluatePairs, type PairedRule } from '../decide/paired/evaluate.ts'
import type { Campaign } from '../model/campaign.ts'
import {
  type Experiment,
  listExperiments,
  type PairedEvidence,
  type PickedChange,
} from '../model/experiment.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import type { PairedTerms, StopRule } from '../model/order.ts'
import { type PairJob, selectReportedJobs } from '../model/pairs.ts'
import { isPairedByTask } from '../model/tasks.ts'
import type { Outcome } from '../model/verdict.ts'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric, resolveEvidence, resolvePairsPerJob } from '../spec/spec-facts.ts'
import type { World } from './world.ts'

/** For changes confirmed on an earlier base, and runners-up on a new one (docs/deciding.md, How strict). */
const COMBINATION_ALPHA = 0.05

interface PairedContext {
  campaign: Campaign
  spec: Spec
  singleMachine: boolean
}

interface PairedMember {
  id: ExperimentId
  tree: Oid
  purpose: 'experiment' | 'combination'
  /** Lines that its change touches, to detect variants of an earlier idea. */
  touched: PairedTerms['touched']
}

interface PickedTrees {
  base: Oid
  tree: Oid
}

// Rules and terms of orders

type AlphaState = Pick<Campaign, 'error_budget' | 'experiments'>

/** The runner and the verdict of one job apply this same rule (docs/deciding.md, When it stops). */
export function buildPairedRule(context: PairedContext, members: readonly PairedMember[]): PairedRule {
  const rule = buildRuleWithoutTerms(context)
  return { ...rule, terms: buildTerms(context, rule, members) }
}

function buildRuleWithoutTerms(context: PairedContext): PairedRule {
  const { spec, singleMachine: single_machine } = context
  const base = selectPairedBase(context)
  const evidence = resolveEvidence(spec, {
    singleMachine: single_machine,
    scale: base.scale,
    deterministic: false,
  })
  return {
    rule: 'paired' as const,
    ...base,
    min_effect: evidence.min_effect,
    null_effect: evidence.null_effect,
    screen: evidence.screen,
    fresh_runners: evidence.fresh_runners,
    single_machine,
    ...buildKeepCheck(spec, base.pairs),
    ...selectPairUnit(spec),
    terms: {},
  }
}

function selectPairUnit(spec: Spec): Pick<PairedRule, 'by_task'> {
  return isPairedByTask(spec) ? { by_task: true } : {}
}

/** Pairs of a job that only checks: with many, fewer builds are needed. */
const CHECK_PAIRS = 24
const EXTRA_CHECK_JOBS = 2

/** Scores of items and tasks have no slow runs and no luck of a job. */
export function buildKeepCheck(spec: Spec, pairs: number): Pick<PairedRule, 'keep_check'> {
  const slow_runs = spec.merge.sometimes_slower === 'hold' ? spec.evidence.slow_runs : null
  const jobs_agree = spec.evidence.fresh_runners > 0
  if (isJudgedMetric(spec) || isPairedByTask(spec) || (slow_runs === null && !jobs_agree)) return {}
  const jobs = spec.evidence.max_jobs + EXTRA_CHECK_JOBS
  return {
    keep_check: { slow_runs, jobs_agree, pairs: Math.max(pairs, CHECK_PAIRS), agree_pairs: pairs, jobs },
  }
}

type PairedBase = { scale: 'log' | 'linear'; metrics: string[]; pairs: number }

function selectPairedBase({ campaign, spec }: Pick<PairedContext, 'campaign' | 'spec'>): PairedBase {
  const scale = campaign.calibration?.scale ?? (spec.evidence.scale === 'linear' ? 'linear' : 'log')
  const seconds = campaign.calibration?.noise?.execution_seconds ?? 0
  return { scale, metrics: listDecisiveMetrics(spec), pairs: resolvePairsPerJob(spec.evidence, seconds) }
}

/** Each idea takes its share of the error budget, and of its family's, after those before it. */
function buildTerms(
  context: PairedContext,
  rule: PairedRule,
  members: readonly PairedMember[],
): PairedRule['terms'] {
  const terms: PairedRule['terms'] = {}
  let { campaign } = context
  for (const member of members) {
    const experiment = campaign.experiments[member.id]
    if (!experiment) continue
    const own = buildMemberTerms({ ...context, campaign }, rule, experiment, member)
    terms[member.id] = own
    campaign = applyTerms(campaign, { [member.id]: own })
  }
  return terms
}

function buildMemberTerms(
  context: PairedContext,
  rule: PairedRule,
  experiment: Experiment,
  member: PairedMember,
): PairedTerms {
  const { campaign, spec } = context
  const alpha_share = experiment.alpha_share ?? computeAlphaShare(campaign, spec)
  const as = selectPairedKind(context, rule, experiment, member)
  const jobs = selectReportedJobs(getEarlierJobs(campaign, experiment, member.tree)).length
  const max_jobs = spec.evidence.max_jobs * (experiment.resumed + 1)
  const loose = as === 'confirmed' || as === 'combination'
  const touched = experiment.alpha_share === null ? member.touched : null
  const variant = experiment.variant ?? countVariant(campaign, { ...experiment, touched })
  const alpha = loose
    ? COMBINATION_ALPHA
    : computeAlpha(campaign, spec.evidence, { share: alpha_share, variant })
  const { give_up } = experiment
  return { as, alpha, alpha_share, max_jobs: Math.max(max_jobs, jobs + 1), give_up, variant, touched }
}

function selectPairedKind(
  context: PairedContext,
  rule: PairedRule,
  experiment: Experiment,
  { purpose, tree }: PairedMember,
): PairedTerms['as'] {
  if (experiment.purpose === 'simplify') return 'simplify'
  if (purpose === 'combination') return 'combination'
  const { evidence } = experiment
  if (evidence === null) return 'idea'
  if (isEvidenceContinued(context.campaign, evidence, tree)) return evidence.as
  return evidence.head === experiment.head && isConfirmed(context, rule, evidence) ? 'confirmed' : 'idea'
}

/** Evidence continues to count only for the same two trees and the same harness. */
function isEvidenceContinued({ incumbent, harness }: Campaign, evidence: PairedEvidence, tree: Oid): boolean {
  return evidence.base === incumbent.tree && evidence.tree === tree && evidence.harness === harness
}

/** Held on a base that has moved since. With another harness it would need new evidence. */
function isConfirmed({ campaign, spec }: PairedContext, rule: PairedRule, evidence: PairedEvidence): boolean {
  if (evidence.harness !== campaign.harness || evidence.as === 'combination') return false
  if (evidence.as === 'confirmed') return true
  const { status, check } = evaluatePairs({ spec, rule, terms: evidence, jobs: evidence.jobs })
  return status === 'keep' && (check === null || check.is === 'passed')
}

/** From 1; each is tested more strictly (docs/deciding.md, How strict). 0: no similar idea was tested before. */
function countVariant(campaign: AlphaState, subject: Pick<Experiment, 'id' | 'family' | 'touched'>): number {
  const own = toVariant(subject)
  const earlier = listExperiments(campaign).filter(
    other => other.alpha_share !== null && other.id !== subject.id && isSameFamily(own, toVariant(other)),
  )
  return subject.family === null && earlier.length === 0 ? 0 : earlier.length + 1
}

function toVariant({ family, touched }: Pick<Experiment, 'family' | 'touched'>): IdeaVariant {
  return { family, files: touched === null ? [] : [touched.files], lines: touched?.lines ?? [] }
}

/** A fixed number of pairs without a stopping rule: no selection depends on them. */
export function buildPairsRule(
  context: Pick<PairedContext, 'campaign' | 'spec'>,
): Extract<StopRule, { rule: 'pairs' }> {
  return { rule: 'pairs', ...selectPairedBase(context), ...selectPairUnit(context.spec) }
}

/** Tested like a confirmed change. Takes no share of the error budget, because nothing lands by it. */
export function buildPickRule(
  context: PairedContext,
  { id, picks, resumed, evidence }: PickedChange,
  trees: PickedTrees,
): PairedRule {
  const { campaign, spec } = context
  const jobs = selectReportedJobs(getPickJobs(campaign, { evidence }, trees)).length
  const as = campaign.experiments[picks]?.purpose === 'simplify' ? 'simplify' : 'confirmed'
  const max_jobs = Math.max(spec.evidence.max_jobs * (resumed + 1), jobs + 1)
  const terms = {
    as,
    alpha: COMBINATION_ALPHA,
    alpha_share: 0,
    max_jobs,
    give_up: 'early',
    variant: 0,
    touched: null,
  } as const
  return { ...buildRuleWithoutTerms(context), terms: { [id]: terms } }
}

export function getPickJobs(
  { harness }: Pick<Campaign, 'harness'>,
  { evidence }: Pick<PickedChange, 'evidence'>,
  { base, tree }: PickedTrees,
): PairJob[] {
  const same = evidence?.base === base && evidence.tree === tree && evidence.harness === harness
  return same ? evidence.jobs : []
}

/** Returns the campaign after these terms took their shares. */
export function applyTerms(campaign: Campaign, terms: PairedRule['terms']): Campaign {
  const error_budget = { ...campaign.error_budget }
  const experiments = { ...campaign.experiments }
  for (const [id, { alpha_share, variant, touched }] of Object.entries(terms)) {
    const experiment = experiments[id]
    if (experiment?.alpha_share !== null) continue
    experiments[id] = { ...experiment, alpha_share, variant, touched }
    error_budget.alpha_spent += alpha_share
    error_budget.tests += 1
  }
  return { ...campaign, error_budget, experiments }
}

export function getEarlierJobs(campaign: Campaign, { evidence }: Experiment, tree: Oid): PairJob[] {
  return evidence !== null && isEvidenceContinued(campaign, evidence, tree) ? evidence.jobs : []
}

// Error budget

/** 1/N for each of N tests (docs/deciding.md, How strict). After an amendment the rest divide what is left. */
export function computeAlphaShare({ error_budget }: AlphaState, spec: Spec): number {
  if (spec.evidence.campaign_control === 'fixed') return 0
  const left = spec.stopping.max_iterations - error_budget.tests
  return left <= 0 ? 0 : Math.max(0, 1 - error_budget.alpha_spent) / left
}

/** Counts the experiments that may still take a share: a test without one cannot prove anything. */
export function countTestsLeft(campaign: AlphaState, spec: Spec): number {
  if (spec.evidence.campaign_control === 'fixed') return Infinity
  return computeAlphaShare(campaign, spec) > 1e-12
    ? spec.stopping.max_iterations - campaign.error_budget.tests
    : 0
}

type AlphaControl = Pick<Spec['evidence'], 'campaign_control' | 'q' | 'alpha'>

/**
 * alpha_t of an idea: e-LOND by its share, or the fixed level, reduced for a variant. An idea without a share was first
 * tested under the fixed level, and keeps it after an amendment.
 */
export function computeAlpha(
  campaign: AlphaState,
  control: AlphaControl,
  { share, variant }: { share: number; variant: number },
): number {
  const fixed = control.campaign_control === 'fixed' || share === 0
  const level = fixed
    ? control.alpha
    : Math.min(control.q, control.q * share * (countDiscoveries(campaign) + 1))
  return variant === 0 ? level : computeFamilyLevel(level, variant)
}

const HELD_OUTCOMES: ReadonlySet<Outcome> = new Set(['kept', 'runner_up_kept', 'not_selected'])

/** e-LOND tests more loosely for each idea that held. Reverts and simplifications have shown no gain. */
function countDiscoveries(campaign: AlphaState): number {
  const held = listExperiments(campaign).filter(
    ({ purpose, outcome }) => purpose === 'idea' && outcome !== null && HELD_OUTCOMES.has(outcome),
  )
  return held.length
}

/** After this many reports in a row from one machine, other machines that reported before count as gone. */
const REPORTS_IN_A_ROW = 3

/** The number of jobs of a calibration. */
const FIRST_REPORTS = 2

/** Such a campaign would wait for a fresh runner for ever (docs/deciding.md, One machine). Hosted ones are fresh. */
export function hasSingleMachine({ runner, campaign }: Pick<World, 'runner' | 'campaign'>): boolean {
  if (runner.runId !== null) return true
  const { in_a_row, reports } = campaign.machine
  return in_a_row >= REPORTS_IN_A_ROW || (in_a_row >= FIRST_REPORTS && in_a_row === reports)
}
