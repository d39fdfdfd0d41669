import { computeSignedDelta, listObjectives, type Objective } from '../decide/metrics.ts'
import { formatNumber } from '../decide/wording.ts'
import { listAwaitedPackages } from '../model/approval.ts'
import { type Campaign, findLanding, getIncumbentMetrics, isReverted } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { getOwnValue } from '../model/own-value.ts'
import { aggregateSnapshot, type Snapshot, toFinite } from '../model/report.ts'
import type { Outcome } from '../model/verdict.ts'
import { listOpenIdeas } from '../plan/backlog.ts'
import type { Spec } from '../spec/schema.ts'
import { type ChangedPath, formatLineCounts } from './diff-summary.ts'
import type { ExportedExperiment, Results } from './results.ts'

/** The outcome in ce-optimize's experiment log for each of winnow's. */
const CE_OUTCOMES = {
  kept: 'kept',
  runner_up_kept: 'runner_up_kept',
  revert_landed: 'kept',
  runner_up_dropped: 'runner_up_reverted',
  not_selected: 'not_selected',
  inconclusive: 'inconclusive',
  dropped: 'reverted',
  degenerate: 'degenerate',
  censored: 'censored',
  refused: 'reverted',
  error: 'error',
  timeout: 'timeout',
  withdrawn: 'reverted',
} as const satisfies Record<Outcome, string>

type CeOutcome = (typeof CE_OUTCOMES)[Outcome] | 'measured' | 'promising' | 'deferred_needs_approval'

interface LogInput {
  campaign: Campaign
  spec: Spec
  experiments: readonly ExportedExperiment[]
}

/** The campaign as an experiment log of ce-optimize. */
export function buildCeLog({ campaign, spec, experiments }: LogInput): Record<string, unknown> {
  const started = campaign.started_at ?? ''
  const baseline = campaign.origin?.snapshot ?? campaign.baseline?.snapshot ?? {}
  const logged = experiments.filter(each => isLogged(each))
  const kept = campaign.landings.findLast(({ reverted }) => reverted === null)
  const best = campaign.experiments[kept?.experiment ?? '']
  const now = Object.keys(getIncumbentMetrics(campaign)).length > 0
  return {
    spec: campaign.name,
    run_id: started.replaceAll(/[^0-9]/g, '').slice(0, 14),
    started_at: started,
    baseline: {
      timestamp: started,
      gates: baseline.gates ?? {},
      metrics: toAggregates(baseline),
      diagnostics: selectNamed(aggregateSnapshot(baseline), spec.metric.diagnostics),
      ...(spec.metric.judge === null ? {} : { judge: baseline.judge ?? {} }),
    },
    experiments: logged.map(each => buildLogEntry({ campaign, spec, experiments }, each)),
    best: {
      iteration: best?.number ?? 0,
      metrics: now ? getIncumbentMetrics(campaign) : aggregateSnapshot(baseline),
      total_judge_cost_usd: campaign.spent.usd_for['judge'] ?? 0,
    },
    hypothesis_backlog: listBacklog(campaign, spec, experiments),
  }
}

/** ce logs an experiment from its first measurement on, and when it waits for packages. */
function isLogged({ experiment, results }: ExportedExperiment): boolean {
  return experiment.status === 'ended' || experiment.status === 'deferred' || results.links.orders.length > 0
}

function toCeOutcome(campaign: Campaign, { experiment, results }: ExportedExperiment): CeOutcome {
  const { id, outcome, status } = experiment
  if (status === 'deferred') return 'deferred_needs_approval'
  if (status === 'landing') return 'measured'
  if (outcome !== null) return isReverted(campaign, id) ? 'reverted' : CE_OUTCOMES[outcome]
  if (status === 'not-proven') return 'inconclusive'
  return (results.effect?.value ?? 0) > 0 && results.gates.every(({ passed }) => passed !== false)
    ? 'promising'
    : 'measured'
}

