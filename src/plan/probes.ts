import { computePrimaryGain } from '../decide/assess.ts'
import { formatCount, formatRounded } from '../decide/wording.ts'
import type { HarnessProbes } from '../model/campaign.ts'
import type { OrderId } from '../model/ids.ts'
import { findFailedPart, formatRunnerError, type Report, toFinite } from '../model/report.ts'
import { buildProbeRule } from '../probes/probe-rule.ts'
import { findIgnoringCommands, readProbes } from '../probes/read-probes.ts'
import { hasTextProbes } from '../probes/text-probes.ts'
import type { Spec } from '../spec/schema.ts'
import { countSampleItems, isJudgedMetric, isMetered } from '../spec/spec-facts.ts'
import { pauseCampaignOnce, type PlanStep } from './action.ts'
import { takeShare } from './money.ts'
import {
  type AnsweredOrder,
  type ComparingFacts,
  findCampaignOrder,
  type OrderRequest,
  planNextAttempt,
  selectComparison,
  type UnansweredOrder,
} from './orders.ts'
import type { IncomingReports } from './reports.ts'
import type { ProbeFacts, World } from './world.ts'

export interface ProbePlan {
  steps: PlanStep[]
  requests: OrderRequest[]
  /** The harness passes without the files that ideas change; the steps pause the campaign. */
  hopeless: boolean
}

const NO_PROBES: ProbePlan = { steps: [], requests: [], hopeless: false }

/** Attacks the harness once the base is known. Ideas are measured meanwhile, but none of them lands. */
export function planProbes(world: World, incoming: IncomingReports): ProbePlan {
  const { campaign } = world
  if (campaign.probes !== null || (!hasProbeOrder(world) && !isProbingDue(world))) return NO_PROBES
  const { incumbent: base } = campaign
  const order = findCampaignOrder(world, incoming, { purpose: 'probe', base, candidates: [] })
  if (order.is === 'answered') return readAnswer(world, order)
  if (order.is === 'given up') return giveUp(world, null, order.reason)
  return requestProbes(world, order, world.probes)
}

/** The harness is to be probed, and that is not done. Depends on the ledger alone, so that replay can repeat it. */
export function isProbePending({ campaign, spec }: Pick<World, 'campaign' | 'spec'>): boolean {
  return spec.measurement.probes === 'on' && campaign.probes === null
}

/** Probes are built from the base's files and numbers. */
export function isProbingDue(world: ComparingFacts & Pick<World, 'campaign' | 'spec'>): boolean {
  return (
    isProbePending(world) &&
    !hasProbeOrder(world) &&
    world.campaign.baseline !== null &&
    selectComparison(world) !== null
  )
}

export function hasProbeOrder({ campaign }: Pick<World, 'campaign'>): boolean {
  return Object.values(campaign.orders).some(({ order }) => order.purpose === 'probe')
}

function requestProbes(world: World, order: UnansweredOrder, probes: ProbeFacts | null): ProbePlan {
  const { campaign, spec } = world
  if (order.is !== 'wanted' || probes === null) return NO_PROBES
  if ('none' in probes) return giveUp(world, null, probes.none)
  const { candidates, probing } = probes
  const tooDear = explainTooDear(world, candidates.length + 1)
  if (tooDear !== null) return giveUp(world, null, tooDear)
  const { attempt, interrupted } = order
  const facts = { round: 0, attempt, interrupted, cause: campaign.started, candidates, probing }
  return {
    ...NO_PROBES,
    requests: [{ ...facts, purpose: 'probe', stop: buildProbeRule(spec, campaign.calibration) }],
  }
}

const TOTAL_CAP = 'stopping.max_total_cost_usd'

