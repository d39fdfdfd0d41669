import { withSmallHttpProxy } from './proxy.ts'

/** How winnow's own git processes are cut off from the user's configuration, hooks and environment. */
export interface Isolation {
  cwd: string
  env: Record<string, string>
  configArgs: string[]
}

export const CONFIG = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.quotePath=true',
  'protocol.ext.allow=never',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
] as const

/** What would point a git process at another repository, index or object store than the one we name. */
const POINTERS = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
  'GIT_SHALLOW_FILE',
  'GIT_GRAFT_FILE',
  'GIT_REPLACE_REF_BASE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_DEFAULT_HASH',
  'GIT_TEMPLATE_DIR',
  'GIT_CEILING_DIRECTORIES',
  'GIT_LITERAL_PATHSPECS',
  'GIT_EXTERNAL_DIFF',
  'GIT_EXEC_PATH',
])

const FIXED = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  LC_ALL: 'C',
} as const

const NO_USER_CONFIG = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
} as const

/** By the second git knows, when it runs as root, whose repositories it may read as its own. */
const ALWAYS = ['PATH', 'SUDO_UID']

/** Everything that stays on this machine: of the caller's environment only these. */
export function buildLocalIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const own = Object.entries(env).filter(([key]) => ALWAYS.includes(key))
  return {
    cwd,
    env: { ...Object.fromEntries(own), ...NO_USER_CONFIG, ...FIXED },
    configArgs: buildConfigArgs(),
  }
}

/** What says how this person's git reads their own files: ignore rules, line endings, filters. */
const OF_THE_PERSON =
  /^(?:PATH|SUDO_UID|HOME|XDG_CONFIG_HOME|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+))$/

/** Reading a work tree as its owner's `git add` would, with nothing of it written where it could see it. */
export function buildOwnerIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const own = Object.entries(env).filter(([key]) => OF_THE_PERSON.test(key))
  return { cwd, env: { ...Object.fromEntries(own), ...FIXED }, configArgs: buildConfigArgs() }
}

/** Commands that speak to the remote: the caller's environment (credentials, ssh, proxy) is added. */
export function buildNetworkIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const added = Object.entries(withSmallHttpProxy(env)).filter(([key]) => !POINTERS.has(key))
  return {
    cwd,
    env: { ...NO_USER_CONFIG, ...Object.fromEntries(added), ...FIXED },
    configArgs: buildConfigArgs(),
  }
}

function buildConfigArgs(): string[] {
  return CONFIG.flatMap(setting => ['-c', setting])
}
