import type { SpecFinding, SpecPath } from './errors.ts'
import { MANY_WORK_TREES } from './notes.ts'
import { getGivenValue, reportFinding, type RuleContext, type SpecRule } from './rule-context.ts'
import {
  ALWAYS_IMMUTABLE,
  compileHiddenPathTest,
  compilePathspec,
  explainOutsidePath,
  hasMagic,
  isCoveredByPattern,
  normalisePattern,
} from './scope.ts'
import { BUILT_IN_METRICS, MODEL_METRICS, parseGateCheck } from './schema-values.ts'
import { isMetered, listCountedMetrics, listHiddenPaths, listTimedDecisiveMetrics } from './spec-facts.ts'
import { ARTIFACT_RULES } from './validate-artifacts.ts'
import { MEASUREMENT_RULES } from './validate-measurement.ts'

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Invariant 6: untrusted code must not see the tokens of GitHub, so they cannot be let through by name. */
const FORGE_SECRET = /^(?:GITHUB_TOKEN|GH_TOKEN|GH_ENTERPRISE_TOKEN|GITHUB_ENTERPRISE_TOKEN|ACTIONS_\w+)$/

const HIGHEST_PORT = 65_535

/** Rules that span several keys or that the schema cannot express. */
export const RULES: readonly SpecRule[] = [
  requireGate,
  requireCeMetricGate,
  requireUniqueGateNames,
  checkSameAnswers,
  checkCountedMetrics,
  ...MEASUREMENT_RULES,
  requireUniqueModels,
  requireMeteredModels,
  checkScopePatterns,
  requireReachableMutable,
  checkRepositoryPaths,
  refuseSharedHiddenPaths,
  checkEnvironmentNames,
  requireUniqueEnvironmentNames,
  requirePortVariable,
  limitWorkTrees,
  checkPortRange,
  requireSinglePlateauKey,
  checkCommandProposers,
  ...ARTIFACT_RULES,
]

export function checkRules(context: RuleContext): SpecFinding[] {
  return RULES.flatMap(rule => rule(context))
}

// Gates

/** Without a gate, the fastest program is the one that does no work. A loss counts failed runs as the worst. */
function requireGate({ spec, rules }: RuleContext): SpecFinding[] {
  const { degenerate_gates: checks, constraints, primary } = spec.metric
  const isGated = spec.gates.length + checks.length + constraints.length > 0
  if (isGated || rules === 'ce' || primary.type === 'loss') return []
  const fix = 'add gates: [{ name: tests, command: … }] or metric.degenerate_gates'
  return reportFinding('gates', 'no gate', 'at least one gate', fix)
}

function requireCeMetricGate({ spec, rules }: RuleContext): SpecFinding[] {
  if (rules !== 'ce' || spec.metric.degenerate_gates.length > 0) return []
  const fix = 'add { name: <metric>, check: ">= 1" }, or winnow: 1'
  return reportFinding('metric.degenerate_gates', 'no gate', 'at least one entry', fix)
}

/** The base's value of the same job has to exist, and may be equal. */
function checkSameAnswers({ spec }: RuleContext): SpecFinding[] {
  const { metric, measurement } = spec
  const objectives = metric.objectives.filter(({ role }) => role !== 'secondary').map(({ name }) => name)
  return metric.degenerate_gates.flatMap(({ name, check }, index) => {
    if (parseGateCheck(check)?.value !== 'base') return []
    const path: SpecPath = ['metric', 'degenerate_gates', index, 'check']
    const refuse = (expected: string, fix: string) =>
      reportFinding(path, JSON.stringify(check), expected, fix)
    if (BUILT_IN_METRICS.has(name))
      return refuse(
        `a bound: ${name} is never the same in two executions`,
        'name a printed answer, such as a checksum',
      )
    if (name === metric.primary.name || objectives.includes(name))
      return refuse(
        `a bound: ${name} is an objective, and is to change`,
        'name a printed answer, such as a checksum',
      )
    if (measurement.stability !== null && measurement.baseline === 'cached')
      return refuse(
        'a bound: with a stored baseline no base runs in the same job',
        'set measurement.baseline: fresh',
      )
    return []
  })
}

/** A counting tool slows a command down many times, so its time says nothing then. */
function checkCountedMetrics({ spec }: RuleContext): SpecFinding[] {
  const counted = listCountedMetrics(spec)
  const [first] = counted
  if (first === undefined) return []
  const path = 'metric.primary.name'
  const timed = listTimedDecisiveMetrics(spec)
  const fix = 'use two specs'
  if (timed.length > 0)
    return reportFinding(
      path,
      `${first} beside ${timed.join(', ')}`,
      'counted metrics alone: counting slows the command down',
      fix,
    )
  if (counted.includes('instructions') && counted.length > 1)
    return reportFinding(
      path,
      counted.join(', '),
      'instructions, or allocations and allocated_bytes: two tools count them',
      fix,
    )
  return []
}

