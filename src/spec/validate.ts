import type { SpecFinding, SpecPath } from './errors.ts'
import { MANY_WORK_TREES } from './notes.ts'
import {
  createSpecFinding,
  findRepeatedIndexes,
  getGivenValue,
  type RuleContext,
  type SpecRule,
} from './rule-context.ts'
import { ALWAYS_IMMUTABLE, hasMagic, isCoveredByPattern } from './scope.ts'
import {
  checkLadderRepeats,
  checkShares,
  refuseContradictoryApproval,
  refuseDuplicateJudgeKeys,
  refusePrintedBuiltIns,
  refuseScoredBenchmarks,
  refuseTimedOnce,
  refuseTimedScoreField,
  requireDecidableSuite,
  requireDirection,
  requireEnforcedNetworkOff,
  requireHiddenHoldout,
  requireHoldoutSource,
  requireJudgeCostCap,
  requireJudgedPrimary,
  requireJudgeSection,
  requireLegalMeasurement,
  requireLossSuite,
  requireReachableImprovement,
  requireScoreScale,
  requireSingletonRubric,
  requireSmallerNullEffect,
  requireSuiteCommands,
  requireUniqueObjectives,
  requireUniqueSuiteTasks,
} from './validate-measurement.ts'

const CONTROL_CHARACTER = /\p{Cc}/u

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Invariant 6: untrusted code must not see the tokens of GitHub, so they cannot be let through by name. */
const FORGE_SECRET = /^(?:GITHUB_TOKEN|GH_TOKEN|GH_ENTERPRISE_TOKEN|GITHUB_ENTERPRISE_TOKEN|ACTIONS_\w+)$/

const HIGHEST_PORT = 65_535

/** Rules that span several keys or that the schema cannot express. */
export const RULES: readonly SpecRule[] = [
  { name: 'at least one gate of either kind', check: requireGate },
  { name: 'ce: at least one metric gate', check: requireCeMetricGate },
  { name: 'gate names are unique', check: requireUniqueGateNames },
  { name: 'the measurement is legal for the type of primary', check: requireLegalMeasurement },
  { name: 'what is measured once repeats exactly', check: refuseTimedOnce },
  { name: 'a scorer prints the metrics alone', check: refuseScoredBenchmarks },
  { name: 'which way is better is said', check: requireDirection },
  { name: 'a judge metric has a judge', check: requireJudgeSection },
  { name: 'a judge scores the primary', check: requireJudgedPrimary },
  { name: 'scores have a scale', check: requireScoreScale },
  { name: 'a judge says what counts', check: refuseDuplicateJudgeKeys },
  { name: 'an improvement fits into the scale', check: requireReachableImprovement },
  { name: 'sampled singletons have a rubric', check: requireSingletonRubric },
  { name: 'judging is capped', check: requireJudgeCostCap },
  { name: 'a loss has a suite', check: requireLossSuite },
  { name: 'objectives are unique', check: requireUniqueObjectives },
  { name: 'built-in metrics are not printed', check: refusePrintedBuiltIns },
  { name: 'a scored primary is not built in', check: refuseTimedScoreField },
  { name: 'a ladder confirms at least what it explored', check: checkLadderRepeats },
  { name: 'a suite can decide', check: requireDecidableSuite },
  { name: 'suite tasks have one thing to run', check: requireSuiteCommands },
  { name: 'suite tasks are unique', check: requireUniqueSuiteTasks },
  { name: 'null_effect is below min_effect', check: requireSmallerNullEffect },
  { name: 'a share is not a whole number', check: checkShares },
  { name: 'what is denied is not asked for', check: refuseContradictoryApproval },
  { name: 'network off is enforced', check: requireEnforcedNetworkOff },
  { name: 'a holdout has a place', check: requireHoldoutSource },
  { name: 'a holdout stays hidden', check: requireHiddenHoldout },
  { name: 'scope patterns stay inside the repository', check: checkScopePatterns },
  { name: 'something mutable is left', check: requireReachableMutable },
  { name: 'working_directory is inside the repository', check: checkWorkingDirectory },
  { name: 'shared files are inside the repository', check: checkSharedFiles },
  { name: 'artifacts are inside the repository', check: checkArtifactPaths },
  { name: 'env_file is inside the repository', check: checkEnvFilePath },
  { name: 'folders of patches are inside the repository', check: checkPatchFolders },
  { name: 'environment names may be let through', check: checkEnvironmentNames },
  { name: 'an environment name has one source', check: requireUniqueEnvironmentNames },
  { name: 'the port variable is free', check: requirePortVariable },
  { name: 'ce: few work trees', check: limitWorkTrees },
  { name: 'ports exist', check: checkPortRange },
  { name: 'one plateau', check: requireSinglePlateauKey },
  { name: 'a command proposer has one command', check: checkCommandProposers },
  { name: 'artifacts are unique', check: requireUniqueArtifacts },
]

