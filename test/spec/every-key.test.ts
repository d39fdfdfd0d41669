import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listKnownKeys } from '../../src/spec/errors.ts'
import { listPlannedFeatures } from '../../src/spec/planned-features.ts'
import { changed, parsed, refusals } from './problems-of.ts'

const SRC = join(import.meta.dirname, '../../src')

/** Every leaf of the schema, both kinds of spec together; list indices left out. */
function leaves(): string[] {
  const mappings = [...listKnownKeys('winnow'), ...listKnownKeys('ce')]
  const sections = new Set(mappings.map(([path]) => path))
  const all = mappings.flatMap(([path, keys]) => [...keys].map(key => (path === '' ? key : `${path}.${key}`)))
  return [...new Set(all)].filter(path => !sections.has(path))
}

/** Who reads a key, outside the room that validates it, and the words in that file that do. */
const READ: Record<string, [file: string, words?: string]> = {
  'merge.on_merge': ['plan/stop.ts', 'merge.on_merge'],
  'merge.unisolated': ['plan/permissions.ts', 'spec.merge'],
  'merge.suspicious': ['plan/holds.ts', 'merge.suspicious'],
  'merge.forgeable': ['plan/holds.ts', 'merge.forgeable'],
  'merge.hold_above': ['plan/holds.ts', 'hold_above'],
  'ledger.sign': ['ledger/ledger-commit.ts', 'ledger.sign'],
  'merge.sometimes_slower': ['plan/paired-order.ts', 'merge.sometimes_slower'],
  'evidence.slow_runs': ['plan/paired-order.ts', 'evidence.slow_runs'],
  description: ['ideas/brief.ts'],
  advice: ['ideas/brief.ts'],
  schedule: ['init/workflows/workflow.ts'],
  max_runner_up_merges_per_batch: ['plan/round.ts'],
  'metric.primary.type': ['decide/metrics.ts', 'primary.type'],
  'metric.primary.name': ['decide/metrics.ts', 'primary.name'],
  'metric.primary.direction': ['decide/metrics.ts', 'primary.direction'],
  'metric.primary.target': ['decide/metrics.ts', 'primary.target'],
  'metric.degenerate_gates.name': ['decide/metrics.ts', 'gate.name'],
  'metric.degenerate_gates.description': ['report/check.ts', 'gate.description'],
  'metric.degenerate_gates.check': ['decide/metrics.ts', 'name, check'],
  'metric.objectives.name': ['decide/metrics.ts', 'entry.name'],
  'metric.objectives.direction': ['decide/metrics.ts', 'name, direction, role, target, max_regression'],
  'metric.objectives.role': ['decide/metrics.ts', 'entry.role'],
  'metric.objectives.target': ['decide/metrics.ts', 'role, target, max_regression'],
  'metric.objectives.max_regression.type': ['decide/ce/comparison.ts', '.type'],
  'metric.objectives.max_regression.value': ['decide/ce/comparison.ts', '.value'],
  'metric.max_task_regression.type': ['decide/paired/evaluate.ts', 'maxRegression?.type'],
  'metric.max_task_regression.value': ['decide/paired/evaluate.ts', 'maxRegression.value'],
  'measurement.suite.tasks.name': ['plan/orders.ts', 'name'],
  'measurement.suite.tasks.command': ['measure/suite-runs.ts', 'command: own'],
  'measurement.suite.tasks.args': ['measure/suite-runs.ts', 'args'],
  'measurement.suite.tasks.task': ['measure/suite-runs.ts', 'task: text'],
  'measurement.suite.tasks.workflow': ['measure/suite-runs.ts', 'workflow'],
  'measurement.suite.tasks.model': ['measure/suite-runs.ts', 'model'],
  'measurement.suite.tasks.worker_model': ['measure/suite-runs.ts', 'worker_model'],
  'measurement.suite.tasks.budget': ['measure/suite-runs.ts', 'budget'],
  'measurement.suite.tasks.weights': ['decide/loss.ts', 'task?.weights'],
  'measurement.suite.tasks.timeout_seconds': ['measure/execute.ts', 'task?.timeout_seconds'],
  'measurement.suite.seeds': ['plan/orders.ts', 'suite.seeds'],
  'metric.constraints.metric': ['decide/failures.ts', 'constraint.metric'],
  'metric.constraints.op': ['decide/metrics.ts', 'constraint.op'],
  'metric.constraints.value': ['decide/metrics.ts', 'constraint.value'],
  'metric.diagnostics.name': ['decide/metrics.ts', 'diagnostic.name'],
  'measurement.command': ['measure/execute.ts'],
  'measurement.holdout.command': ['plan/holdout.ts', 'command,'],
  'measurement.holdout.source': ['engine/observe/landing-facts.ts', 'holdout.source'],
  'measurement.holdout.pairs': ['plan/holdout.ts', 'pairs,'],
  'measurement.holdout.margin': ['plan/holdout.ts', 'margin,'],
  'measurement.holdout.max_uses': ['plan/holdout.ts', 'max_uses'],
  'dependencies.min_release_age_days': ['decide/packages.ts'],
  'measurement.setup': ['measure/build-and-gates.ts'],
  'measurement.setup_scope': ['measure/build-and-gates.ts'],
  'measurement.max_processes': ['measure/guarded-run.ts', 'max_processes'],
  'measurement.keep_checkpoint': ['measure/same-start.ts', 'keep_checkpoint'],
  'measurement.probes': ['plan/probes.ts', 'measurement.probes'],
  'measurement.timeout_seconds': ['plan/orders.ts', 'measurement.timeout_seconds'],
  'measurement.working_directory': ['measure/guarded-run.ts'],
  'measurement.output': ['measure/output/read-output.ts'],
  'measurement.env': ['measure/measure.ts', 'measurement.env,'],
  'measurement.mode': ['plan/preparation.ts', 'measurement.mode'],
  'measurement.baseline': ['plan/preparation.ts', 'measurement.baseline'],
  'measurement.score.command': ['measure/execute.ts'],
  'measurement.score.timeout_seconds': ['plan/orders.ts', 'score?.timeout_seconds'],
  'measurement.score.parse.format': ['measure/output/read-output.ts'],
  'measurement.score.parse.score_field': ['measure/output/read-output.ts'],
  'measurement.score.parse.metrics_field': ['measure/output/read-output.ts'],
  'measurement.env_file.path': ['measure/environment.ts', '.path'],
  'measurement.env_file.keys': ['measure/environment.ts', '.keys'],
  'measurement.stability.mode': ['decide/ce/stability.ts', 'stability.mode'],
  'measurement.stability.repeat_count': ['decide/ce/stability.ts'],
  'measurement.stability.aggregation': ['decide/ce/stability.ts'],
  'measurement.stability.noise_threshold': ['decide/ce/stability.ts'],
  'measurement.stability.comparison.method': ['decide/ce/stability.ts', 'comparison.method'],
  'measurement.stability.comparison.relative_threshold': ['decide/ce/stability.ts'],
  'measurement.stability.ladder.smoke_command': ['measure/execute.ts'],
  'measurement.stability.ladder.exploratory_pairs': ['decide/ce/stability.ts'],
  'measurement.stability.ladder.confirmation_repeats': ['decide/ce/stability.ts'],
  'measurement.stability.ladder.futility.worse_factor': ['decide/ce/stability.ts'],
  'measurement.stability.ladder.futility.after_elapsed_seconds': ['decide/ce/stability.ts'],
  'gates.name': ['measure/build-and-gates.ts', 'gate.name'],
  'gates.command': ['measure/build-and-gates.ts', 'gate.command'],
  'gates.phase': ['measure/build-and-gates.ts', 'phase'],
  'gates.timeout_seconds': ['measure/build-and-gates.ts', 'gate.timeout_seconds'],
  'evidence.min_effect': ['plan/orders.ts', 'evidence.min_effect'],
  'evidence.null_effect': ['spec/spec-facts.ts', 'evidence.null_effect'],
  'evidence.scale': ['spec/spec-facts.ts', 'evidence.scale'],
  'evidence.pairs_per_job': ['spec/spec-facts.ts', 'evidence.pairs_per_job'],
  'evidence.max_jobs': ['plan/paired-order.ts', 'evidence.max_jobs'],
  'evidence.alpha': ['plan/paired-order.ts', 'control.alpha'],
  'evidence.screen': ['plan/paired-order.ts', 'evidence.screen'],
  'evidence.campaign_control': ['plan/paired-order.ts', 'evidence.campaign_control'],
  'evidence.q': ['plan/paired-order.ts', 'control.q'],
  'evidence.fresh_runners': ['plan/paired-order.ts', 'evidence.fresh_runners'],
  'scope.mutable': ['cli/check.ts', 'scope.mutable'],
  'propose.use': ['engine/campaign/ideas.ts', 'proposer.use'],
  'propose.dir': ['engine/campaign/ideas.ts', 'proposer.dir'],
  'propose.command': ['ideas/proposers.ts', 'proposer.command'],
  'propose.preset': ['ideas/proposers.ts', 'proposer.preset'],
  'propose.name': ['ideas/proposers.ts', 'proposer.name'],
  'propose.timeout_seconds': ['engine/jobs/propose-job.ts', 'proposer.timeout_seconds'],
  'limits.max_files': ['decide/scope-check.ts'],
  'limits.max_changed_lines': ['decide/scope-check.ts'],
  'limits.allowed_file_types': ['decide/scope-check.ts'],
  'limits.max_binary_bytes': ['decide/scope-check.ts'],
  'dependencies.approved': ['ideas/brief.ts', 'dependencies.approved'],
  'dependencies.approval': ['plan/approvals.ts', 'dependencies.approval'],
  'dependencies.allow_scripts': ['decide/packages.ts'],
  'execution.mode': ['plan/round-orders.ts', 'execution.mode'],
  'execution.max_concurrent': ['plan/round-orders.ts'],
  'execution.max_attempts': ['plan/judgement.ts'],
  'execution.max_experiments_per_tick': ['plan/round-orders.ts'],
  'parallel.port_strategy': ['measure/environment.ts'],
  'parallel.port_env_var': ['measure/environment.ts'],
  'parallel.port_base': ['measure/environment.ts'],
  'parallel.shared_files': ['measure/measure.ts'],
  'parallel.exclusive_resources': ['plan/round-orders.ts'],
  'stopping.max_iterations': ['decide/stop-rules.ts'],
  'stopping.max_hours': ['decide/stop-rules.ts'],
  'stopping.plateau': ['decide/stop-rules.ts', 'stopping.plateau'],
  'stopping.target_reached': ['decide/stop-rules.ts', 'stopping.target_reached'],
  'stopping.max_runner_minutes': ['decide/stop-rules.ts'],
  'stopping.max_failures': ['decide/stop-rules.ts'],
  'stopping.max_total_cost_usd': ['plan/money.ts'],
  'measurement.models': ['plan/money.ts', 'isMetered'],
  'measurement.max_execution_cost_usd': ['judge/metered-models.ts', 'max_execution_cost_usd'],
  'models.id': ['judge/model-access.ts', 'id, price'],
  'models.price.input': ['judge/budget.ts', 'price?.input'],
  'models.price.output': ['judge/budget.ts', 'price?.output'],
  'policy.tie_breakers.lower': ['decide/tie-breakers.ts'],
  'policy.tie_breakers.higher': ['decide/tie-breakers.ts'],
  'merge.max_open_experiments': ['plan/intake.ts'],
  'merge.auto': ['plan/landing.ts', 'merge.auto'],
  'artifacts.name': ['engine/campaign/artifacts.ts', 'listArtifacts(spec)'],
  'artifacts.path': ['engine/campaign/artifacts.ts', 'listArtifacts(spec)'],
  'propose.model': ['engine/jobs/rewrite-job.ts', 'proposer.model'],
  'propose.artifacts': ['engine/jobs/rewrite-job.ts', 'proposer.artifacts'],
  'epochs.count': ['decide/epochs.ts', 'number >= count'],
  'epochs.baseline': ['decide/epochs.ts', 'epochs.baseline'],
  'epochs.learning_rate': ['decide/epochs.ts', 'rules.learning_rate'],
  'epochs.rollback_on_regression': ['decide/epochs.ts', 'rules.rollback_on_regression'],
  'epochs.recover': ['decide/epochs.ts', 'rules.recover'],
  'epochs.compat': ['decide/epochs.ts', 'rules.compat'],
  'branches.prefix': ['cli/known-campaigns.ts', 'branches.prefix'],
}

