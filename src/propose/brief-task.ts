import { isByPairs, progressOf } from '../decide/progress.ts'
import { progressText } from '../decide/progress-text.ts'
import { numberText } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { MetricValue, MetricValues } from '../model/report.ts'
import { snapshotMetrics } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { DEFAULT_EFFECT } from '../spec/resolve-evidence.ts'
import { oneLine, quoted } from './quoted-text.ts'

export type Metrics = Readonly<MetricValues>

/** What is to be better, and by how much at least. */
export function goal(spec: Spec, campaign: Campaign): string[] {
  const { primary } = spec.metric
  const way = primary.direction === 'minimize' ? 'lower' : 'higher'
  const lines = [`- Make ${name(primary.name)} ${way}: it decides.`]
  if (primary.target !== null) lines.push(`- Target: ${numberText(primary.target)}.`)
  const least = smallestGain(spec, campaign)
  if (least !== null) lines.push(least)
  lines.push(`- About it: ${oneLine(spec.description, 350)}`)
  const further = spec.metric.objectives.filter(({ role }) => role !== 'secondary')
  return [...lines, ...further.map(objectiveLine)]
}

/** Which campaign this is, and how far it is. */
export function whereInCampaign(
  { name: campaign, stopping }: Spec,
  { next_number: next }: Campaign,
): string[] {
  const most = stopping.max_iterations === null ? '' : ` of at most ${stopping.max_iterations}`
  return [`- Campaign ${name(campaign)}: this is for experiment ${next}${most}.`]
}

/** The smallest gain that the comparison rule keeps. */
function smallestGain({ measurement, metric, evidence }: Spec, { calibration }: Campaign): string | null {
  const primary = name(metric.primary.name)
  const { stability } = measurement
  if (stability !== null) {
    const { method, relative_threshold: share } = stability.comparison
    return method === 'relative'
      ? `- Gains of up to ${percentText(share)} are noise (comparison.relative_threshold).`
      : `- Gains of up to ${numberText(stability.noise_threshold)}, in the units of ${primary}, are noise (noise_threshold).`
  }
  const isShare = (calibration?.scale ?? (evidence.scale === 'linear' ? 'linear' : 'log')) === 'log'
  const deterministic = calibration?.deterministic ?? measurement.mode === 'once'
  const least = evidence.min_effect ?? (deterministic || !isShare ? 0 : DEFAULT_EFFECT)
  if (least === 0) return null
  const text = isShare ? percentText(least) : `${numberText(least)}, in the units of ${primary},`
  return `- Gains below ${text} do not count (evidence.min_effect).`
}

function percentText(share: number): string {
  return `${numberText(Number((share * 100).toPrecision(12)))} %`
}

function objectiveLine(objective: Spec['metric']['objectives'][number]): string {
  const way = objective.direction === 'minimize' ? 'lower' : 'higher'
  return objective.role === 'guardrail'
    ? `- ${name(objective.name)} must not get worse (${way} is better).`
    : `- ${name(objective.name)} counts too: ${way} is better.`
}

/** Where the campaign started and where it is: only metrics the spec itself names. */
export function numbers(campaign: Campaign, spec: Spec, incumbentMetrics: Metrics): string[] {
  const { primary, objectives, constraints } = spec.metric
  const named = [primary.name, ...objectives.map(one => one.name), ...constraints.map(one => one.metric)]
  const start = snapshotMetrics(campaign.origin?.snapshot ?? null)
  // Two numbers of a noisy metric from different hours show no difference.
  const apart = isByPairs(campaign, spec)
  const lines = [...new Set(named)].map(metric => {
    const now = Object.hasOwn(incumbentMetrics, metric) ? (incumbentMetrics[metric] ?? null) : null
    const before = apart ? '' : `${valueText(start[metric] ?? null)} at the start, `
    return `- ${name(metric)}: ${before}${valueText(now)} now`
  })
  const progress = progressOf(campaign, spec)
  return progress.is === 'nothing kept' ? lines : [...lines, `- Progress so far: ${progressText(progress)}`]
}

function valueText(value: MetricValue): string {
  if (typeof value === 'boolean') return String(value)
  return value === null || !Number.isFinite(value) ? 'not measured yet' : numberText(value)
}

export function boundaries({ scope, limits }: Spec): string[] {
  const lines = ['- All that is not listed here, symbolic links, submodules and file modes stay as they are.']
  if (limits.max_files !== null) lines.push(`- At most ${limits.max_files} files.`)
  if (limits.max_changed_lines !== null) {
    lines.push(`- At most ${limits.max_changed_lines} added and removed lines.`)
  }
  if (limits.allowed_file_types.length > 0) {
    lines.push(`- Only files of type ${limits.allowed_file_types.map(type => quoted(type, 40)).join(', ')}.`)
  }
  const mutable = scope.mutable.map(pattern => `- May change: ${quoted(pattern, 150)}`)
  return [...lines, ...mutable, ...scope.immutable.map(pattern => `- Never: ${quoted(pattern, 150)}`)]
}

/** What must hold or the result counts for nothing. */
export function gates({ gates: commands, metric }: Spec): string[] {
  return [
    ...commands.map(gate => `- ${name(gate.name)}: ${quoted(gate.command, 200)} exits with 0`),
    ...metric.degenerate_gates.map(gate => {
      const why = gate.description === undefined ? '' : ` (${oneLine(gate.description, 200)})`
      return `- ${name(gate.name)} ${quoted(gate.check, 60)}${why}`
    }),
    ...metric.constraints.map(one => `- ${name(one.metric)} ${quoted(`${one.op} ${String(one.value)}`, 60)}`),
  ]
}

export function advice(spec: Spec): string[] {
  return spec.advice.map(text => `- ${oneLine(text, 400)}`)
}

export function packages({ dependencies }: Spec): string[] {
  const others = dependencies.approval === 'deny' ? 'are refused' : 'wait for a person to approve them'
  return [
    `- Other new packages ${others}; list what you need in required_deps.`,
    ...dependencies.approved.map(one => `- Approved: ${quoted(one, 100)}`),
  ]
}

function name(text: string): string {
  return quoted(text, 100)
}
