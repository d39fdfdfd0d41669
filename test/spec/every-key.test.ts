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
  'merge.on_merge': ['plan/restart.ts', 'merge.on_merge'],
  'merge.unisolated': ['plan/unisolated.ts', 'spec.merge'],
  description: ['propose/brief-task.ts'],
  advice: ['propose/brief-task.ts'],
  schedule: ['setup/github/schedule.ts'],
  max_runner_up_merges_per_batch: ['plan/round.ts'],
  'metric.primary.type': ['decide/objectives.ts', 'primary.type'],
  'metric.primary.name': ['decide/objectives.ts', 'primary.name'],
  'metric.primary.direction': ['decide/objectives.ts', 'primary.direction'],
  'metric.primary.target': ['decide/objectives.ts', 'primary.target'],
  'metric.degenerate_gates.name': ['decide/gates.ts', 'gate.name'],
  'metric.degenerate_gates.description': ['report/check-forecast.ts', 'gate.description'],
  'metric.degenerate_gates.check': ['decide/gates.ts', 'gate.check'],
  'metric.objectives.name': ['decide/objectives.ts', 'entry.name'],
  'metric.objectives.direction': ['decide/objectives.ts', 'entry.direction'],
  'metric.objectives.role': ['decide/objectives.ts', 'entry.role'],
  'metric.objectives.target': ['decide/objectives.ts', 'entry.target'],
  'metric.objectives.max_regression.type': ['decide/comparison.ts', '.type'],
  'metric.objectives.max_regression.value': ['decide/comparison.ts', '.value'],
  'metric.constraints.metric': ['decide/failures.ts', 'constraint.metric'],
  'metric.constraints.op': ['decide/gates.ts', 'constraint.op'],
  'metric.constraints.value': ['decide/gates.ts', 'constraint.value'],
  'metric.diagnostics.name': ['decide/readings.ts', 'diagnostic.name'],
  'measurement.command': ['measure/execute.ts'],
  'measurement.holdout.command': ['plan/holdout.ts', 'command,'],
  'measurement.holdout.source': ['engine/facts/holdout.ts', 'holdout.source'],
  'measurement.holdout.pairs': ['plan/holdout.ts', 'pairs,'],
  'measurement.holdout.margin': ['plan/holdout.ts', 'margin,'],
  'measurement.holdout.max_uses': ['plan/holdout.ts', 'max_uses'],
  'dependencies.min_release_age_days': ['decide/additions.ts'],
  'measurement.setup': ['measure/build.ts'],
  'measurement.setup_scope': ['measure/build.ts'],
  'measurement.timeout_seconds': ['plan/orders.ts', 'measurement.timeout_seconds'],
  'measurement.working_directory': ['measure/guarded-run.ts'],
  'measurement.output': ['measure/output/read-printed.ts'],
  'measurement.env': ['measure/measure.ts', 'measurement.env,'],
  'measurement.mode': ['plan/preparation.ts', 'measurement.mode'],
  'measurement.baseline': ['plan/preparation.ts', 'measurement.baseline'],
  'measurement.score.command': ['measure/score-run.ts'],
  'measurement.score.timeout_seconds': ['plan/orders.ts', 'score?.timeout_seconds'],
  'measurement.score.parse.format': ['measure/output/read-score.ts'],
  'measurement.score.parse.score_field': ['measure/output/read-score.ts'],
  'measurement.score.parse.metrics_field': ['measure/output/read-score.ts'],
  'measurement.env_file.path': ['measure/env-file.ts', '.path'],
  'measurement.env_file.keys': ['measure/env-file.ts', '.keys'],
  'measurement.stability.mode': ['decide/ladder.ts', 'stability.mode'],
  'measurement.stability.repeat_count': ['decide/ladder.ts'],
  'measurement.stability.aggregation': ['decide/stability.ts'],
  'measurement.stability.noise_threshold': ['decide/stability.ts'],
  'measurement.stability.comparison.method': ['decide/stability.ts', 'comparison.method'],
  'measurement.stability.comparison.relative_threshold': ['decide/stability.ts'],
  'measurement.stability.ladder.smoke_command': ['measure/execute.ts'],
  'measurement.stability.ladder.exploratory_pairs': ['decide/ladder.ts'],
  'measurement.stability.ladder.confirmation_repeats': ['decide/ladder.ts'],
  'measurement.stability.ladder.futility.worse_factor': ['decide/futility.ts'],
  'measurement.stability.ladder.futility.after_elapsed_seconds': ['decide/futility.ts'],
  'gates.name': ['measure/gate-run.ts', 'gate.name'],
  'gates.command': ['measure/gate-run.ts', 'gate.command'],
  'gates.phase': ['measure/gate-run.ts', 'phase'],
  'gates.timeout_seconds': ['measure/gate-run.ts', 'gate.timeout_seconds'],
  'evidence.min_effect': ['plan/orders.ts', 'evidence.min_effect'],
  'evidence.null_effect': ['spec/resolve-evidence.ts', 'evidence.null_effect'],
  'evidence.scale': ['spec/resolve-evidence.ts', 'evidence.scale'],
  'evidence.pairs_per_job': ['spec/resolve-evidence.ts', 'evidence.pairs_per_job'],
  'evidence.max_jobs': ['plan/paired-order.ts', 'evidence.max_jobs'],
  'evidence.alpha': ['plan/level.ts', 'control.alpha'],
  'evidence.screen': ['plan/paired-order.ts', 'evidence.screen'],
  'evidence.campaign_control': ['plan/level.ts', 'evidence.campaign_control'],
  'evidence.q': ['plan/level.ts', 'control.q'],
  'evidence.fresh_runners': ['plan/paired-order.ts', 'evidence.fresh_runners'],
  'scope.mutable': ['verbs/check.ts', 'scope.mutable'],
  'propose.use': ['engine/campaign-ideas.ts', 'proposer.use'],
  'propose.dir': ['engine/campaign-ideas.ts', 'proposer.dir'],
  'propose.command': ['propose/presets.ts', 'proposer.command'],
  'propose.preset': ['propose/presets.ts', 'proposer.preset'],
  'propose.name': ['propose/proposer-name.ts', 'proposer.name'],
  'propose.timeout_seconds': ['engine/ask-program.ts', 'proposer.timeout_seconds'],
  'limits.max_files': ['decide/scope-check.ts'],
  'limits.max_changed_lines': ['decide/scope-check.ts'],
  'limits.allowed_file_types': ['decide/scope-check.ts'],
  'limits.max_binary_bytes': ['decide/scope-check.ts'],
  'dependencies.approved': ['propose/brief-task.ts', 'dependencies.approved'],
  'dependencies.approval': ['plan/approvals.ts', 'dependencies.approval'],
  'dependencies.allow_scripts': ['decide/additions.ts'],
  'execution.mode': ['plan/rounds.ts', 'execution.mode'],
  'execution.max_concurrent': ['plan/rounds.ts'],
  'execution.max_attempts': ['plan/judgement.ts'],
  'execution.max_experiments_per_tick': ['plan/rounds.ts'],
  'parallel.port_strategy': ['measure/environment.ts'],
  'parallel.port_env_var': ['measure/environment.ts'],
  'parallel.port_base': ['measure/environment.ts'],
  'parallel.shared_files': ['measure/measure.ts'],
  'parallel.exclusive_resources': ['plan/rounds.ts'],
  'stopping.max_iterations': ['decide/stopping.ts'],
  'stopping.max_hours': ['decide/stopping.ts'],
  'stopping.plateau': ['decide/stopping.ts', 'stopping.plateau'],
  'stopping.target_reached': ['decide/stopping.ts', 'stopping.target_reached'],
  'stopping.max_runner_minutes': ['decide/stopping.ts'],
  'stopping.max_failures': ['decide/stopping.ts'],
  'policy.tie_breakers.lower': ['decide/tie-breakers.ts'],
  'policy.tie_breakers.higher': ['decide/tie-breakers.ts'],
  'merge.max_open_experiments': ['plan/intake.ts'],
  'merge.auto': ['plan/landing.ts', 'merge.auto'],
  'branches.prefix': ['verbs/known-campaigns.ts', 'branches.prefix'],
}

