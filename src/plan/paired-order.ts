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
import type { Outcome } from '../model/verdict.ts'
import type { Spec } from '../spec/schema.ts'
import { resolveEvidence, resolvePairsPerJob } from '../spec/spec-facts.ts'
import type { World } from './world.ts'

/** What was confirmed on an earlier base, and a runner-up on a new one, need less to be believed (decision.md 3.4). */
const COMBINATION_LEVEL = 0.05

interface PairedContext {
  campaign: Campaign
  spec: Spec
  singleMachine: boolean
}

interface PairedMember {
  id: ExperimentId
  tree: Oid
  purpose: 'experiment' | 'combination'
  /** What its change touches, to tell whether it is a variant of an earlier idea. */
  touched: PairedTerms['touched']
}

type PairedBase = { scale: 'log' | 'linear'; metrics: string[]; pairs: number }

function selectPairedBase({ campaign, spec }: Pick<PairedContext, 'campaign' | 'spec'>): PairedBase {
  const scale = campaign.calibration?.scale ?? (spec.evidence.scale === 'linear' ? 'linear' : 'log')
  const seconds = campaign.calibration?.noise?.execution_seconds ?? 0
  return { scale, metrics: listDecisiveMetrics(spec), pairs: resolvePairsPerJob(spec.evidence, seconds) }
}

/** So many pairs and no stopping rule: nothing is selected by them. */
export function buildPairsRule(
  ruling: Pick<PairedContext, 'campaign' | 'spec'>,
): Extract<StopRule, { rule: 'pairs' }> {
  return { rule: 'pairs', ...selectPairedBase(ruling) }
}

/** The rule of one job, as its runner and its verdict apply it (decision.md 3.3). */
export function buildPairedRule(ruling: PairedContext, members: readonly PairedMember[]): PairedRule {
  const rule = buildRuleWithoutTerms(ruling)
  return { ...rule, terms: buildTerms(ruling, rule, members) }
}

function buildRuleWithoutTerms(ruling: PairedContext): PairedRule {
  const { spec, singleMachine: single_machine } = ruling
  const base = selectPairedBase(ruling)
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
    terms: {},
  }
}

/**
 * A change taken alone was shown on an earlier base already: it is believed as what was confirmed there, and takes
 * nothing of the campaign's level, since nothing lands by it.
 */
export function buildPickRule(
  ruling: PairedContext,
  { id, picks, resumed, evidence }: PickedChange,
  on: PickedTrees,
): PairedRule {
  const { campaign, spec } = ruling
  const jobs = selectReportedJobs(getPickJobs(campaign, { evidence }, on)).length
  const as = campaign.experiments[picks]?.purpose === 'simplify' ? 'simplify' : 'confirmed'
  const max_jobs = Math.max(spec.evidence.max_jobs * (resumed + 1), jobs + 1)
  const terms = {
    as,
    level: COMBINATION_LEVEL,
    share: 0,
    max_jobs,
    give_up: 'early',
    variant: 0,
    touched: null,
  } as const
  return { ...buildRuleWithoutTerms(ruling), terms: { [id]: terms } }
}

/** The default branch's tree, and the one with the change on it. */
interface PickedTrees {
  base: Oid
  tree: Oid
}

/** What earlier jobs measured of exactly these two trees, with this harness. */
export function getPickJobs(
  { harness }: Pick<Campaign, 'harness'>,
  { evidence }: Pick<PickedChange, 'evidence'>,
  { base, tree }: PickedTrees,
): PairJob[] {
  const same = evidence?.base === base && evidence.tree === tree && evidence.harness === harness
  return same ? evidence.jobs : []
}

/** Several ideas of one job take their shares of the campaign's level, and of their families', one after the other. */
function buildTerms(
  ruling: PairedContext,
  rule: PairedRule,
  members: readonly PairedMember[],
): PairedRule['terms'] {
  const terms: PairedRule['terms'] = {}
  let { campaign } = ruling
  for (const member of members) {
    const experiment = campaign.experiments[member.id]
    if (!experiment) continue
    const own = buildMemberTerms({ ...ruling, campaign }, rule, experiment, member)
    terms[member.id] = own
    campaign = applyTerms(campaign, { [member.id]: own })
  }
  return terms
}

/** The campaign as these terms leave it: what they take is taken before the next are made. */
export function applyTerms(campaign: Campaign, terms: PairedRule['terms']): Campaign {
  const level = { ...campaign.level }
  const experiments = { ...campaign.experiments }
  for (const [id, { share, variant, touched }] of Object.entries(terms)) {
    const experiment = experiments[id]
    if (experiment?.share !== null) continue
    experiments[id] = { ...experiment, share, variant, touched }
    level.spent += share
    level.tests += 1
  }
  return { ...campaign, level, experiments }
}

function buildMemberTerms(
  ruling: PairedContext,
  rule: PairedRule,
  experiment: Experiment,
  member: PairedMember,
): PairedTerms {
  const { campaign, spec } = ruling
  const share = experiment.share ?? computeAlphaShare(campaign, spec)
  const as = selectPairedKind(ruling, rule, experiment, member)
  const jobs = selectReportedJobs(getCarriedJobs(campaign, experiment, member.tree)).length
  const max_jobs = spec.evidence.max_jobs * (experiment.resumed + 1)
  const loose = as === 'confirmed' || as === 'combination'
  const touched = experiment.share === null ? member.touched : null
  const variant = experiment.variant ?? countVariant(campaign, { ...experiment, touched })
  const level = loose ? COMBINATION_LEVEL : computeAlpha(campaign, spec.evidence, { share, variant })
  const { give_up } = experiment
  return { as, level, share, max_jobs: Math.max(max_jobs, jobs + 1), give_up, variant, touched }
}