/** Read where specs are read, because what they say is gone or has another name afterwards. */
const READ_IN_SPEC: Record<string, string> = {
  winnow: 'load.ts',
  name: 'load.ts',
  constraints: 'load.ts',
  'measurement.suite.advisory': 'load.ts',
  'scope.immutable': 'scope.ts',
  'stopping.max_wall_hours': 'load.ts',
  'stopping.plateau_iterations': 'load.ts',
}

/** One value is legal, which is how things are: there is nothing to read. */
const ONE_VALUE: Record<string, unknown> = {
  'measurement.output_format': 'xml',
  'metric.objectives.type': 'judge',
  'policy.keep_if': 'any',
  'policy.on_failure': 'keep',
  baseline_artifacts: { x: 1 },
}

type Change = Record<string, unknown>
const judge = { rubric: 'r', scoring: { primary: 'p' } }

/** What is refused when it is asked for, and how it is asked for. A section is refused with all that is in it. */
const REFUSED: Record<string, Change> = {
  'measurement.network': { 'measurement.isolation': 'bwrap', 'measurement.network': 'off' },
  'measurement.isolation.': { 'measurement.isolation': { container: { image: 'x' } } },
  'propose.parameters': { propose: [{ use: 'sweep', parameters: {} }] },
  'propose.workflow': { propose: [{ use: 'dispatch', workflow: 'x' }] },
  'dependencies.approvers': { 'dependencies.approvers': 'admin' },
  'execution.backend': { 'execution.backend': 'remote' },
  'execution.runs_on': { 'execution.runs_on': 'x' },
  'execution.services': { 'execution.services': { db: {} } },
  'execution.codex_security': { 'execution.codex_security': 'yolo' },
  'execution.sanctioned_env': { 'execution.sanctioned_env': ['X'] },
  'search.stall_rounds': { 'search.stall_rounds': 1 },
  'search.ideate_every': { 'search.ideate_every': 1 },
  'search.ideate_stall': { 'search.ideate_stall': 1 },
  'search.skills': { 'search.skills': ['x'] },
  'search.frontier.': { 'search.frontier': 'argmax' },
  'search.controller.': { 'search.controller': {} },
  'merge.via': { 'merge.via': 'api' },
  'merge.max_pull_requests_per_hour': { 'merge.max_pull_requests_per_hour': 1 },
  'report.comment': { 'report.comment': 'never' },
  'report.dashboard': { 'report.dashboard': false },
  'report.pages_branch': { 'report.pages_branch': 'x' },
  'report.webhook': { 'report.webhook': 'https://example.com' },
}