/** Probes that ask models get as much money as any other order, and none of them is begun with less. */
function explainTooDear({ spec, campaign: { spent } }: World, sides: number): string | null {
  const { judge } = isJudgedMetric(spec) ? spec.metric : { judge: null }
  if (judge === null && !isMetered(spec)) return null
  const judging = spent.usd_for['judge'] ?? 0
  const caps = [
    { key: TOTAL_CAP, cap: spec.stopping.max_total_cost_usd, used: spent.usd },
    { key: 'metric.judge.max_total_cost_usd', cap: judge?.max_total_cost_usd ?? null, used: judging },
  ].flatMap(({ key, cap, used }) => (cap === null ? [] : [{ key, left: cap - used }]))
  const [least] = caps.toSorted((a, b) => a.left - b.left)
  if (least === undefined) return null
  // In pairs of items, an execution of a report is one item.
  const sample = judge === null ? 1 : countSampleItems(judge)
  const each = spec.measurement.stability === null ? sample : 1
  const cost = (sides * each * (judging + (spent.usd_for['measure'] ?? 0))) / Math.max(1, spent.executions)
  const share = takeShare(least.left)
  if (cost <= share) return null
  const what =
    judge === null
      ? `${sides} executions of the harness`
      : `${sides} samples of ${formatCount(sample, 'item')}`
  return `${what} cost about ${formatRounded(cost, 2)} USD, and of the money that is left probes may spend ${formatRounded(Math.max(0, share), 2)} USD (a quarter; ${least.key})`
}

// Reading the answer

function readAnswer(world: World, answered: AnsweredOrder): ProbePlan {
  const { order, report, event } = answered
  const { judging, runner_error } = report
  // Another order would ask for every score again.
  if (judging !== undefined && runner_error !== null)
    return giveUp(world, answered, `${runner_error} (a quarter of what was left)`)
  const failure = describeFailure(report)
  if (failure !== null) {
    const next = planNextAttempt(world, order.attempt, failure)
    if (next.is === 'given up') return giveUp(world, answered, next.reason)
    // Observations build no probes while an order has them.
    const { candidates, probing } = order
    return requestProbes(world, next, probing === undefined ? null : { candidates, probing })
  }
  const results = readProbes(world.spec, order, report)
  const ignored = findIgnoringCommands(world.spec, results)
  const input = { spec: world.spec, order, report, label: 'probe-vanish', baseline: null } as const
  const found: HarnessProbes = {
    harness: order.harness,
    order: order.id,
    results,
    ignored_by: ignored,
    // A better text may gain more than an empty one.
    vanish_gain: hasTextProbes(world.spec) ? null : toFinite(computePrimaryGain(input)),
    not_probed: null,
  }
  const probed = buildProbedStep(found, event)
  if (ignored === null) return { ...NO_PROBES, steps: [probed] }
  const pause = pauseCampaignOnce(world, describeUnusedFiles(world.spec, ignored))
  return { ...NO_PROBES, steps: [probed, ...pause], hopeless: true }
}

/** Where the base fails, or the machine, a failing probe shows nothing. */
function describeFailure(report: Report): string | null {
  const { runner_error, tampered } = report
  if (runner_error !== null) return formatRunnerError(runner_error)
  if (tampered !== null) return `${tampered.during} changed ${tampered.path} while the probes were measured`
  const failed = findFailedPart(report, 'base')
  if (failed !== null) return `${failed.what} failed on the base while the probes were measured`
  // A task of a loss that failed was measured: it has the worst loss. An item without a score leaves none.
  const run = report.executions.find(({ side, error }) => side === 'base' && error)
  if (run === undefined) return null
  const what = run.task === undefined ? run.error : `task ${run.task} failed`
  return `${what} on the base while the probes were measured`
}

const NO_RESULT = { ignored_by: null, vanish_gain: null } as const

/** Missing results are never good: the harness counts as forgeable until a person resumes or amends. */
function giveUp(world: World, answered: AnsweredOrder | null, reason: string): ProbePlan {
  const { campaign } = world
  const order: OrderId | null = answered?.order.id ?? null
  const found = { harness: campaign.harness, order, results: [], ...NO_RESULT, not_probed: reason }
  return {
    ...NO_PROBES,
    steps: [buildProbedStep(found, answered?.event ?? `not probed at ${campaign.seq}`)],
  }
}

function buildProbedStep(found: HarnessProbes, cause: string): PlanStep {
  return { step: 'event', draft: { kind: 'probed', cause, ...found } }
}

/** As with a base that fails, no number of such a harness says anything about an idea. */
function describeUnusedFiles({ scope }: Spec, commands: readonly string[]): string {
  const files = `the files in scope.mutable (${scope.mutable.join(', ')})`
  const what =
    commands.length === 1
      ? `this command succeeds and measures the same without ${files}, so it does not use those files`
      : `these commands pass and measure the same without ${files}, so they do not use those files`
  return [
    `${what}: ${commands.join('; ')}.`,
    'A path may be wrong, an installed copy of the project may be used, or the scope may miss the code. Correct the command or the spec (winnow check shows the probes), then run winnow amend and winnow resume',
  ].join('\n')
}
