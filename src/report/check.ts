import { listObjectives } from '../decide/metrics.ts'
import { listTieBreakers } from '../decide/tie-breakers.ts'
import { formatCount, formatNumber } from '../decide/wording.ts'
import type { CampaignLocation } from '../spec/planned-features.ts'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric, isMetered, listUncappedSpenders } from '../spec/spec-facts.ts'
import { describeProxy } from './metrics.ts'
import {
  type ComparisonMode,
  describeCampaignTime,
  renderModelForecast,
  renderSuiteForecast,
  selectComparisonMode,
} from './check-effort.ts'
import { formatDollars, type HarnessTrial, renderTrial } from './check-trial.ts'

// Check

export interface CheckView {
  file: string
  campaign: string
  rules: Spec['rules']
  /** A spec in the work tree takes effect only after it is committed. */
  source: 'work tree' | 'default branch'
  scope: {
    mutable: number
    outside: number
    unmatched: string[]
    examples: { mutable: string[]; outside: string[] }
  }
  notes: string[]
  /** Valid keys that are not implemented yet. A run refuses them. */
  unsupported: string[]
  /** Unfinished places in the harness. A run refuses them. */
  unfinished: string[]
  warnings: string[]
  ideas: string[]
  dependencies: string
  forecast: string[]
  /** Metrics that can change a verdict. */
  metrics: ComparedMetric[]
  /** Null with --no-try, and where a run would refuse. */
  tried: HarnessTrial | null
}

/** Printed before the harness runs. */
export function renderCheck(view: CheckView): string[] {
  const { file, campaign, scope, rules } = view
  return [
    `${file} is valid: campaign ${campaign}, ${rules} defaults, read from the ${view.source}.`,
    `  scope: ${formatCount(scope.mutable, 'file')} may change${formatExamples(scope.mutable, scope.examples.mutable)}, ${scope.outside} may not${formatExamples(scope.outside, scope.examples.outside)}`,
    ...scope.unmatched.map(pattern => `  scope.mutable ${pattern} matches no file`),
    ...view.ideas.map(idea => `  ideas: ${idea}`),
    `  dependencies: ${view.dependencies}`,
    ...view.forecast.map(line => `  ${line}`),
    ...view.notes.map(note => `  note: ${note}`),
    ...view.warnings.map(warning => `  warning: ${warning}`),
    ...view.unsupported.map(sentence => `  not supported yet: ${sentence}`),
    ...view.unfinished.map(sentence => `  to do: ${sentence}`),
    ...renderBlockers(view),
  ]
}

function formatExamples(count: number, examples: readonly string[]): string {
  if (examples.length === 0) return ''
  return ` (${examples.join(', ')}${count > examples.length ? ', …' : ''})`
}

const NOT_TRIED_NOTE =
  'Nothing was run. Without --no-try, winnow runs setup, gates and harness on the default branch, and estimates noise, time and the smallest visible gain.'

export function renderCheckComparison(spec: Spec, { metrics, tried }: CheckView): string[] {
  const compared = renderComparedMetrics(spec, metrics)
  if (tried === null) {
    const note = isMetered(spec) ? describeMeteredCost(spec) : NOT_TRIED_NOTE
    return [...compared.map(line => `  ${line}`), note]
  }
  const isForecast = tried.prospects !== null || tried.judging !== undefined
  const time = isForecast ? [] : [describeCampaignTime(spec, tried.seconds)]
  const paid =
    tried.models === undefined ? renderSuiteForecast(spec, tried) : renderModelForecast(spec, tried)
  return [...compared, ...renderTrial(tried), ...paid, ...time].map(line => `  ${line}`)
}

export function isBlocked({ scope, unsupported, unfinished }: CheckView): boolean {
  return unsupported.length > 0 || unfinished.length > 0 || scope.mutable === 0
}

function renderBlockers(view: CheckView): string[] {
  const why = [
    ...(view.scope.mutable === 0 ? ['no committed file may change'] : []),
    ...(view.unsupported.length > 0 ? ['it uses features that are not built yet'] : []),
    ...(view.unfinished.length > 0 ? ['its harness measures a placeholder'] : []),
  ]
  return why.length === 0 ? [] : [`This spec cannot be run: ${why.join(', and ')}.`]
}

