import { describe, expect, it } from 'vitest'
import { RULES } from '../../src/spec/validate.ts'
import { problemsOf, changed, refusals } from './problems-of.ts'

const W = 'winnow-smallest.yaml'
const CE = 'ce-hard.yaml'
const JUDGE = 'ce-judge.yaml'
const SUITE = 'winnow-suite.yaml'
const HARD = { name: 'score', direction: 'maximize' }
const BOUND = { type: 'absolute', value: 0.1 }

type Case = [fixture: string, changes: Record<string, unknown>, refusal: string | undefined]

/** `name: path` each. */
function artifacts(...all: string[]): Record<string, unknown> {
  return {
    artifacts: all.map(each => {
      const [name, path] = each.split(': ')
      return { name, path }
    }),
  }
}

/** For each rule of the table: what it refuses, in the words a person reads, and what it lets pass. */
const cases: Record<string, Case[]> = {
  requireGate: [
    [W, { gates: [] }, 'gates: no gate'],
    [W, { gates: undefined }, 'gates: no gate'],
    [W, { gates: [], 'metric.degenerate_gates': [{ name: 'ok', check: '== true' }] }, undefined],
  ],
  requireCeMetricGate: [
    [CE, { 'metric.degenerate_gates': [] }, 'metric.degenerate_gates: no gate'],
    [
      CE,
      { 'metric.degenerate_gates': [], gates: [{ name: 't', command: 'x' }] },
      'metric.degenerate_gates: no gate',
    ],
  ],
  requireUniqueGateNames: [
    [
      W,
      {
        gates: [
          { name: 't', command: 'a' },
          { name: 't', command: 'b' },
        ],
      },
      'gates[1].name: "t"',
    ],
    [W, { 'metric.degenerate_gates': [{ name: 'tests', check: '>0' }] }, 'gates[0].name: "tests"'],
    [
      W,
      {
        gates: [
          { name: 't', command: 'a' },
          { name: 'u', command: 'a' },
        ],
      },
      undefined,
    ],
  ],
  checkSameAnswers: [
    [
      W,
      { 'metric.degenerate_gates': [{ name: 'wall_seconds', check: '== base' }] },
      'metric.degenerate_gates[0].check: "== base"',
    ],
    [W, { 'metric.degenerate_gates': [{ name: 'sum', check: '== base' }] }, undefined],
  ],
  checkCountedMetrics: [
    [
      W,
      { 'metric.objectives': [{ name: 'instructions', direction: 'minimize' }] },
      'metric.primary.name: instructions beside wall_seconds',
    ],
    [
      W,
      { 'metric.primary': { name: 'instructions' }, 'metric.diagnostics': [{ name: 'allocations' }] },
      'metric.primary.name: instructions, allocations',
    ],
    [
      W,
      { 'metric.primary': { name: 'allocations' }, 'metric.diagnostics': [{ name: 'allocated_bytes' }] },
      undefined,
    ],
  ],
  requireLegalMeasurement: [
    [JUDGE, { 'measurement.mode': 'once' }, 'measurement.mode: mode once with a judge metric'],
    [JUDGE, { 'measurement.mode': 'paired' }, undefined],
    [CE, { 'measurement.mode': 'paired' }, 'measurement.mode: mode paired together with stability'],
    [CE, { 'measurement.mode': 'once', 'measurement.stability': undefined }, undefined],
    [SUITE, { 'measurement.stability': {} }, 'measurement.stability: stability with a loss metric'],
    [SUITE, { 'measurement.mode': 'once' }, 'measurement.mode: mode once with a loss metric'],
    [W, { 'measurement.stability': { mode: 'ladder' } }, undefined],
    [
      W,
      { 'measurement.stability': {}, 'measurement.mode': 'once' },
      'measurement.mode: mode once together with stability',
    ],
  ],
  refuseTimedOnce: [
    [
      W,
      { 'measurement.mode': 'once' },
      'measurement.mode: once with wall_seconds, which is never deterministic',
    ],
    [
      W,
      {
        'measurement.mode': 'once',
        'metric.primary': { name: 'bytes', direction: 'minimize' },
        'metric.objectives': [{ name: 'max_rss_mb', direction: 'minimize', role: 'guardrail' }],
        'policy.tie_breakers': [{ lower: 'cpu_seconds' }],
      },
      'measurement.mode: once with max_rss_mb, cpu_seconds, which is never deterministic',
    ],
    [
      W,
      {
        'measurement.mode': 'once',
        'metric.primary': { name: 'bytes', direction: 'minimize' },
        'metric.objectives': [{ name: 'wall_seconds', direction: 'minimize', role: 'secondary' }],
        'metric.diagnostics': [{ name: 'cpu_seconds' }],
      },
      undefined,
    ],
  ],
  refuseScoredBenchmarks: [
    [
      W,
      { 'measurement.output': 'go', 'measurement.score': { command: 'x' } },
      'measurement.output: go beside a scorer',
    ],
    [W, { 'measurement.output': 'go' }, undefined],
    [W, { 'measurement.output': 'metric-lines', 'measurement.score': { command: 'x' } }, undefined],
  ],
  refuseScoreBesideJudge: [
    [
      JUDGE,
      { 'measurement.score': { command: 'x', parse: { score_field: 'points' } } },
      'measurement.score.parse.score_field: points',
    ],
    [
      JUDGE,
      { 'measurement.score': { command: 'x', parse: { format: 'metric-lines' } } },
      'measurement.score.parse.format: metric-lines',
    ],
    [JUDGE, { 'measurement.score': { command: 'x' } }, undefined],
  ],
  requireDirection: [
    [W, { 'metric.primary': { name: 'score' } }, 'metric.primary.direction: nothing'],
    [W, { 'metric.primary': { name: 'score', direction: 'maximize' } }, undefined],
    [W, { 'metric.primary': { name: 'wall_seconds' } }, undefined],
    [W, { 'metric.primary': { name: 'geomean_ns_per_op' }, 'measurement.output': 'go' }, undefined],
    [
      W,
      { 'metric.primary': { name: 'geomean_hz' }, 'measurement.output': 'vitest' },
      'metric.primary.direction: nothing',
    ],
  ],
  requireJudgeSection: [[JUDGE, { 'metric.judge': undefined }, 'metric.judge: nothing']],
  requireJudgedPrimary: [
    [JUDGE, { 'metric.primary.name': 'other' }, 'metric.primary.name: "other"'],
    [JUDGE, { 'metric.primary.name': 'coverage' }, undefined],
  ],
  requireScoreScale: [
    [
      JUDGE,
      { 'metric.judge.rubric': 'How good?' },
      'metric.judge.scoring.scale: no scale, or several, in the rubric',
    ],
    [
      JUDGE,
      { 'metric.judge.scoring.scale': { lowest: 5, highest: 1 } },
      'metric.judge.scoring.scale: 5 to 1',
    ],
    [
      JUDGE,
      { 'metric.judge.rubric': 'How good?', 'metric.judge.scoring.scale': { lowest: 0, highest: 1 } },
      undefined,
    ],
  ],
  refuseDuplicateJudgeKeys: [
    [JUDGE, { 'evidence.min_effect': 0.1 }, 'evidence.min_effect: 0.1'],
    [JUDGE, { 'evidence.pairs_per_job': 8 }, 'evidence.pairs_per_job: 8'],
    [JUDGE, { 'evidence.scale': 'linear' }, 'evidence.scale: "linear"'],
    [JUDGE, { 'evidence.max_jobs': 4 }, undefined],
  ],
  requireReachableImprovement: [
    [JUDGE, { 'metric.judge.minimum_improvement': 4 }, 'metric.judge.minimum_improvement: 4'],
    [JUDGE, { 'metric.judge.minimum_improvement': 3.9 }, undefined],
    [JUDGE, { 'metric.judge.minimum_improvement': 0 }, undefined],
    [
      JUDGE,
      { 'metric.judge.minimum_improvement': 0, 'measurement.mode': 'paired' },
      'metric.judge.minimum_improvement: 0',
    ],
  ],
  requireSingletonRubric: [
    [JUDGE, { 'metric.judge.singleton_sample': 3 }, 'metric.judge.singleton_sample: 3'],
    [JUDGE, { 'metric.judge.singleton_sample': 3, 'metric.judge.singleton_rubric': 'score it' }, undefined],
  ],
  refuseDecidingSingletons: [
    [
      JUDGE,
      { 'policy.tie_breakers': [{ lower: 'tokens' }, { higher: 'singleton_mean_score' }] },
      'policy.tie_breakers[1]: singleton_mean_score',
    ],
    [
      JUDGE,
      { 'metric.objectives': [{ name: 'singleton_mean_score', direction: 'maximize' }] },
      'metric.objectives[0].name: singleton_mean_score',
    ],
    [
      JUDGE,
      {
        'metric.objectives': [{ name: 'singleton_mean_score', direction: 'maximize', role: 'secondary' }],
        'policy.tie_breakers': [{ higher: 'coverage' }],
      },
      undefined,
    ],
  ],
  requireUniqueObjectives: [
    [
      CE,
      {
        'metric.objectives': [
          { name: 'x', direction: 'minimize' },
          { name: 'x', direction: 'maximize' },
        ],
      },
      'metric.objectives[1].name: "x"',
    ],
  ],
  refusePrintedBuiltIns: [
    [SUITE, { 'metric.primary.name': 'cpu_seconds' }, 'metric.primary.name: cpu_seconds'],
    [
      JUDGE,
      { 'metric.judge.scoring.secondary': ['wall_seconds'] },
      'metric.judge.scoring.secondary[0]: wall_seconds',
    ],
    [
      W,
      { 'measurement.score': { command: 's', parse: { metrics_field: 'max_rss_mb' } } },
      'measurement.score.parse.metrics_field: max_rss_mb',
    ],
    [
      W,
      { 'metric.primary': { name: 'max_rss_mb' }, 'metric.diagnostics': [{ name: 'wall_seconds' }] },
      undefined,
    ],
  ],
  refuseTimedScoreField: [
    [
      W,
      { 'measurement.score': { command: 's', parse: { score_field: 'points' } } },
      'measurement.score.parse.score_field: points, while the primary is wall_seconds',
    ],
  ],
  checkLadderRepeats: [
    [
      CE,
      {
        'measurement.stability': {
          mode: 'ladder',
          ladder: { exploratory_pairs: 3, confirmation_repeats: 2 },
        },
      },
      'measurement.stability.ladder.confirmation_repeats: 2',
    ],
    [
      CE,
      {
        'measurement.stability': {
          mode: 'ladder',
          ladder: { exploratory_pairs: 3, confirmation_repeats: 3 },
        },
      },
      undefined,
    ],
  ],
  requireSmallerNullEffect: [
    [W, { evidence: { min_effect: 0.02, null_effect: 0.02 } }, 'evidence.null_effect: 0.02'],
    [W, { evidence: { min_effect: 0, null_effect: 0 } }, undefined],
  ],
  checkShares: [
    [W, { 'evidence.min_effect': 5 }, 'evidence.min_effect: 5, which means 500 %'],
    [W, { 'evidence.min_effect': 5, 'evidence.scale': 'linear' }, undefined],
    [W, { 'evidence.min_effect': '5%', 'evidence.scale': 'linear' }, 'evidence.min_effect: "5%"'],
    [W, { 'evidence.min_effect': '500%' }, undefined],
  ],
  refuseContradictoryApproval: [
    [
      W,
      { 'merge.unisolated': 'deny', 'measurement.isolation': 'none' },
      'merge.unisolated: deny with measurement.isolation none',
    ],
    [W, { 'merge.unisolated': 'deny' }, undefined],
    [W, { 'merge.unisolated': 'deny', 'measurement.isolation': 'uid' }, undefined],
    [W, { 'measurement.isolation': 'none' }, undefined],
  ],
  requireEnforcedNetworkOff: [
    [W, { 'measurement.network': 'off' }, 'measurement.network: off with isolation auto'],
    [W, { 'measurement.network': 'off', 'measurement.isolation': 'bwrap' }, undefined],
  ],
  requireHoldoutSource: [
    [W, { 'measurement.holdout': { command: 'x', source: 'refs/holdout/a' } }, undefined],
    [W, { 'measurement.holdout': { command: 'x', source: 'private/held-back' } }, undefined],
    [W, { 'measurement.holdout': { command: 'x', source: 'HELD_BACK' } }, undefined],
    [W, { 'measurement.holdout': { command: 'x' } }, undefined],
    [
      W,
      { 'measurement.holdout': { command: 'x', source: '../data' } },
      'measurement.holdout.source: "../data"',
    ],
    [
      W,
      { 'measurement.holdout': { command: 'x', source: 'refs/*' } },
      'measurement.holdout.source: "refs/*"',
    ],
    [W, { 'measurement.holdout': { command: 'x', source: '--all' } }, 'measurement.holdout.source: "--all"'],
  ],
  requireHiddenHoldout: [
    [
      W,
      { 'measurement.holdout': { command: 'x', source: 'HELD_BACK' }, 'measurement.env': ['HELD_BACK'] },
      'measurement.holdout.source: HELD_BACK, which measurement.env or env_file lets every execution see',
    ],
    [
      W,
      { 'measurement.holdout': { command: 'x', source: 'HELD_BACK' }, 'measurement.env': ['OTHER'] },
      undefined,
    ],
  ],
  requireLossSuite: [[SUITE, { 'measurement.suite': undefined }, 'measurement.suite: nothing']],
  requireMinimizedLoss: [
    [SUITE, { 'metric.primary.direction': 'maximize' }, 'metric.primary.direction: maximize'],
  ],
  requireDecidableSuite: [
    [SUITE, { 'measurement.suite.seeds': 3 }, 'measurement.suite: 9 (task, seed) pairs'],
    [SUITE, { 'measurement.suite.seeds': 3, 'measurement.suite.advisory': true }, undefined],
  ],
  requireSuiteCommands: [
    [
      SUITE,
      { 'measurement.suite.tasks': [{ name: 'a' }], 'measurement.suite.seeds': 12 },
      'measurement.suite.tasks[0]: nothing to run',
    ],
    [
      SUITE,
      {
        'measurement.suite.tasks': [{ name: 'a', command: 'x', args: ['y'] }],
        'measurement.suite.seeds': 12,
      },
      'measurement.suite.tasks[0]: command and args',
    ],
  ],
  requireUniqueSuiteTasks: [
    [
      SUITE,
      {
        'measurement.suite.tasks': [
          { name: 'a', args: [] },
          { name: 'a', args: [] },
        ],
        'measurement.suite.seeds': 6,
      },
      'measurement.suite.tasks[1].name: "a"',
    ],
  ],
  requireSuitePairs: [
    [SUITE, { 'metric.primary': HARD, 'measurement.mode': 'once' }, 'measurement.mode: once with a suite'],
    [
      SUITE,
      { 'metric.primary': HARD, 'measurement.stability': {} },
      'measurement.stability: stability with a suite',
    ],
    [SUITE, { 'measurement.output': 'go' }, 'measurement.output: go with a suite'],
    [SUITE, { 'measurement.per_case': true }, 'measurement.per_case: true with a suite'],
    [SUITE, { 'metric.primary': HARD }, undefined],
  ],
  refusePairsPerJob: [[SUITE, { 'evidence.pairs_per_job': 4 }, 'evidence.pairs_per_job: 4']],
  requirePrintedTasks: [
    [W, { 'measurement.per_case': true }, 'measurement.per_case: true with wall_seconds'],
    [
      W,
      { 'measurement.per_case': true, 'metric.primary': HARD, 'measurement.output': 'metric-lines' },
      'measurement.per_case: true with output metric-lines',
    ],
    [W, { 'measurement.per_case': true, 'metric.primary': HARD }, undefined],
  ],
  requireComparableTasks: [
    [SUITE, { 'metric.max_task_regression.value': -1 }, 'metric.max_task_regression.value: -1'],
    [
      W,
      { 'metric.primary': HARD, 'metric.max_task_regression': BOUND },
      'metric.max_task_regression: pairs of whole executions',
    ],
    [
      W,
      { 'metric.primary': HARD, 'metric.max_task_regression': BOUND, 'measurement.per_case': true },
      undefined,
    ],
    [CE, { 'metric.max_task_regression': BOUND }, 'metric.max_task_regression: tasks and a stored score'],
    [CE, { 'metric.max_task_regression': BOUND, 'measurement.baseline': 'fresh' }, undefined],
  ],
  requireUniqueModels: [[W, { models: [{ id: 'a' }, { id: 'a' }] }, 'models[1].id: "a"']],
  requireMeteredModels: [
    [W, { 'measurement.models': 'metered' }, 'models: no model'],
    [W, { 'measurement.models': 'metered', models: [{ id: 'a' }] }, undefined],
    [
      W,
      { 'measurement.models': 'metered', models: [{ id: 'a' }], 'measurement.env': ['OPENAI_API_KEY'] },
      'measurement.env[0]: OPENAI_API_KEY',
    ],
    [
      W,
      { 'metric.primary': { name: 'model_cost_usd' } },
      'measurement.models: model_cost_usd, while winnow meters no models of the harness',
    ],
  ],
  checkScopePatterns: [
    [W, { 'scope.mutable': ['../up'] }, 'scope.mutable[0]: "../up": a path with ..'],
    [W, { 'scope.mutable': ['a/../b'] }, 'scope.mutable[0]: "a/../b": a path with ..'],
    [W, { 'scope.mutable': ['/etc'] }, 'scope.mutable[0]: "/etc": an absolute path'],
    [W, { 'scope.mutable': ['C:\\x'] }, 'scope.mutable[0]: "C:\\\\x": an absolute path'],
    [
      W,
      { 'scope.mutable': ['-rf'] },
      'scope.mutable[0]: "-rf": a leading -, which a command would take for an option',
    ],
    [W, { 'scope.mutable': ['src/', '!src/a'] }, 'scope.mutable[1]: "!src/a": a negation'],
    [W, { 'scope.mutable': [':^src'] }, 'scope.mutable[0]: ":^src": a negation'],
    [W, { 'scope.mutable': [':(icase)src'] }, 'scope.mutable[0]: ":(icase)src": pathspec magic'],
    [W, { 'scope.mutable': ['a\tb'] }, 'scope.mutable[0]: "a\\tb": a control character'],
    [W, { 'scope.immutable': ['../up'] }, 'scope.immutable[0]: "../up": a path with ..'],
    [W, { 'scope.mutable': ['.', './src', 'a..b', '**/*.ts'] }, undefined],
  ],
  requireReachableMutable: [
    [
      W,
      { 'scope.mutable': ['src/a/'], 'scope.immutable': ['src'] },
      'scope.mutable[0]: "src/a/", all of it inside immutable "src"',
    ],
    [
      W,
      { 'scope.mutable': ['.github/workflows/'] },
      'scope.mutable[0]: ".github/workflows/", all of it inside immutable ".github"',
    ],
    [
      W,
      { 'scope.mutable': ['a/.gitattributes'] },
      'scope.mutable[0]: "a/.gitattributes", all of it inside immutable "**/.gitattributes"',
    ],
    [W, { 'scope.mutable': ['src/'], 'scope.immutable': ['src/a', '*', 'srcs'] }, undefined],
  ],
  checkRepositoryPaths: [
    [
      W,
      { 'measurement.working_directory': '../other' },
      'measurement.working_directory: "../other": a path with ..',
    ],
    [W, { 'measurement.working_directory': '~/x' }, 'measurement.working_directory: "~/x": an absolute path'],
    [W, { 'measurement.working_directory': 'services/api' }, undefined],
    [W, { 'parallel.shared_files': ['/var/db'] }, 'parallel.shared_files[0]: "/var/db": an absolute path'],
    [W, { artifacts: [{ name: 'a', path: '../a' }] }, 'artifacts[0].path: "../a": a path with ..'],
    [
      W,
      { 'measurement.env_file': { path: '/etc/env', keys: ['A'] } },
      'measurement.env_file.path: "/etc/env": an absolute path',
    ],
    [W, { propose: [{ use: 'patch', dir: '../ideas' }] }, 'propose[0].dir: "../ideas": a path with ..'],
    [
      W,
      { propose: [{ use: 'external' }, { use: 'patch', dir: '/etc' }] },
      'propose[1].dir: "/etc": an absolute path',
    ],
    [W, { propose: [{ use: 'patch', dir: '.' }] }, undefined],
  ],
  refuseSharedHiddenPaths: [
    [
      JUDGE,
      {
        'metric.judge.hidden_reference_paths': ['data/key.json'],
        'parallel.shared_files': ['cache', './data/'],
      },
      'parallel.shared_files[1]: "./data/"',
    ],
    [
      JUDGE,
      { 'metric.judge.hidden_reference_paths': ['data'], 'parallel.shared_files': ['data/items.json'] },
      'parallel.shared_files[0]: "data/items.json"',
    ],
    [
      JUDGE,
      { 'metric.judge.hidden_reference_paths': ['/srv/key', '../key'], 'parallel.shared_files': ['key'] },
      undefined,
    ],
  ],
  checkEnvironmentNames: [
    [W, { 'measurement.env': ['A=1'] }, 'measurement.env[0]: "A=1": not a variable name'],
    [
      W,
      { 'measurement.env': ['WINNOW_SEED'] },
      'measurement.env[0]: "WINNOW_SEED": a name winnow sets itself',
    ],
    [
      W,
      { 'measurement.env': ['GITHUB_TOKEN'] },
      'measurement.env[0]: "GITHUB_TOKEN": a token of the forge, which the code under test must not see',
    ],
    [
      W,
      { 'measurement.env_file': { path: '.env', keys: ['a b'] } },
      'measurement.env_file.keys[0]: "a b": not a variable name',
    ],
    [W, { 'measurement.env': ['NODE_OPTIONS', '_x1'] }, undefined],
  ],
  requireUniqueEnvironmentNames: [
    [
      W,
      { 'measurement.env': ['A'], 'measurement.env_file': { path: '.env', keys: ['A'] } },
      'measurement.env_file.keys[0]: A',
    ],
  ],
  requirePortVariable: [
    [W, { 'parallel.port_env_var': 'MY-PORT' }, 'parallel.port_env_var: "MY-PORT"'],
    [W, { 'parallel.port_env_var': 'PORT' }, undefined],
  ],
  limitWorkTrees: [
    [CE, { execution: { max_concurrent: 7, backend: 'worktree' } }, 'execution.max_concurrent: 7'],
    [CE, { execution: { max_concurrent: 6, backend: 'worktree' } }, undefined],
    [W, { execution: { max_concurrent: 7, backend: 'worktree' } }, undefined],
  ],
  checkPortRange: [
    [W, { 'parallel.port_base': 65_000, 'execution.max_concurrent': 600 }, 'parallel.port_base: 65000'],
    [W, { 'parallel.port_base': 65_000 }, undefined],
  ],
  requireSinglePlateauKey: [
    [CE, { 'stopping.plateau': 5 }, 'stopping.plateau_iterations: plateau and plateau_iterations'],
  ],
  checkCommandProposers: [
    [W, { propose: [{ use: 'command' }] }, 'propose[0]: neither command nor preset'],
    [W, { propose: [{ use: 'command', command: 'x', preset: 'codex' }] }, 'propose[0]: command and preset'],
  ],
  requireUniqueArtifacts: [
    [W, artifacts('a: src/a', 'a: src/b'), 'artifacts[1].name: "a"'],
    [W, artifacts('a: src/a', 'b: src/a'), 'artifacts[1].path: src/a'],
  ],
  requireArtifactPaths: [
    [W, { artifacts: [{ name: 'a' }] }, 'artifacts[0].path: nothing'],
    [
      W,
      { artifacts: [{ name: 'worker_pitfalls' }], 'scope.mutable': ['prompts/worker_pitfalls.md'] },
      undefined,
    ],
  ],
  requireMutableArtifacts: [
    [W, artifacts('a: bench/rubric.md'), 'artifacts[0].path: bench/rubric.md'],
    [W, artifacts('a: .winnow/spec.yaml'), 'artifacts[0].path: .winnow/spec.yaml'],
    [W, artifacts('a: ./src/a'), undefined],
  ],
  refuseLearnedGrader: [
    [
      SUITE,
      { ...artifacts('critique_rubric: prompts/c.md'), propose: [{ use: 'textgrad' }] },
      'artifacts[0].name: critique_rubric',
    ],
    [
      SUITE,
      {
        ...artifacts('critique_rubric: prompts/c.md'),
        propose: [{ use: 'textgrad' }],
        'metric.loss.weights': { eval: 1 },
      },
      undefined,
    ],
  ],
  checkPins: [
    [W, { ...artifacts('a: src/a'), baseline_artifacts: { b: 0 } }, 'baseline_artifacts.b: "b"'],
    [W, { ...artifacts('a: src/a'), baseline_artifacts: { a: 2 } }, 'baseline_artifacts.a: 2'],
    [W, { ...artifacts('a: src/a'), baseline_artifacts: { a: 0 } }, undefined],
  ],
  checkTextGradients: [
    [W, { ...artifacts('a: src/a'), propose: [{ use: 'textgrad' }] }, 'propose[0]: textgrad'],
    [W, { epochs: {}, propose: [{ use: 'textgrad' }] }, 'propose[0]: textgrad'],
    [
      W,
      { ...artifacts('a: src/a'), epochs: {}, propose: [{ use: 'textgrad', artifacts: ['b'] }] },
      'propose[0].artifacts[0]: "b"',
    ],
    [
      W,
      {
        ...artifacts('a: src/a'),
        epochs: {},
        propose: [{ use: 'textgrad' }, { use: 'textgrad', model: 'x' }],
      },
      'propose[1]: a second textgrad',
    ],
    [
      W,
      { ...artifacts('a: src/a'), epochs: {}, propose: [{ use: 'textgrad', artifacts: ['a'] }] },
      undefined,
    ],
  ],
  checkBaselinePasses: [
    [W, { epochs: { compat: 'awp', baseline: 3 } }, 'epochs.baseline: 3'],
    [W, { epochs: { compat: 'awp' } }, undefined],
  ],
}

describe('the rules over several keys', () => {
  it('are all listed here', () => {
    expect(Object.keys(cases)).toEqual(RULES.map(rule => rule.name))
  })

  for (const [name, listed] of Object.entries(cases)) {
    it.each(listed)(`${name}: %s with %j`, (fixture, changes, refusal) => {
      expect(refusals(fixture, changes)).toEqual(refusal === undefined ? [] : [refusal])
    })
  }

  it('name the legal choices for a time that is to be measured once', () => {
    const [problem] = problemsOf(changed(W, { 'measurement.mode': 'once' }))
    expect(problem?.expected).toBe('for wall_seconds: mode auto or paired; or stability with any method')
  })

  it('name the legal choices when the measurement does not fit the metric', () => {
    const [problem] = problemsOf(changed(JUDGE, { 'measurement.mode': 'once' }))
    expect(problem?.expected).toContain('mode auto or paired (paired items); or stability')
  })
})