function selectPairedKind(
  ruling: PairedContext,
  rule: PairedRule,
  experiment: Experiment,
  { purpose, tree }: PairedMember,
): PairedTerms['as'] {
  if (experiment.purpose === 'simplify') return 'simplify'
  if (purpose === 'combination') return 'combination'
  const { evidence } = experiment
  if (evidence === null) return 'idea'
  if (isEvidenceContinued(ruling.campaign, evidence, tree)) return evidence.as
  return evidence.head === experiment.head && isConfirmed(ruling, rule, evidence) ? 'confirmed' : 'idea'
}

/** The same two trees and the same harness: whatever was measured of them counts. */
function isEvidenceContinued({ incumbent, harness }: Campaign, evidence: PairedEvidence, tree: Oid): boolean {
  return evidence.base === incumbent.tree && evidence.tree === tree && evidence.harness === harness
}

/** It held on a base that has moved since; with another harness it would have to be shown anew. */
function isConfirmed({ campaign, spec }: PairedContext, rule: PairedRule, evidence: PairedEvidence): boolean {
  if (evidence.harness !== campaign.harness || evidence.as === 'combination') return false
  if (evidence.as === 'confirmed') return true
  return evaluatePairs({ spec, rule, terms: evidence, jobs: evidence.jobs }).status === 'keep'
}

/** What earlier jobs measured of exactly these trees. */
export function getCarriedJobs(campaign: Campaign, { evidence }: Experiment, tree: Oid): PairJob[] {
  return evidence !== null && isEvidenceContinued(campaign, evidence, tree) ? evidence.jobs : []
}

type AlphaState = Pick<Campaign, 'level' | 'experiments'>
type AlphaControl = Pick<Spec['evidence'], 'campaign_control' | 'q' | 'alpha'>

const HELD_OUTCOMES: ReadonlySet<Outcome> = new Set(['kept', 'runner_up_kept', 'not_selected'])

/**
 * Ideas that held, whether they were merged or not: what e-LOND lets the next ones be tested more loosely for. A
 * revert or a simplification that lands has shown no gain.
 */
function countDiscoveries(campaign: AlphaState): number {
  const held = listExperiments(campaign).filter(
    ({ purpose, outcome }) => purpose === 'idea' && outcome !== null && HELD_OUTCOMES.has(outcome),
  )
  return held.length
}

/**
 * What one more experiment takes of the campaign's level (decision.md 3.5): of N tests each an N-th. After an
 * amendment of N the rest of the tests share what is left, so that no level is ever given out twice.
 */
export function computeAlphaShare({ level }: AlphaState, spec: Spec): number {
  if (spec.evidence.campaign_control === 'fixed') return 0
  const left = spec.stopping.max_iterations - level.tests
  return left <= 0 ? 0 : Math.max(0, 1 - level.spent) / left
}

/** How many more experiments may take a share: one without any could not be shown to be anything. */
export function countTestsLeft(campaign: AlphaState, spec: Spec): number {
  if (spec.evidence.campaign_control === 'fixed') return Infinity
  return computeAlphaShare(campaign, spec) > 1e-12 ? spec.stopping.max_iterations - campaign.level.tests : 0
}

/**
 * Which variant of its idea it is, counted from 1: each is tested more strictly than the one before
 * (decision.md 3.4). Declared so, or found by what it touches. 0: nothing like it was tested before.
 */
function countVariant(campaign: AlphaState, subject: Pick<Experiment, 'id' | 'family' | 'touched'>): number {
  const own = toVariant(subject)
  const earlier = listExperiments(campaign).filter(
    other => other.share !== null && other.id !== subject.id && isSameFamily(own, toVariant(other)),
  )
  return subject.family === null && earlier.length === 0 ? 0 : earlier.length + 1
}

function toVariant({ family, touched }: Pick<Experiment, 'family' | 'touched'>): IdeaVariant {
  return { family, files: touched === null ? [] : [touched.files], lines: touched?.lines ?? [] }
}

/** alpha_t of an idea: e-LOND by its share of the campaign, or the fixed level, and its family's part of it. */
export function computeAlpha(
  campaign: AlphaState,
  control: AlphaControl,
  { share, variant }: { share: number; variant: number },
): number {
  const fixed = control.campaign_control === 'fixed'
  const level = fixed
    ? control.alpha
    : Math.min(control.q, control.q * share * (countDiscoveries(campaign) + 1))
  return variant === 0 ? level : computeFamilyLevel(level, variant)
}

/** So many reports in a row from one machine, where there were others before, say that the others are gone. */
const REPORTS_IN_A_ROW = 3
/** As many as a calibration has jobs. */
const FIRST_REPORTS = 2

/**
 * Whether there is only one machine: this one, or one self-hosted runner that measured every job. A fresh runner would
 * be waited for without end there (decision.md 3.3). GitHub starts its own runners anew for each job.
 */
export function hasSingleMachine({ runner, campaign }: Pick<World, 'runner' | 'campaign'>): boolean {
  if (runner.runId !== null) return true
  const { in_a_row, reports } = campaign.machine
  return in_a_row >= REPORTS_IN_A_ROW || (in_a_row >= FIRST_REPORTS && in_a_row === reports)
}