// Ideas

/** In the order of the spec. `patches`: the hypotheses in each folder. */
export function describeIdeaSources(
  spec: Spec,
  patches: ReadonlyMap<string, readonly string[]> = new Map(),
): string[] {
  const { branches, name } = spec
  return spec.propose.map(proposer => {
    switch (proposer.use) {
      case 'external':
        return `winnow propose, branches below ${branches.prefix}-exp/${name}/, pull requests against ${branches.prefix}/${name}`
      case 'patch':
        return `the patches in ${proposer.dir} of the default branch${describePatches(patches.get(proposer.dir))}`
      case 'command':
        return `the program ${proposer.command ?? proposer.preset ?? ''}`
      case 'sweep':
      case 'textgrad':
      case 'dispatch':
        return proposer.use
      default:
        return proposer satisfies never
    }
  })
}

const SHOWN_IDEAS = 4

function describePatches(hypotheses: readonly string[] | undefined): string {
  if (hypotheses === undefined) return ''
  if (hypotheses.length === 0) return ': none yet'
  const shown = hypotheses.slice(0, SHOWN_IDEAS).join('; ')
  const more = hypotheses.length > SHOWN_IDEAS ? '; …' : ''
  return `: ${formatCount(hypotheses.length, 'idea')} (${shown}${more})`
}

// Comparison

interface ComparedMetric {
  name: string
  role: 'primary' | 'required' | 'guardrail' | 'tie-breaker'
  direction: 'minimize' | 'maximize'
  compared: ComparisonMode
}

/** `deterministic`: the harness repeats exactly; null if it was not tried. */
export function listComparedMetrics(spec: Spec, deterministic: boolean | null): ComparedMetric[] {
  const compared = selectComparisonMode(spec, deterministic)
  const objectives = listObjectives(spec.metric).map(({ name, role, direction }, at) => ({
    name,
    role: at === 0 ? ('primary' as const) : role,
    direction,
    compared,
  }))
  const ties = listTieBreakers(spec.policy).map(tie => ({ ...tie, role: 'tie-breaker' as const, compared }))
  return [...objectives, ...ties]
}

export function renderComparedMetrics(spec: Spec, metrics: readonly ComparedMetric[]): string[] {
  const lines = metrics.map(({ name, role, direction, compared }) => {
    const better = direction === 'minimize' ? 'lower' : 'higher'
    return `compared: ${name} (${role}, ${better} is better), ${describeComparisonMode(spec, compared)}`
  })
  const proxy = describeProxy(spec)
  return [
    ...lines,
    ...(proxy === null ? [] : [proxy]),
    `smallest gain: ${describeSmallestGain(spec, metrics[0]?.compared ?? 'pairs')}`,
  ]
}

function describeComparisonMode({ measurement }: Spec, compared: ComparisonMode): string {
  switch (compared) {
    case 'once':
      return 'each idea runs once, a gain twice'
    case 'pairs':
      return 'in pairs of base and idea, until there is evidence'
    case 'once or pairs':
      return 'each idea run once if it repeats exactly, else in pairs of base and idea'
    case 'stored score': {
      const base = measurement.baseline === 'cached' ? 'a stored score' : 'runs of the base'
      return `${measurement.stability?.mode ?? 'stable'} runs compared with ${base}`
    }
    default:
      return compared satisfies never
  }
}

function describeSmallestGain(spec: Spec, compared: ComparisonMode): string {
  const { metric, measurement, evidence } = spec
  const { name } = metric.primary
  if (measurement.stability !== null) return describeStoredGain(name, measurement.stability)
  if (evidence.min_effect !== null && evidence.min_effect > 0) {
    const least = evidence.min_effect
    const isLinear = evidence.scale === 'linear'
    const text = isLinear ? `${formatNumber(least)} ${name}` : `${formatNumber(least * 100)} % of the base`
    return `${text} (${isJudgedMetric(spec) ? 'metric.judge.minimum_improvement' : 'evidence.min_effect'})`
  }
  const always = `any, where ${name} repeats exactly`
  const noisy = '2 % of the base (the default of evidence.min_effect)'
  if (compared === 'once') return always
  return compared === 'pairs' ? noisy : `${always}; else ${noisy}`
}

