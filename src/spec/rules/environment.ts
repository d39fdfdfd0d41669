import { MANY_WORK_TREES } from '../notes.ts'
import type { Finding, SpecPath } from '../problem.ts'
import { finding, repeated, type RuleContext } from './rule.ts'

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Untrusted code sees nothing (invariant 6): the forge's own tokens cannot be let through by name. */
const FORGE_SECRET = /^(?:GITHUB_TOKEN|GH_TOKEN|GH_ENTERPRISE_TOKEN|GITHUB_ENTERPRISE_TOKEN|ACTIONS_\w+)$/

function notPassable(name: string): string | undefined {
  if (!VARIABLE.test(name)) return 'not a variable name'
  if (name.startsWith('WINNOW_')) return 'a name winnow sets itself'
  return FORGE_SECRET.test(name) ? 'a token of the forge, which the code under test must not see' : undefined
}

function passed({ spec }: RuleContext): { path: SpecPath; name: string }[] {
  const { env, env_file: file } = spec.measurement
  return [
    ...env.map((name, index) => ({ path: ['measurement', 'env', index], name })),
    ...(file?.keys ?? []).map((name, index) => ({ path: ['measurement', 'env_file', 'keys', index], name })),
  ]
}

export function environmentNames(context: RuleContext): Finding[] {
  return passed(context).flatMap(({ path, name }) => {
    const why = notPassable(name)
    if (why === undefined) return []
    return [
      finding(path, `${JSON.stringify(name)}: ${why}`, 'the name of a variable to let through', 'remove it'),
    ]
  })
}

/** A name from two sources has two values, and nobody knows which one the harness saw. */
export function environmentOnce(context: RuleContext): Finding[] {
  const all = passed(context)
  return repeated(all.map(({ name }) => name)).flatMap(index => {
    const again = all[index]
    return again === undefined
      ? []
      : [finding(again.path, again.name, 'each name from one source', 'remove one of the two')]
  })
}

export function portVariable({ spec }: RuleContext): Finding[] {
  const { port_env_var: name } = spec.parallel
  if (name === null || notPassable(name) === undefined) return []
  return [
    finding(
      ['parallel', 'port_env_var'],
      JSON.stringify(name),
      'a free variable name',
      'choose another name',
    ),
  ]
}

const HIGHEST_PORT = 65_535

/** ce-optimize refuses more; under winnow's own rules it is a note. */
export function workTreesAreFew({ spec: { execution: run }, rules }: RuleContext): Finding[] {
  if (rules !== 'ce' || run.max_concurrent <= MANY_WORK_TREES) return []
  if (run.backend !== 'worktree' && run.backend !== 'auto') return []
  const fix = `write max_concurrent: ${MANY_WORK_TREES} or less`
  return [
    finding(
      ['execution', 'max_concurrent'],
      String(run.max_concurrent),
      `at most ${MANY_WORK_TREES} work trees`,
      fix,
    ),
  ]
}

export function portsExist({ spec }: RuleContext): Finding[] {
  const { port_base: base } = spec.parallel
  if (base === null || base + spec.execution.max_concurrent <= HIGHEST_PORT) return []
  const highest = HIGHEST_PORT - spec.execution.max_concurrent
  return [
    finding(
      ['parallel', 'port_base'],
      String(base),
      `at most ${highest}, one port per experiment`,
      'lower it',
    ),
  ]
}
