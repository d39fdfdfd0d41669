import type { PairedRule } from '../decide/paired/rule.ts'
import { standingOf } from '../decide/paired/standing.ts'
import { decisiveMetrics } from '../decide/tie-breakers.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment, PairedEvidence, Picked } from '../model/experiment.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import type { PairedTerms, StopRule } from '../model/order.ts'
import { type Job, reportedJobs } from '../model/pairs.ts'
import { pairsPerJob, resolveEvidence } from '../spec/resolve-evidence.ts'
import type { Spec } from '../spec/schema.ts'
import { levelFor, nextShare, variantOf } from './level.ts'

/** What was confirmed on an earlier base, and a runner-up on a new one, need less to be believed (decision.md 3.4). */
const LOOSER_LEVEL = 0.05

export interface Ruling {
  campaign: Campaign
  spec: Spec
  singleMachine: boolean
}

export interface PairedMember {
  id: ExperimentId
  tree: Oid
  purpose: 'experiment' | 'combination'
  /** What its change touches, to tell whether it is a variant of an earlier idea. */
  touched: PairedTerms['touched']
}

type Base = { scale: 'log' | 'linear'; metrics: string[]; pairs: number }

function measured({ campaign, spec }: Pick<Ruling, 'campaign' | 'spec'>): Base {
  const scale = campaign.calibration?.scale ?? (spec.evidence.scale === 'linear' ? 'linear' : 'log')
  const seconds = campaign.calibration?.noise?.execution_seconds ?? 0
  return { scale, metrics: decisiveMetrics(spec), pairs: pairsPerJob(spec.evidence, seconds) }
}

/** So many pairs and no stopping rule: nothing is selected by them. */
export function pairsStop(ruling: Pick<Ruling, 'campaign' | 'spec'>): Extract<StopRule, { rule: 'pairs' }> {
  return { rule: 'pairs', ...measured(ruling) }
}

/** The rule of one job, as its runner and its verdict apply it (decision.md 3.3). */
export function pairedStop(ruling: Ruling, members: readonly PairedMember[]): PairedRule {
  const rule = ruleWithoutTerms(ruling)
  return { ...rule, terms: termsOf(ruling, rule, members) }
}

function ruleWithoutTerms(ruling: Ruling): PairedRule {
  const { spec, singleMachine: single_machine } = ruling
  const base = measured(ruling)
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
export function pickStop(
  ruling: Ruling,
  { id, picks, resumed, evidence }: Picked,
  on: PickedTrees,
): PairedRule {
  const { campaign, spec } = ruling
  const jobs = reportedJobs(pickedJobs(campaign, { evidence }, on)).length
  const as = campaign.experiments[picks]?.purpose === 'simplify' ? 'simplify' : 'confirmed'
  const max_jobs = Math.max(spec.evidence.max_jobs * (resumed + 1), jobs + 1)
  const terms = {
    as,
    level: LOOSER_LEVEL,
    share: 0,
    max_jobs,
    give_up: 'early',
    variant: 0,
    touched: null,
  } as const
  return { ...ruleWithoutTerms(ruling), terms: { [id]: terms } }
}

/** The default branch's tree, and the one with the change on it. */
export interface PickedTrees {
  base: Oid
  tree: Oid
}

/** What earlier jobs measured of exactly these two trees, with this harness. */
export function pickedJobs(
  { harness }: Pick<Campaign, 'harness'>,
  { evidence }: Pick<Picked, 'evidence'>,
  { base, tree }: PickedTrees,
): Job[] {
  const same = evidence?.base === base && evidence.tree === tree && evidence.harness === harness
  return same ? evidence.jobs : []
}

/** Several ideas of one job take their shares of the campaign's level, and of their families', one after the other. */
function termsOf(ruling: Ruling, rule: PairedRule, members: readonly PairedMember[]): PairedRule['terms'] {
  const terms: PairedRule['terms'] = {}
  let { campaign } = ruling
  for (const member of members) {
    const experiment = campaign.experiments[member.id]
    if (!experiment) continue
    const own = termsFor({ ...ruling, campaign }, rule, experiment, member)
    terms[member.id] = own
    campaign = afterTerms(campaign, { [member.id]: own })
  }
  return terms
}

/** The campaign as these terms leave it: what they take is taken before the next are made. */
export function afterTerms(campaign: Campaign, terms: PairedRule['terms']): Campaign {
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

function termsFor(
  ruling: Ruling,
  rule: PairedRule,
  experiment: Experiment,
  member: PairedMember,
): PairedTerms {
  const { campaign, spec } = ruling
  const share = experiment.share ?? nextShare(campaign, spec)
  const as = kindOf(ruling, rule, experiment, member)
  const jobs = reportedJobs(carriedJobs(campaign, experiment, member.tree)).length
  const max_jobs = spec.evidence.max_jobs * (experiment.resumed + 1)
  const loose = as === 'confirmed' || as === 'combination'
  const touched = experiment.share === null ? member.touched : null
  const variant = experiment.variant ?? variantOf(campaign, { ...experiment, touched })
  const level = loose ? LOOSER_LEVEL : levelFor(campaign, spec.evidence, { share, variant })
  const { give_up } = experiment
  return { as, level, share, max_jobs: Math.max(max_jobs, jobs + 1), give_up, variant, touched }
}

function kindOf(
  ruling: Ruling,
  rule: PairedRule,
  experiment: Experiment,
  { purpose, tree }: PairedMember,
): PairedTerms['as'] {
  if (experiment.purpose === 'simplify') return 'simplify'
  if (purpose === 'combination') return 'combination'
  const { evidence } = experiment
  if (evidence === null) return 'idea'
  if (continues(ruling.campaign, evidence, tree)) return evidence.as
  return evidence.head === experiment.head && wasConfirmed(ruling, rule, evidence) ? 'confirmed' : 'idea'
}

/** The same two trees and the same harness: whatever was measured of them counts. */
function continues({ incumbent, harness }: Campaign, evidence: PairedEvidence, tree: Oid): boolean {
  return evidence.base === incumbent.tree && evidence.tree === tree && evidence.harness === harness
}

/** It held on a base that has moved since; with another harness it would have to be shown anew. */
function wasConfirmed({ campaign, spec }: Ruling, rule: PairedRule, evidence: PairedEvidence): boolean {
  if (evidence.harness !== campaign.harness || evidence.as === 'combination') return false
  if (evidence.as === 'confirmed') return true
  return standingOf({ spec, rule, terms: evidence, jobs: evidence.jobs }).status === 'keep'
}

/** What earlier jobs measured of exactly these trees. */
export function carriedJobs(campaign: Campaign, { evidence }: Experiment, tree: Oid): Job[] {
  return evidence !== null && continues(campaign, evidence, tree) ? evidence.jobs : []
}