function describeStoredGain(
  name: string,
  { comparison, noise_threshold }: NonNullable<Spec['measurement']['stability']>,
): string {
  return comparison.method === 'absolute'
    ? `more than ${formatNumber(noise_threshold)} ${name} (noise_threshold)`
    : `more than ${formatNumber(comparison.relative_threshold * 100)} % of the base (relative_threshold)`
}

// Forecast

/** Forecasts a run from the spec alone, one line per subject. */
export function renderForecast(spec: Spec, where: CampaignLocation, hasUsers = false): string[] {
  return [
    ...describeGates(spec).map(text => `gate: ${text}`),
    `isolation: ${describeIsolation(spec, where, hasUsers)}`,
    `cost: this machine measures, so no runner is paid for; ${describeModelCap(spec)}; what programs spend that are asked for ideas is not counted`,
    `stops after: ${describeStopping(spec)}`,
    `merges into: ${spec.branches.prefix}/${spec.name}, and never into the default branch`,
  ]
}

/** Running the harness costs money, so a person has to say how much. */
function describeMeteredCost(spec: Spec): string {
  const { max_execution_cost_usd: each } = spec.measurement
  const models = spec.models.map(({ id }) => id).join(', ')
  const bound =
    each === null
      ? ''
      : ` One execution costs ${formatDollars(each)} at most (measurement.max_execution_cost_usd).`
  return `Nothing was run, because the harness asks models (${models}) and that costs money.${bound} winnow check --spend ${each ?? 0.5} runs it once, for ${formatDollars(each ?? 0.5)} at most, and estimates what a campaign costs.`
}

function describeModelCap(spec: Spec): string {
  const cap = spec.stopping.max_total_cost_usd
  if (cap !== null) return `models may cost ${formatNumber(cap)} USD in all (stopping.max_total_cost_usd)`
  const spenders = listUncappedSpenders(spec)
  const judgeCap = isJudgedMetric(spec) ? (spec.metric.judge?.max_total_cost_usd ?? null) : null
  if (spenders.length === 0)
    return judgeCap === null
      ? 'no model is asked'
      : `judging may cost ${formatDollars(judgeCap)} in all (metric.judge.max_total_cost_usd)`
  return `nothing caps what ${spenders.join(' and ')} may spend, so winnow run needs --allow-uncapped`
}

const NO_ISOLATION_NOTE =
  'experiment code runs with your rights and can read your home directory, and one idea can reach the files of another'

const OWN_USERS =
  'each side runs as its own user, which can read neither the other side nor your private files'

function describeIsolation({ measurement }: Spec, where: CampaignLocation, hasUsers: boolean): string {
  if (measurement.isolation === 'uid') return `uid; ${OWN_USERS}`
  if (measurement.isolation === 'auto' && hasUsers)
    return `uid where the commands work that way; ${OWN_USERS}`
  if (measurement.isolation !== 'auto' || where !== 'github') return `none; ${NO_ISOLATION_NOTE}`
  return `a user for each side in measuring jobs, where the commands work that way; here none: ${NO_ISOLATION_NOTE}`
}

function describeGates({ gates, metric }: Spec): string[] {
  const commands = gates.map(({ name, command, phase }) => `${name}: ${command} (${phase})`)
  const checks = metric.degenerate_gates.map(gate => {
    const why = gate.description === undefined ? '' : `, ${gate.description}`
    return `${gate.name} ${gate.check}${why}`
  })
  return [...commands, ...checks]
}

function describeStopping({ stopping }: Spec): string {
  const limits = [
    formatCount(stopping.max_iterations, 'experiment'),
    `${stopping.plateau} without a new incumbent`,
    ...(stopping.max_hours === null ? [] : [formatCount(stopping.max_hours, 'hour')]),
    ...(stopping.max_runner_minutes === null
      ? []
      : [formatCount(stopping.max_runner_minutes, 'runner minute')]),
    ...(stopping.max_failures === null ? [] : [`${stopping.max_failures} that crash or run out of time`]),
  ]
  return limits.join(', ')
}