function requireUniqueGateNames({ spec }: RuleContext): SpecFinding[] {
  const names = spec.gates.map(({ name }) => name)
  const metrics = new Set(spec.metric.degenerate_gates.map(({ name }) => name))
  return names.flatMap((name, index) => {
    if (names.indexOf(name) === index && !metrics.has(name)) return []
    const path = ['gates', index, 'name']
    return reportFinding(path, JSON.stringify(name), 'a name no other gate has', 'rename it')
  })
}

// Paths

function checkScopePatterns({ spec }: RuleContext): SpecFinding[] {
  return (['mutable', 'immutable'] as const).flatMap(list =>
    spec.scope[list].flatMap((pattern, index) => {
      const why = explainRefusedPattern(pattern)
      const fix = why === 'a negation' ? 'list it under scope.immutable, which wins' : 'rewrite the pattern'
      return reportWrongPath(['scope', list, index], pattern, why, fix)
    }),
  )
}

/** Overlap is fine because immutable wins, but a mutable pattern that is covered completely is a mistake. */
function requireReachableMutable({ spec }: RuleContext): SpecFinding[] {
  const immutablePatterns = [...spec.scope.immutable, ...ALWAYS_IMMUTABLE]
  return spec.scope.mutable.flatMap((pattern, index) => {
    const cover = immutablePatterns.find(immutable => isCoveredByPattern(immutable, pattern))
    if (cover === undefined) return []
    const path = ['scope', 'mutable', index]
    const found = `${JSON.stringify(pattern)}, all of it inside immutable ${JSON.stringify(cover)}`
    return reportFinding(path, found, 'something that may change', 'remove it, or narrow the immutable one')
  })
}

function checkRepositoryPaths({ spec }: RuleContext): SpecFinding[] {
  const { measurement, parallel, artifacts, propose } = spec
  const check = (path: SpecPath, written: string, fix = 'write it relative to the top of the repository') =>
    reportWrongPath(path, written, explainOutsidePath(written), fix)
  const share = 'copy the file into the repository directory'
  const commit = 'commit the patches to a folder of this repository, and name that'
  const file = measurement.env_file
  return [
    ...check(['measurement', 'working_directory'], measurement.working_directory),
    ...parallel.shared_files.flatMap((path, at) => check(['parallel', 'shared_files', at], path, share)),
    ...artifacts.flatMap(({ path }, at) =>
      path === undefined ? [] : check(['artifacts', at, 'path'], path),
    ),
    ...(file === null ? [] : check(['measurement', 'env_file', 'path'], file.path)),
    ...propose.flatMap((proposer, at) =>
      proposer.use === 'patch' ? check(['propose', at, 'dir'], proposer.dir, commit) : [],
    ),
  ]
}

/** Shared files are copied to where experiments run. */
function refuseSharedHiddenPaths({ spec }: RuleContext): SpecFinding[] {
  const isHidden = compileHiddenPathTest(spec)
  const hidden = listHiddenPaths(spec).map(normalisePattern)
  return spec.parallel.shared_files.flatMap((path, at) => {
    if (!isHidden(normalisePattern(path)) && !hidden.some(compilePathspec(path))) return []
    const expected = 'no file of metric.judge.hidden_reference_paths'
    return reportFinding(['parallel', 'shared_files', at], JSON.stringify(path), expected, 'remove it')
  })
}

function explainRefusedPattern(pattern: string): string | undefined {
  if (pattern.startsWith('!') || pattern.startsWith(':!') || pattern.startsWith(':^')) return 'a negation'
  if (hasMagic(pattern)) return 'pathspec magic'
  return explainOutsidePath(pattern)
}

function reportWrongPath(
  path: SpecPath,
  written: string,
  why: string | undefined,
  fix: string,
): SpecFinding[] {
  if (why === undefined) return []
  const found = `${JSON.stringify(written)}: ${why}`
  return reportFinding(path, found, 'a path inside the repository, relative to its top', fix)
}

// Environment variables

function checkEnvironmentNames(context: RuleContext): SpecFinding[] {
  return listPassedVariables(context).flatMap(({ path, name }) => {
    const why = explainRefusedVariable(name)
    if (why === undefined) return []
    const found = `${JSON.stringify(name)}: ${why}`
    return reportFinding(path, found, 'the name of a variable to let through', 'remove it')
  })
}

/** A name from two sources has two values, and the result does not tell which one the harness saw. */
function requireUniqueEnvironmentNames(context: RuleContext): SpecFinding[] {
  const all = listPassedVariables(context)
  const again = all.filter(({ name }, index) => all.findIndex(each => each.name === name) < index)
  return again.flatMap(({ path, name }) =>
    reportFinding(path, name, 'each name from one source', 'remove one of the two'),
  )
}