function buildLogEntry(
  { campaign, spec, experiments }: LogInput,
  exported: ExportedExperiment,
): Record<string, unknown> {
  const { experiment, results, diff } = exported
  const outcome = toCeOutcome(campaign, exported)
  const gates = results.gates.filter(({ passed }) => passed !== null)
  const [primary] = listObjectives(spec.metric)
  const values = Object.fromEntries(
    Object.entries(results.metrics).map(([name, { candidate }]) => [name, candidate]),
  )
  const delta = computeDelta(results, primary)
  const winner = experiments.find(
    each => each.experiment.round === experiment.round && each.experiment.outcome === 'kept',
  )
  const isRunnerUp = outcome === 'runner_up_kept' || outcome === 'runner_up_reverted'
  const isFailure = outcome === 'error' || outcome === 'timeout'
  const landed =
    outcome === 'kept' || outcome === 'runner_up_kept' ? findLanding(campaign, experiment.id) : undefined
  const waits = listAwaitedPackages(experiment)
  return removeUndefined({
    iteration: experiment.number,
    batch: experiment.round ?? 0,
    hypothesis: experiment.hypothesis,
    category: experiment.category,
    outcome,
    changes: diff === null || diff.length === 0 ? undefined : diff.map(toChange),
    gates:
      gates.length === 0
        ? undefined
        : Object.fromEntries(gates.map(({ name, passed, value }) => [name, value ?? Number(passed)])),
    gates_passed: gates.length === 0 ? undefined : gates.every(({ passed }) => passed),
    metrics: Object.keys(values).length === 0 ? undefined : values,
    diagnostics:
      spec.metric.diagnostics.length === 0 ? undefined : selectNamed(values, spec.metric.diagnostics),
    judge: spec.metric.judge === null ? undefined : describeJudging(spec, values, results),
    primary_delta: delta === null ? undefined : `${delta >= 0 ? '+' : ''}${formatNumber(delta)}`,
    objective_results: buildObjectiveResults(spec, results),
    sample_count: countSamples(results, primary),
    next_measurement: outcome === 'promising' ? 'confirm' : 'none',
    learnings: isFailure ? (experiment.learnings ?? undefined) : (experiment.learnings ?? results.reason),
    commit: landed?.commit,
    deferred_reason:
      outcome === 'deferred_needs_approval'
        ? `waits for approval${waits.length === 0 ? '' : ` of ${waits.join(', ')}`}`
        : undefined,
    error_message: isFailure ? results.reason : undefined,
    merged_with: isRunnerUp ? winner?.experiment.number : undefined,
  })
}

function toChange({ path, added, deleted }: ChangedPath): { file: string; summary: string } {
  return { file: path, summary: formatLineCounts({ added, deleted }) }
}

function computeDelta({ metrics }: Results, { name, direction }: Objective): number | null {
  const [base, candidate] = [toFinite(metrics[name]?.base), toFinite(metrics[name]?.candidate)]
  return base === null || candidate === null ? null : computeSignedDelta(base, candidate, direction)
}

function countSamples({ metrics }: Results, { name }: Objective): number | undefined {
  const samples = getOwnValue(metrics, name)?.samples.candidate
  if (samples === undefined) return undefined
  return Array.isArray(samples) ? samples.length : samples.count
}

function buildObjectiveResults({ metric }: Spec, results: Results): Record<string, unknown> | undefined {
  const required = listObjectives(metric).filter(({ role }) => role === 'required')
  const entries = required.flatMap((objective): [string, unknown][] => {
    const delta = computeDelta(results, objective)
    if (delta === null) return []
    const { name } = objective
    const base = toFinite(results.metrics[name]?.base) ?? 0
    const lost = results.violated.includes(name)
    const verdict = results.improved.includes(name) ? 'improved' : lost ? 'regressed' : 'inconclusive'
    return [[name, { verdict, delta, relative: base === 0 ? null : delta / Math.abs(base) }]]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function describeJudging({ metric }: Spec, values: Record<string, unknown>, { cost }: Results) {
  const { primary, secondary } = metric.judge?.scoring ?? { primary: '', secondary: [] }
  return {
    ...selectNamed(
      values,
      [primary, ...secondary].map(name => ({ name })),
    ),
    judge_cost_usd: cost.judge_usd,
  }
}

/** Ideas in words, and experiments that nothing has measured yet. */
function listBacklog(campaign: Campaign, spec: Spec, experiments: readonly ExportedExperiment[]) {
  const unmeasured = experiments.filter(each => !isLogged(each)).map(({ experiment }) => experiment)
  const approved = new Set(spec.dependencies.approved)
  return [...unmeasured, ...listOpenIdeas(campaign)].map(
    ({
      hypothesis,
      category,
      priority,
      required_deps,
    }: Pick<Experiment, 'hypothesis' | 'category' | 'priority' | 'required_deps'>) => ({
      description: hypothesis,
      category,
      priority,
      dep_status: getDependencyStatus(required_deps, approved),
      required_deps,
    }),
  )
}

function getDependencyStatus(packages: readonly string[], approved: ReadonlySet<string>): string {
  if (packages.length === 0) return 'not_applicable'
  return packages.every(name => approved.has(name)) ? 'approved' : 'needs_approval'
}

function toAggregates(snapshot: Snapshot): Record<string, { aggregate: unknown; samples: unknown[] }> {
  const numbers = Object.entries(aggregateSnapshot({ metrics: snapshot.metrics ?? {} }))
  return Object.fromEntries(
    numbers.map(([name, aggregate]) => {
      const raw = snapshot.metrics?.[name]
      const samples = typeof raw === 'object' && raw !== null && 'samples' in raw ? raw.samples : null
      return [name, { aggregate, samples: Array.isArray(samples) ? samples : [aggregate] }]
    }),
  )
}

function selectNamed(
  values: Readonly<Record<string, unknown>>,
  names: readonly { name: string }[],
): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap(({ name }) => (Object.hasOwn(values, name) ? [[name, values[name]]] : [])),
  )
}

function removeUndefined(entry: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined))
}