/** Accepted and not used, which is said. */
const NOTED: Record<string, Change> = {
  'metric.primary.baseline': { 'metric.primary.baseline': 1 },
  'metric.judge.': { 'metric.judge': judge },
  'metric.loss.': { 'metric.loss': {} },
  'measurement.per_case': { 'measurement.per_case': true, 'measurement.stability': {} },
}

function spec(changes: Change): string {
  return changed('winnow-deterministic.yaml', { 'measurement.mode': undefined, ...changes })
}

/** The entry that is about a leaf: its own, or the section it lies in. */
function entryOf(leaf: string, table: object): string | undefined {
  return Object.keys(table).find(key => key === leaf || (key.endsWith('.') && leaf.startsWith(key)))
}

const TABLES = { READ, READ_IN_SPEC, ONE_VALUE, REFUSED, NOTED }

describe('every key of the spec', () => {
  it.each(leaves())('%s is read, refused or noted, and nothing else', leaf => {
    const homes = Object.entries(TABLES).filter(([, table]) => entryOf(leaf, table) !== undefined)
    expect(homes.map(([name]) => name)).toHaveLength(1)
  })

  it('is a key that there is', () => {
    const all = leaves()
    const stray = Object.values(TABLES)
      .flatMap(table => Object.keys(table))
      .filter(entry => !all.some(leaf => leaf === entry || (entry.endsWith('.') && leaf.startsWith(entry))))
    expect(stray).toEqual([])
  })

  it.each(Object.entries(READ))('%s is read by %j', (leaf, [file, words]) => {
    expect(readFileSync(join(SRC, file), 'utf8').includes(words ?? lastOf(leaf))).toBe(true)
  })

  it.each(Object.entries(READ_IN_SPEC))('%s is read by %s, where specs are read', (leaf, file) => {
    expect(readFileSync(join(SRC, 'spec', file), 'utf8').includes(lastOf(leaf))).toBe(true)
  })

  it.each(Object.entries(ONE_VALUE))('%s has one legal value', (leaf, another) => {
    const changes = leaf.startsWith('metric.objectives')
      ? { 'metric.objectives': [{ name: 'x', direction: 'minimize', type: another }] }
      : { [leaf]: another }
    expect(refusals('winnow-deterministic.yaml', changes)).toHaveLength(1)
  })

  it.each(Object.entries(REFUSED))('%s is refused when it is asked for', (entry, changes) => {
    const section = entry
      .split('.', 2)
      .filter(part => part !== '')
      .join('.')
    const named = section.startsWith('propose') ? 'propose' : section
    expect(listPlannedFeatures(parsed(spec({})).spec)).toEqual([])
    expect(listPlannedFeatures(parsed(spec(changes)).spec)).toContainEqual(expect.stringMatching(`^${named}`))
  })

  it.each(Object.entries(NOTED))('%s is accepted, and said to change nothing', (entry, changes) => {
    const { spec: accepted, notes } = parsed(spec(changes))
    expect(listPlannedFeatures(accepted)).toEqual([])
    expect(notes).toContainEqual(
      expect.stringMatching(`^${entry.replace(/\.$/, '')} is (?:ignored|accepted)`),
    )
  })
})

function lastOf(path: string): string {
  return path.split('.').at(-1) ?? path
}