function requirePortVariable({ spec }: RuleContext): SpecFinding[] {
  const { port_env_var: name } = spec.parallel
  if (name === null || explainRefusedVariable(name) === undefined) return []
  const found = JSON.stringify(name)
  return reportFinding('parallel.port_env_var', found, 'a free variable name', 'choose another name')
}

function listPassedVariables({ spec }: RuleContext): { path: SpecPath; name: string }[] {
  const { env, env_file: file } = spec.measurement
  return [
    ...env.map((name, index) => ({ path: ['measurement', 'env', index], name })),
    ...(file?.keys ?? []).map((name, index) => ({ path: ['measurement', 'env_file', 'keys', index], name })),
  ]
}

function explainRefusedVariable(name: string): string | undefined {
  if (!VARIABLE_NAME.test(name)) return 'not a variable name'
  if (name.startsWith('WINNOW_')) return 'a name winnow sets itself'
  return FORGE_SECRET.test(name) ? 'a token of the forge, which the code under test must not see' : undefined
}

// Other sections

/** ce-optimize refuses more work trees; under winnow's own rules this is a note. */
function limitWorkTrees({ spec: { execution: run }, rules }: RuleContext): SpecFinding[] {
  if (rules !== 'ce' || run.max_concurrent <= MANY_WORK_TREES) return []
  if (run.backend !== 'worktree' && run.backend !== 'auto') return []
  const expected = `at most ${MANY_WORK_TREES} work trees`
  const fix = `write max_concurrent: ${MANY_WORK_TREES} or less`
  return reportFinding('execution.max_concurrent', String(run.max_concurrent), expected, fix)
}

function checkPortRange({ spec }: RuleContext): SpecFinding[] {
  const { port_base: base } = spec.parallel
  const highest = HIGHEST_PORT - spec.execution.max_concurrent
  if (base === null || base <= highest) return []
  const expected = `at most ${highest}, one port per experiment`
  return reportFinding('parallel.port_base', String(base), expected, 'lower it')
}

function requireSinglePlateauKey({ raw }: RuleContext): SpecFinding[] {
  const keys = ['stopping.plateau', 'stopping.plateau_iterations']
  if (keys.some(key => getGivenValue(raw, key) === undefined)) return []
  const found = 'plateau and plateau_iterations'
  const fix = 'remove one; they mean the same'
  return reportFinding('stopping.plateau_iterations', found, 'one of them', fix, 'key')
}

function checkCommandProposers({ spec }: RuleContext): SpecFinding[] {
  return spec.propose.flatMap((proposer, index) => {
    if (proposer.use !== 'command') return []
    const ways = [proposer.command, proposer.preset].filter(way => way !== undefined).length
    if (ways === 1) return []
    const found = ways === 0 ? 'neither command nor preset' : 'command and preset'
    const fix = 'write command: <program>, or preset: <agent>'
    return reportFinding(['propose', index], found, 'one of them', fix)
  })
}

function requireUniqueModels({ spec }: RuleContext): SpecFinding[] {
  const ids = spec.models.map(({ id }) => id)
  return ids.flatMap((id, index) => {
    if (ids.indexOf(id) === index) return []
    return reportFinding(
      ['models', index, 'id'],
      JSON.stringify(id),
      'each model once',
      'remove one of the two',
    )
  })
}

/** Variables that winnow sets for a metered harness, or that would give it the real key. */
const MODEL_VARIABLES: ReadonlySet<string> = new Set([
  'OPENAI_BASE_URL',
  'OPENAI_API_BASE',
  'OPENAI_API_KEY',
  'WINNOW_MODEL_URL',
  'WINNOW_MODEL_KEY',
])

function requireMeteredModels(context: RuleContext): SpecFinding[] {
  const { spec } = context
  const named = [spec.metric.primary, ...spec.metric.objectives].find(({ name }) => MODEL_METRICS.has(name))
  if (!isMetered(spec)) {
    const found = `${named?.name}, while winnow meters no models of the harness`
    const fix = 'set measurement.models: metered'
    return named === undefined ? [] : reportFinding('measurement.models', found, 'metered', fix)
  }
  if (spec.models.length === 0) {
    const fix = 'add models: [{ id: the-model, price: { input: 0.4, output: 1.6 } }]'
    return reportFinding('models', 'no model', 'the models that the harness may ask', fix)
  }
  return listPassedVariables(context)
    .filter(({ name }) => MODEL_VARIABLES.has(name))
    .flatMap(({ path, name }) =>
      reportFinding(path, name, 'a variable that winnow does not set for models: metered', 'remove it'),
    )
}