export function checkRules(context: RuleContext): SpecFinding[] {
  return RULES.flatMap(rule => rule.check(context))
}

// Gates

/** Without a gate, the fastest program is the one that does no work. */
function requireGate({ spec, rules }: RuleContext): SpecFinding[] {
  if (spec.gates.length + spec.metric.degenerate_gates.length > 0 || rules === 'ce') return []
  return [
    createSpecFinding(
      ['gates'],
      'no gate',
      'at least one gate',
      'add gates: [{ name: tests, command: … }] or metric.degenerate_gates',
    ),
  ]
}

function requireCeMetricGate({ spec, rules }: RuleContext): SpecFinding[] {
  if (rules !== 'ce' || spec.metric.degenerate_gates.length > 0) return []
  const path = ['metric', 'degenerate_gates']
  return [
    createSpecFinding(
      path,
      'no gate',
      'at least one entry',
      'add { name: <metric>, check: ">= 1" }, or winnow: 1',
    ),
  ]
}

function requireUniqueGateNames({ spec }: RuleContext): SpecFinding[] {
  const names = spec.gates.map(({ name }) => name)
  const metrics = new Set(spec.metric.degenerate_gates.map(({ name }) => name))
  const twice = new Set(findRepeatedIndexes(names))
  return names.flatMap((name, index) => {
    if (!twice.has(index) && !metrics.has(name)) return []
    return [
      createSpecFinding(
        ['gates', index, 'name'],
        JSON.stringify(name),
        'a name no other gate has',
        'rename it',
      ),
    ]
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
    const found = `${JSON.stringify(pattern)}, all of it inside immutable ${JSON.stringify(cover)}`
    return [
      createSpecFinding(
        ['scope', 'mutable', index],
        found,
        'something that may change',
        'remove it, or narrow the immutable one',
      ),
    ]
  })
}

function checkWorkingDirectory({ spec }: RuleContext): SpecFinding[] {
  const { working_directory: directory } = spec.measurement
  const path = ['measurement', 'working_directory']
  return reportWrongPath(
    path,
    directory,
    explainOutsidePath(directory),
    'write it relative to the top of the repository',
  )
}

function checkSharedFiles({ spec }: RuleContext): SpecFinding[] {
  return spec.parallel.shared_files.flatMap((file, index) =>
    reportWrongPath(
      ['parallel', 'shared_files', index],
      file,
      explainOutsidePath(file),
      'copy the file into the repository directory',
    ),
  )
}

function checkArtifactPaths({ spec }: RuleContext): SpecFinding[] {
  return spec.artifacts.flatMap(({ path }, index) =>
    reportWrongPath(
      ['artifacts', index, 'path'],
      path,
      explainOutsidePath(path),
      'write it relative to the top of the repository',
    ),
  )
}

function checkEnvFilePath({ spec }: RuleContext): SpecFinding[] {
  const path = spec.measurement.env_file?.path
  if (path === undefined) return []
  return reportWrongPath(
    ['measurement', 'env_file', 'path'],
    path,
    explainOutsidePath(path),
    'write it relative to the top of the repository',
  )
}

function checkPatchFolders({ spec }: RuleContext): SpecFinding[] {
  return spec.propose.flatMap((proposer, index) =>
    proposer.use === 'patch'
      ? reportWrongPath(
          ['propose', index, 'dir'],
          proposer.dir,
          explainOutsidePath(proposer.dir),
          'commit the patches to a folder of this repository, and name that',
        )
      : [],
  )
}

