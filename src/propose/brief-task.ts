import { isProgressByPairs, computeProgress } from '../decide/progress.ts'
import { formatProgress } from '../decide/progress-text.ts'
import { formatNumber } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { MetricValue, MetricValues } from '../model/report.ts'
import { aggregateSnapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { DEFAULT_EFFECT } from '../spec/resolve-evidence.ts'
import { toSafeLine, quoteCode } from './quoted-text.ts'

export type IncumbentMetrics = Readonly<MetricValues>

/** What is to be better, and by how much at least. */
export function renderBriefGoal(spec: Spec, campaign: Campaign): string[] {
  const { primary } = spec.metric
  const way = primary.direction === 'minimize' ? 'lower' : 'higher'
  const lines = [`- Make ${quoteName(primary.name)} ${way}: it decides.`]
  if (primary.target !== null) lines.push(`- Target: ${formatNumber(primary.target)}.`)
  const least = describeSmallestKeptGain(spec, campaign)
  if (least !== null) lines.push(least)
  lines.push(`- About it: ${toSafeLine(spec.description, 350)}`)
  const further = spec.metric.objectives.filter(({ role }) => role !== 'secondary')
  return [...lines, ...further.map(renderObjective)]
}

/** Which campaign this is, and how far it is. */
export function renderCampaignPosition(
  { name: campaign, stopping }: Spec,
  { next_number: next }: Campaign,
): string[] {
  const most = stopping.max_iterations === null ? '' : ` of at most ${stopping.max_iterations}`
  return [`- Campaign ${quoteName(campaign)}: this is for experiment ${next}${most}.`]
}

/** The smallest gain that the comparison rule keeps. */
function describeSmallestKeptGain(
  { measurement, metric, evidence }: Spec,
  { calibration }: Campaign,
): string | null {
  const primary = quoteName(metric.primary.name)
  const { stability } = measurement
  if (stability !== null) {
    const { method, relative_threshold: share } = stability.comparison
    return method === 'relative'
      ? `- Gains of up to ${formatShare(share)} are noise (comparison.relative_threshold).`
      : `- Gains of up to ${formatNumber(stability.noise_threshold)}, in the units of ${primary}, are noise (noise_threshold).`
  }
  const isShare = (calibration?.scale ?? (evidence.scale === 'linear' ? 'linear' : 'log')) === 'log'
  const deterministic = calibration?.deterministic ?? measurement.mode === 'once'
  const least = evidence.min_effect ?? (deterministic || !isShare ? 0 : DEFAULT_EFFECT)
  if (least === 0) return null
  const text = isShare ? formatShare(least) : `${formatNumber(least)}, in the units of ${primary},`
  return `- Gains below ${text} do not count (evidence.min_effect).`
}

function formatShare(share: number): string {
  return `${formatNumber(Number((share * 100).toPrecision(12)))} %`
}

function renderObjective(objective: Spec['metric']['objectives'][number]): string {
  const way = objective.direction === 'minimize' ? 'lower' : 'higher'
  return objective.role === 'guardrail'
    ? `- ${quoteName(objective.name)} must not get worse (${way} is better).`
    : `- ${quoteName(objective.name)} counts too: ${way} is better.`
}

/** Where the campaign started and where it is: only metrics the spec itself names. */
export function renderBriefMetrics(
  campaign: Campaign,
  spec: Spec,
  incumbentMetrics: IncumbentMetrics,
): string[] {
  const { primary, objectives, constraints } = spec.metric
  const named = [primary.name, ...objectives.map(one => one.name), ...constraints.map(one => one.metric)]
  const start = aggregateSnapshot(campaign.origin?.snapshot ?? null)
  // Two numbers of a noisy metric from different hours show no difference.
  const apart = isProgressByPairs(campaign, spec)
  const lines = [...new Set(named)].map(metric => {
    const now = Object.hasOwn(incumbentMetrics, metric) ? (incumbentMetrics[metric] ?? null) : null
    const before = apart ? '' : `${formatBriefValue(start[metric] ?? null)} at the start, `
    return `- ${quoteName(metric)}: ${before}${formatBriefValue(now)} now`
  })
  const progress = computeProgress(campaign, spec)
  return progress.is === 'nothing kept' ? lines : [...lines, `- Progress so far: ${formatProgress(progress)}`]
}

function formatBriefValue(value: MetricValue): string {
  if (typeof value === 'boolean') return String(value)
  return value === null || !Number.isFinite(value) ? 'not measured yet' : formatNumber(value)
}

export function renderBoundaries({ scope, limits }: Spec): string[] {
  const lines = ['- All that is not listed here, symbolic links, submodules and file modes stay as they are.']
  if (limits.max_files !== null) lines.push(`- At most ${limits.max_files} files.`)
  if (limits.max_changed_lines !== null) {
    lines.push(`- At most ${limits.max_changed_lines} added and removed lines.`)
  }
  if (limits.allowed_file_types.length > 0) {
    lines.push(
      `- Only files of type ${limits.allowed_file_types.map(type => quoteCode(type, 40)).join(', ')}.`,
    )
  }
  const mutable = scope.mutable.map(pattern => `- May change: ${quoteCode(pattern, 150)}`)
  return [...lines, ...mutable, ...scope.immutable.map(pattern => `- Never: ${quoteCode(pattern, 150)}`)]
}

/** What must hold or the result counts for nothing. */
export function renderBriefGates({ gates: commands, metric }: Spec): string[] {
  return [
    ...commands.map(gate => `- ${quoteName(gate.name)}: ${quoteCode(gate.command, 200)} exits with 0`),
    ...metric.degenerate_gates.map(gate => {
      const why = gate.description === undefined ? '' : ` (${toSafeLine(gate.description, 200)})`
      return `- ${quoteName(gate.name)} ${quoteCode(gate.check, 60)}${why}`
    }),
    ...metric.constraints.map(
      one => `- ${quoteName(one.metric)} ${quoteCode(`${one.op} ${String(one.value)}`, 60)}`,
    ),
  ]
}

export function renderAdvice(spec: Spec): string[] {
  return spec.advice.map(text => `- ${toSafeLine(text, 400)}`)
}

export function renderPackagePolicy({ dependencies }: Spec): string[] {
  const others = dependencies.approval === 'deny' ? 'are refused' : 'wait for a person to approve them'
  return [
    `- Other new packages ${others}; list what you need in required_deps.`,
    ...dependencies.approved.map(one => `- Approved: ${quoteCode(one, 100)}`),
  ]
}

function quoteName(text: string): string {
  return quoteCode(text, 100)
}
