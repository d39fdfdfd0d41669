import { isLandedUnproven } from '../../decide/epochs.ts'
import type { PairedRule } from '../../decide/paired/evaluate.ts'
import { readTreeFile } from '../../git/tree.ts'
import { describeAwaitedPackages } from '../../model/approval.ts'
import type { Campaign } from '../../model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../../model/canonical-json.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { findSubject } from '../../model/experiment.ts'
import { isSamePoint, type Oid, type Point } from '../../model/ids.ts'
import {
  buildOrderSubject,
  EFFECT_JOBS,
  isReportingPurpose,
  type Order,
  type ReportingPurpose,
} from '../../model/order.ts'
import type { PairJob } from '../../model/pairs.ts'
import { aggregateSnapshot } from '../../model/report.ts'
import { findMeasuredLanding } from '../../plan/effects.ts'
import { isHoldoutInForce, isHoldoutUsedUp } from '../../plan/holdout.ts'
import { isExactResumption } from '../../plan/orders.ts'
import {
  buildPairedRule,
  buildPairsRule,
  buildPickRule,
  getEarlierJobs,
  getPickJobs,
} from '../../plan/paired-order.ts'
import { buildProbeRule } from '../../probes/probe-rule.ts'
import { readSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { compareTouchedLines } from '../observe/candidate-facts.ts'
import { findWrongProbe, getProbesVersion } from '../observe/probe-facts.ts'
import { computeTreeHarness } from '../observe/sync.ts'

/** Invariant 4: an order uses the spec, harness and incumbent in force when it was issued. */
export function findOrderGaps(campaign: Campaign, spec: Spec | null, order: Order): string[] {
  const gaps: string[] = []
  if (isReportingPurpose(order.purpose)) gaps.push(...findReportingGaps(campaign, order, order.purpose))
  else if (order.purpose === 'pick') gaps.push(...findPickGaps(campaign, order))
  else if (!isSamePoint(order.base, campaign.incumbent))
    gaps.push(`its base is ${order.base.commit}, the incumbent was ${campaign.incumbent.commit}`)
  gaps.push(...order.candidates.flatMap(({ label }) => findApprovalGaps(campaign, label)))
  if (order.purpose !== 'sync') gaps.push(...findOrderRulerGaps(campaign, order))
  if (!isExactResumption(campaign, order, buildOrderSubject(order)))
    gaps.push('it does not continue from the pairs of the lost order')
  const stop = spec === null ? 'the spec in force cannot be read' : findStopGap(campaign, spec, order)
  if (stop !== null) gaps.push(stop)
  return gaps
}

/** A candidate runs only after its packages are approved. */
function findApprovalGaps({ experiments, picks }: Campaign, label: string): string[] {
  const experiment = findSubject({ experiments, picks }, label)
  return experiment?.status === 'deferred'
    ? [`${label} was waiting for approval of ${describeAwaitedPackages(experiment)}`]
    : []
}

/** A sync brings its own spec and harness, which its own proof checks. */
function findOrderRulerGaps(campaign: Campaign, order: Order): string[] {
  const gaps: string[] = []
  if (order.spec_sha256 !== campaign.spec_sha256) {
    gaps.push(`its spec is ${order.spec_sha256.slice(0, 12)}, not ${campaign.spec_sha256.slice(0, 12)}`)
  }
  if (order.harness !== campaign.harness) {
    gaps.push(`its harness is ${order.harness.slice(0, 12)}, not ${campaign.harness.slice(0, 12)}`)
  }
  if (!isSamePoint(order.pin, campaign.pin))
    gaps.push(`its pin is ${order.pin.commit}, not ${campaign.pin.commit}`)
  return gaps
}

/** A looser stop rule would let a smaller gain pass, so it has to be the spec's own. */
function findStopGap(campaign: Campaign, spec: Spec, order: Order): string | null {
  const { purpose, stop } = order
  switch (purpose) {
    case 'calibration':
      return stop.rule === 'calibrate' || stop.rule === 'pairs'
        ? null
        : `it calibrates by the rule ${stop.rule}`
    case 'baseline':
    case 'sync':
      return stop.rule === 'alone' ? null : `a ${purpose} is measured alone, not by the rule ${stop.rule}`
    case 'effect':
    case 'progression':
    case 'regression':
      return findPairsGap(campaign, spec, stop)
    case 'experiment':
    case 'combination':
      if (stop.rule === 'alone') return findUnprovenGap(campaign, spec, order)
      return stop.rule === 'paired'
        ? findPairedGap(campaign, spec, order, stop)
        : findComparisonGap(campaign, spec, stop)
    case 'holdout':
      return findHoldoutRuleGap(campaign, spec, order)
    case 'pick':
      return findPickStopGap(campaign, spec, order)
    case 'probe':
      return findProbeGap(campaign, spec, order)
    case 'foreign':
    case 'revert':
      return stop.rule === 'pairs'
        ? findPairsGap(campaign, spec, stop)
        : findComparisonGap(campaign, spec, stop)
    default:
      return purpose satisfies never
  }
}

/** Measured alone, a change shows no gain: only updates that land without proof may be. */
function findUnprovenGap(campaign: Campaign, spec: Spec, { candidates }: Order): string | null {
  const isUnproven = candidates.every(({ label }) => {
    const experiment = campaign.experiments[label]
    return experiment !== undefined && isLandedUnproven(spec, experiment)
  })
  if (isUnproven && spec.measurement.stability === null) return null
  return 'it is measured alone, although it has to show a gain'
}

/** A rule that sees fewer gains, or other numbers to forge, would let a harness look guarded. */
function findProbeGap({ calibration, baseline }: Campaign, spec: Spec, order: Order): string | null {
  const { stop, probing } = order
  if (toCanonicalJson(stop) !== toCanonicalJson(buildProbeRule(spec, calibration)))
    return 'its rule is not the one for probes'
  const known = aggregateSnapshot(baseline?.snapshot ?? null)
  return toCanonicalJson(probing?.metrics ?? null) === toCanonicalJson(known)
    ? null
    : 'the numbers that its probes improve are not those of the base'
}

/** Invariant 4: probes are winnow's own changes of the base, on every machine the same. */
export async function findProbeTreeGaps(
  { repository }: CampaignContext,
  spec: Spec | null,
  event: LedgerEvent<'order-issued'>,
): Promise<string[]> {
  if (event.purpose !== 'probe' || spec === null || event.probing?.version !== getProbesVersion(spec))
    return []
  if (!(await repository.has(event.base.tree))) return []
  const label = await findWrongProbe(repository, spec, event)
  return label === null ? [] : [`${label}: its tree is not the change of the base that winnow makes`]
}

/** One use too many would allow a rejected candidate to retry until it passes. */
function findHoldoutRuleGap(campaign: Campaign, spec: Spec, { stop, candidates }: Order): string | null {
  if (stop.rule !== 'holdout') return `a holdout is measured by its own rule, not by the rule ${stop.rule}`
  if (!isHoldoutInForce({ campaign, spec }, stop)) return 'its holdout is not the one the spec asks for'
  if (candidates.length !== 1) return `a holdout tries one candidate, not ${candidates.length}`
  return isHoldoutUsedUp({ campaign, spec }, stop) ? 'its holdout was used up before' : null
}

function findPairsGap(campaign: Campaign, spec: Spec, stop: Order['stop']): string | null {
  if (toCanonicalJson(stop) === toCanonicalJson(buildPairsRule({ campaign, spec }))) return null
  return 'its pairs are not those the spec asks for'
}

/** Easier terms would keep unproven changes; left-out pairs would be a retry. */
function findPairedGap(campaign: Campaign, spec: Spec, order: Order, stop: PairedRule): string | null {
  if (spec.measurement.stability !== null || campaign.calibration?.noise == null)
    return 'it is judged by pairs, for which the campaign was not calibrated'
  const purpose = order.purpose === 'combination' ? 'combination' : 'experiment'
  const members = order.candidates.map(({ label, tree }) => {
    const touched = stop.terms[label]?.touched ?? null
    return { id: label, tree, purpose, touched } as const
  })
  const wanted = buildPairedRule({ campaign, spec, singleMachine: stop.single_machine }, members)
  if (toCanonicalJson(stop) !== toCanonicalJson(wanted)) return 'its terms are not those of the campaign'
  const mismatch = order.candidates.find(({ label, tree }) => {
    const experiment = campaign.experiments[label]
    const known = experiment ? getEarlierJobs(campaign, experiment, tree) : []
    return toCanonicalJson(order.earlier_jobs[label] ?? []) !== toCanonicalJson(known)
  })
  return mismatch ? `the pairs it carries of ${mismatch.label} are not those that were measured` : null
}

/** A pick is compared with the campaign's default branch tip only. */
function findPickGaps(campaign: Campaign, { base, candidates }: Order): string[] {
  const [candidate, ...more] = candidates
  if (candidate === undefined || more.length > 0) return ['an order for a pick measures one commit']
  const pick = campaign.picks[candidate.label]
  if (pick === undefined) return [`${candidate.label} is no change taken alone`]
  const gaps: string[] = []
  if (base.commit !== campaign.default_tip || base.commit !== pick.base)
    gaps.push(`its base is ${base.commit}, the default branch was at ${campaign.default_tip}`)
  if (candidate.head !== pick.head) gaps.push(`it measures ${candidate.head}, not ${pick.head ?? 'nothing'}`)
  return gaps
}

function findPickStopGap(campaign: Campaign, spec: Spec, order: Order): string | null {
  const { stop, base, candidates } = order
  if (stop.rule !== 'paired') return findComparisonGap(campaign, withFreshBase(spec), stop)
  const [candidate] = candidates
  const pick = candidate && campaign.picks[candidate.label]
  if (pick === undefined) return 'it measures no change taken alone'
  const trees = { base: base.tree, tree: candidate?.tree ?? '' }
  const wanted = buildPickRule({ campaign, spec, singleMachine: stop.single_machine }, pick, trees)
  if (toCanonicalJson(stop) !== toCanonicalJson(wanted)) return 'its terms are not those of the campaign'
  const earlier_jobs = order.earlier_jobs[pick.id] ?? []
  if (toCanonicalJson(earlier_jobs) === toCanonicalJson(getPickJobs(campaign, pick, trees))) return null
  return `the pairs it carries of ${pick.id} are not those that were measured`
}

/** Stored measurements are the incumbent's, so the default branch is measured again in the same order. */
function withFreshBase(spec: Spec): Spec {
  return { ...spec, measurement: { ...spec.measurement, baseline: 'fresh' } }
}

function findComparisonGap(campaign: Campaign, spec: Spec, stop: Order['stop']): string | null {
  const { stability, baseline, mode } = spec.measurement
  if (stability !== null) {
    if (stop.rule !== 'stability') return `it compares by the rule ${stop.rule}, the spec says stability`
    const stored = baseline === 'fresh' ? null : (campaign.baseline?.snapshot ?? 'none measured')
    if (toCanonicalJson(stop.baseline) === toCanonicalJson(stored)) return null
    return 'its baseline is not the one that was measured'
  }
  if (stop.rule !== 'once') return `it compares by the rule ${stop.rule}, the spec says once`
  if (!(campaign.calibration?.deterministic ?? mode === 'once'))
    return 'it takes the harness for deterministic, which was not shown'
  const wanted = spec.evidence.min_effect ?? 0
  if (stop.min_effect !== wanted) return `its min_effect is ${stop.min_effect}, the spec says ${wanted}`
  const same = stop.tolerance === campaign.calibration?.tolerance
  return same ? null : 'its tolerance is not the one that calibration found'
}

/** An effect compares the landing with its own base: any other base could inflate it. */
export function findReportingGaps(campaign: Campaign, order: Order, purpose: ReportingPurpose): string[] {
  const [candidate, ...more] = order.candidates
  if (candidate?.label !== 'incumbent' || more.length > 0)
    return [`an order for ${purpose} measures one commit`]
  const wanted = findMeasuredSpan(campaign, order, purpose)
  if (wanted === null) return [`it measures ${candidate.head}, which is no landing in force`]
  const { from, to, earlier_jobs } = wanted
  const gaps: string[] = []
  if (!isSamePoint(order.base, from)) gaps.push(`its base is ${order.base.commit}, not ${from.commit}`)
  if (!isSamePoint({ commit: candidate.head, tree: candidate.tree }, to))
    gaps.push(`it measures tree ${candidate.tree} of ${candidate.head}, not ${to.tree} of ${to.commit}`)
  if (!hasItsPart(order, purpose))
    gaps.push(`job ${order.part ?? 'without a number'} is none of its ${EFFECT_JOBS} jobs`)
  if (toCanonicalJson(order.earlier_jobs['incumbent'] ?? []) !== toCanonicalJson(earlier_jobs))
    gaps.push('the pairs it carries are not those that were measured')
  return gaps
}

/** Extra jobs would allow choosing the best of them. */
function hasItsPart({ part }: Order, purpose: ReportingPurpose): boolean {
  return purpose === 'progression' ? part !== undefined && part < EFFECT_JOBS : part === undefined
}

interface MeasuredSpan {
  from: Point
  to: Point
  earlier_jobs: readonly PairJob[]
}

function findMeasuredSpan(campaign: Campaign, order: Order, purpose: ReportingPurpose): MeasuredSpan | null {
  const { reference: from, incumbent: to } = campaign
  if (purpose === 'progression') return { from, to, earlier_jobs: [] }
  const landing = findMeasuredLanding(campaign, order)
  if (landing === null) return null
  const { base, commit, tree, watch } = landing
  if (purpose === 'regression') return { from: base, to, earlier_jobs: watch.jobs }
  return { from: base, to: { commit, tree }, earlier_jobs: [] }
}

/** Invariant 4: a campaign starts with the spec and harness of its start commit. */
export async function findStartGaps(
  context: CampaignContext,
  event: LedgerEvent<'campaign-started'>,
): Promise<string[]> {
  const { start, spec_path, spec_yaml } = event
  const absent = await listAbsentCommits(context, [start.commit])
  if (absent.length > 0) return absent
  const { tree } = await context.repository.commit(start.commit)
  if (tree !== start.tree) return [`the tree of ${start.commit} is ${tree}, not ${start.tree}`]
  if ((await readTreeFile(context.repository, tree, spec_path)) !== spec_yaml)
    return [`the spec is not ${spec_path} as ${start.commit} has it`]
  return findRulerGaps(context, event, spec_path, tree)
}

/** A spec from the default branch comes with a sync, whose proof checks the new tree. */
export async function findAmendmentGaps(
  context: CampaignContext,
  campaign: Campaign,
  event: LedgerEvent<'campaign-amended'>,
): Promise<string[]> {
  if (event.source === 'default-branch') return findSpecTextGaps(event, campaign.spec_path)
  return findRulerGaps(context, event, campaign.spec_path, campaign.pin.tree)
}

type RecordedRuler = { spec_yaml: string; spec_sha256: string; harness: string }

function findSpecTextGaps({ spec_yaml, spec_sha256 }: RecordedRuler, path: string): string[] {
  if (hashSha256(spec_yaml) !== spec_sha256)
    return [`the sha256 of its spec is ${hashSha256(spec_yaml)}, it says ${spec_sha256}`]
  return readSpec(spec_yaml, { file: path }) === null ? ['its spec cannot be read'] : []
}

async function findRulerGaps(
  context: CampaignContext,
  recorded: RecordedRuler,
  path: string,
  pinned: Oid,
): Promise<string[]> {
  const text = findSpecTextGaps(recorded, path)
  const parsed = readSpec(recorded.spec_yaml, { file: path })
  if (text.length > 0 || parsed === null) return text
  const harness = await computeTreeHarness(context.repository, parsed.spec, pinned)
  return harness === recorded.harness
    ? []
    : [`the harness of its commit is ${harness}, it says ${recorded.harness}`]
}

export async function listAbsentCommits(
  { repository }: CampaignContext,
  oids: readonly Oid[],
): Promise<string[]> {
  const gaps: string[] = []
  for (const oid of oids)
    if (!(await repository.has(oid))) gaps.push(`commit ${oid} is not in the repository`)
  return gaps
}

/** The touched lines decide how strictly variants are tested, so they are computed again. */
export async function findTouchedGaps(
  { repository }: CampaignContext,
  { base, candidates, stop }: LedgerEvent<'order-issued'>,
): Promise<string[]> {
  if (stop.rule !== 'paired') return []
  const gaps: string[] = []
  for (const { label, tree } of candidates) {
    const recorded = stop.terms[label]?.touched ?? null
    const here = (await repository.has(base.tree)) && (await repository.has(tree))
    if (recorded === null || !here) continue
    const found = await compareTouchedLines(repository, base.tree, tree)
    if (toCanonicalJson(found) !== toCanonicalJson(recorded))
      gaps.push(`${label} does not touch what it says`)
  }
  return gaps
}