function explainRefusedPattern(pattern: string): string | undefined {
  if (pattern.startsWith('!') || pattern.startsWith(':!') || pattern.startsWith(':^')) return 'a negation'
  if (hasMagic(pattern)) return 'pathspec magic'
  return explainOutsidePath(pattern)
}

/** Returns the reason why this is not a path inside the repository; undefined when it is one. */
function explainOutsidePath(path: string): string | undefined {
  if (CONTROL_CHARACTER.test(path)) return 'a control character'
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('~')) return 'an absolute path'
  if (path.split('/').includes('..')) return 'a path with ..'
  if (path.startsWith('-')) return 'a leading -, which a command would take for an option'
  return undefined
}

function reportWrongPath(
  path: SpecPath,
  written: string,
  why: string | undefined,
  fix: string,
): SpecFinding[] {
  if (why === undefined) return []
  return [
    createSpecFinding(
      path,
      `${JSON.stringify(written)}: ${why}`,
      'a path inside the repository, relative to its top',
      fix,
    ),
  ]
}

// Environment variables

function checkEnvironmentNames(context: RuleContext): SpecFinding[] {
  return listPassedVariables(context).flatMap(({ path, name }) => {
    const why = explainRefusedVariable(name)
    if (why === undefined) return []
    return [
      createSpecFinding(
        path,
        `${JSON.stringify(name)}: ${why}`,
        'the name of a variable to let through',
        'remove it',
      ),
    ]
  })
}

/** A name from two sources has two values, and the result does not tell which one the harness saw. */
function requireUniqueEnvironmentNames(context: RuleContext): SpecFinding[] {
  const all = listPassedVariables(context)
  return findRepeatedIndexes(all.map(({ name }) => name)).flatMap(index => {
    const again = all[index]
    return again === undefined
      ? []
      : [createSpecFinding(again.path, again.name, 'each name from one source', 'remove one of the two')]
  })
}

function requirePortVariable({ spec }: RuleContext): SpecFinding[] {
  const { port_env_var: name } = spec.parallel
  if (name === null || explainRefusedVariable(name) === undefined) return []
  return [
    createSpecFinding(
      ['parallel', 'port_env_var'],
      JSON.stringify(name),
      'a free variable name',
      'choose another name',
    ),
  ]
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
  const fix = `write max_concurrent: ${MANY_WORK_TREES} or less`
  return [
    createSpecFinding(
      ['execution', 'max_concurrent'],
      String(run.max_concurrent),
      `at most ${MANY_WORK_TREES} work trees`,
      fix,
    ),
  ]
}

function checkPortRange({ spec }: RuleContext): SpecFinding[] {
  const { port_base: base } = spec.parallel
  if (base === null || base + spec.execution.max_concurrent <= HIGHEST_PORT) return []
  const highest = HIGHEST_PORT - spec.execution.max_concurrent
  return [
    createSpecFinding(
      ['parallel', 'port_base'],
      String(base),
      `at most ${highest}, one port per experiment`,
      'lower it',
    ),
  ]
}

function requireSinglePlateauKey({ raw }: RuleContext): SpecFinding[] {
  const both = ['plateau', 'plateau_iterations'].every(
    key => getGivenValue(raw, ['stopping', key]) !== undefined,
  )
  if (!both) return []
  const path = ['stopping', 'plateau_iterations']
  return [
    createSpecFinding(
      path,
      'plateau and plateau_iterations',
      'one of them',
      'remove one; they mean the same',
      'key',
    ),
  ]
}

function checkCommandProposers({ spec }: RuleContext): SpecFinding[] {
  return spec.propose.flatMap((proposer, index) => {
    if (proposer.use !== 'command') return []
    const ways = [proposer.command, proposer.preset].filter(way => way !== undefined).length
    if (ways === 1) return []
    const found = ways === 0 ? 'neither command nor preset' : 'command and preset'
    return [
      createSpecFinding(
        ['propose', index],
        found,
        'one of them',
        'write command: <program>, or preset: <agent>',
      ),
    ]
  })
}

function requireUniqueArtifacts({ spec }: RuleContext): SpecFinding[] {
  const names = spec.artifacts.map(({ name }) => name)
  return findRepeatedIndexes(names).map(index =>
    createSpecFinding(
      ['artifacts', index, 'name'],
      JSON.stringify(names[index]),
      'a name no other artifact has',
      'rename it',
    ),
  )
}
