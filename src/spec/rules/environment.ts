import { MANY_WORK_TREES } from '../notes.ts'
import type { SpecFinding, SpecPath } from '../problem.ts'
import { createSpecFinding, findRepeatedIndexes, type RuleContext } from './rule.ts'

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Untrusted code sees nothing (invariant 6): the forge's own tokens cannot be let through by name. */
const FORGE_SECRET = /^(?:GITHUB_TOKEN|GH_TOKEN|GH_ENTERPRISE_TOKEN|GITHUB_ENTERPRISE_TOKEN|ACTIONS_\w+)$/

function explainRefusedVariable(name: string): string | undefined {
  if (!VARIABLE_NAME.test(name)) return 'not a variable name'
  if (name.startsWith('WINNOW_')) return 'a name winnow sets itself'
  return FORGE_SECRET.test(name) ? 'a token of the forge, which the code under test must not see' : undefined
}

function listPassedVariables({ spec }: RuleContext): { path: SpecPath; name: string }[] {
  const { env, env_file: file } = spec.measurement
  return [
    ...env.map((name, index) => ({ path: ['measurement', 'env', index], name })),
    ...(file?.keys ?? []).map((name, index) => ({ path: ['measurement', 'env_file', 'keys', index], name })),
  ]
}

export function checkEnvironmentNames(context: RuleContext): SpecFinding[] {
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

/** A name from two sources has two values, and nobody knows which one the harness saw. */
export function requireUniqueEnvironmentNames(context: RuleContext): SpecFinding[] {
  const all = listPassedVariables(context)
  return findRepeatedIndexes(all.map(({ name }) => name)).flatMap(index => {
    const again = all[index]
    return again === undefined
      ? []
      : [createSpecFinding(again.path, again.name, 'each name from one source', 'remove one of the two')]
  })
}

export function requirePortVariable({ spec }: RuleContext): SpecFinding[] {
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

const HIGHEST_PORT = 65_535

/** ce-optimize refuses more; under winnow's own rules it is a note. */
export function limitWorkTrees({ spec: { execution: run }, rules }: RuleContext): SpecFinding[] {
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

export function checkPortRange({ spec }: RuleContext): SpecFinding[] {
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