/** Read where specs are read, because what they say is gone or has another name afterwards. */
const READ_IN_SPEC: Record<string, string> = {
  winnow: 'parse.ts',
  name: 'parse.ts',
  constraints: 'normalise.ts',
  'scope.immutable': 'scope.ts',
  'stopping.max_wall_hours': 'normalise.ts',
  'stopping.plateau_iterations': 'normalise.ts',
}

/** One value is legal, which is how things are: there is nothing to read. */
const ONE_VALUE: Record<string, unknown> = {
  'measurement.output_format': 'xml',
  'metric.objectives.type': 'judge',
  'policy.keep_if': 'any',
  'policy.on_failure': 'keep',
}

type Change = Record<string, unknown>
const judge = { rubric: 'r', scoring: { primary: 'p' } }
const tasks = [{ name: 'a', args: [] }]

/** What is refused when it is asked for, and how it is asked for. A section is refused with all that is in it. */
const REFUSED: Record<string, Change> = {
  'measurement.network': { 'measurement.isolation': 'bwrap', 'measurement.network': 'off' },
  'measurement.isolation.': { 'measurement.isolation': { container: { image: 'x' } } },
  'measurement.suite.': { 'measurement.suite': { tasks, seeds: 12 } },
  'propose.parameters': { propose: [{ use: 'sweep', parameters: {} }] },
  'propose.model': { propose: [{ use: 'textgrad', model: 'x' }] },
  'propose.artifacts': { propose: [{ use: 'textgrad', artifacts: ['x'] }] },
  'propose.workflow': { propose: [{ use: 'dispatch', workflow: 'x' }] },
  'dependencies.approvers': { 'dependencies.approvers': 'admin' },
  'execution.backend': { 'execution.backend': 'remote' },
  'execution.runs_on': { 'execution.runs_on': 'x' },
  'execution.services': { 'execution.services': { db: {} } },
  'execution.codex_security': { 'execution.codex_security': 'yolo' },
  'stopping.max_total_cost_usd': { 'stopping.max_total_cost_usd': 1 },
  'search.stall_rounds': { 'search.stall_rounds': 1 },
  'search.ideate_every': { 'search.ideate_every': 1 },
  'search.ideate_stall': { 'search.ideate_stall': 1 },
  'search.skills': { 'search.skills': ['x'] },
  'search.frontier.': { 'search.frontier': 'argmax' },
  'search.controller.': { 'search.controller': {} },
  'artifacts.': { artifacts: [{ name: 'a', path: 'a' }] },
  'epochs.': { epochs: {} },
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
  'measurement.per_case': { 'measurement.per_case': true },
  'metric.judge.': { 'metric.judge': judge },
  'metric.loss.': { 'metric.loss': {} },
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
