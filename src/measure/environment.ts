import { join } from 'node:path'
import { UserError } from '../errors.ts'
import type { Spec } from '../spec/schema.ts'
import { readTextIfPresent } from './file-system.ts'
import type { Owner } from './process/reaper.ts'
import type { SidePaths } from './session.ts'

const ALLOWED = ['PATH', 'LANG', 'TZ', 'CI'] as const

/** Invariant 6: passes only these variables of the user's environment, and those that the spec lists. */
export function selectAllowedEnvironment(
  env: Readonly<Record<string, string>>,
  names: readonly string[],
  fromFile: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name of [...ALLOWED, ...names]) {
    const value = env[name]
    if (value !== undefined) passed[name] = value
  }
  return { ...passed, ...fromFile }
}

export function buildPortEnvironment(
  parallel: Spec['parallel'],
  portBase: number | undefined,
): Record<string, string> {
  if (parallel.port_strategy !== 'parameterized') return {}
  const port = portBase ?? parallel.port_base
  if (port === null) {
    throw new UserError('parallel.port_strategy is parameterized, but no first port is set', {
      place: { path: 'parallel.port_base' },
      fix: 'set parallel.port_base',
    })
  }
  const named = parallel.port_env_var === null ? {} : { [parallel.port_env_var]: String(port) }
  return { WINNOW_PORT: String(port), ...named }
}

/** Common to all commands. HOME is a folder of the side, unless the spec passes that of the person. */
export function buildCommonEnvironment(
  allowed: Readonly<Record<string, string>>,
  { tmp, home }: Pick<SidePaths, 'tmp' | 'home'>,
  owner: Owner | null,
): Record<string, string> {
  // By default npm writes a log into HOME on each run, and asks its registry for a newer npm.
  const npm = { npm_config_logs_dir: join(tmp, 'npm-logs'), npm_config_update_notifier: 'false' }
  return { ...npm, HOME: home, ...allowed, TMPDIR: tmp, ...(owner === null ? {} : { HOME: home }) }
}

/** Every side gets the same names and values. The EVO_ names are aliases for evo harnesses. */
export function buildHarnessEnvironment(
  allowed: Readonly<Record<string, string>>,
  paths: SidePaths,
  { owner, seed }: { owner: Owner | null; seed: number },
): Record<string, string> {
  return {
    ...buildCommonEnvironment(allowed, paths, owner),
    WINNOW_RESULT_PATH: paths.result,
    WINNOW_PROGRESS_PATH: paths.progress,
    WINNOW_OUT_DIR: paths.out,
    WINNOW_CHECKPOINT_DIR: paths.checkpoint,
    WINNOW_SEED: String(seed),
    EVO_RESULT_PATH: paths.result,
    EVO_TRACES_DIR: join(paths.out, 'traces'),
    EVO_CHECKPOINT_DIR: paths.checkpoint,
    EVO_WORKTREE: paths.tree,
    EVO_EXPERIMENT_ID: 'run',
    EVO_ATTEMPT: '1',
  }
}

// Dotenv file

type EnvFile = Spec['measurement']['env_file']

/** Reads only the named keys of a dotenv file. A missing key is an error. */
export function readEnvFile(file: EnvFile, root: string | null): Record<string, string> {
  if (file === null) return {}
  const place = { file: file.path }
  if (root === null) {
    throw new UserError('measurement.env_file cannot be read: this runner has no repository', {
      place,
      fix: 'run winnow in a clone of the repository, or remove measurement.env_file',
    })
  }
  const path = join(root, file.path)
  const text = readTextIfPresent(path)
  if (text === null) {
    throw new UserError(`measurement.env_file does not exist: ${path}`, {
      place,
      fix: 'create the file, or remove measurement.env_file',
    })
  }
  const values = parseDotenv(text)
  const missing = file.keys.filter(key => !values.has(key))
  if (missing.length > 0) {
    throw new UserError(`measurement.env_file lacks ${missing.join(', ')}`, {
      place,
      fix: 'add these variables to the file, or remove them from measurement.env_file.keys',
    })
  }
  return Object.fromEntries(file.keys.map(key => [key, values.get(key) ?? '']))
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^#]*?))\s*(?:#.*)?$/

/** Before any other character, a backslash is only itself, as in shells. */
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r' }

function parseDotenv(text: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, name, double, single, bare] = LINE.exec(line) ?? []
    if (name === undefined) continue
    const unescaped = double?.replace(/\\([nr"\\$`])/g, (_, char: string) => ESCAPED[char] ?? char)
    values.set(name, unescaped ?? single ?? bare ?? '')
  }
  return values
}

// Secrets

/** Variables that a CI runner passes to its programs, and usual names of secrets. */
const RUNNERS = /^(?:ACTIONS_|INPUT_|GH_)/
const SECRET =
  /(?:^|_)(?:TOKENS?|SECRETS?|PASSW(?:OR)?DS?|CREDENTIALS?|(?:PRIVATE|API|ACCESS|SECRET|MODEL)_?KEYS?)(?:_|$)/i
/** Variables that change how a program loads or runs code. */
const LOADED = /^(?:NODE_OPTIONS|NODE_PATH|LD_|DYLD_|BASH_ENV$|GIT_)/

/** The only secret that a winnow job may hold. Proposer programs find it under this name. */
export const MODEL_KEY = 'WINNOW_MODEL_KEY'

/** Invariant 6: secrets stay out of the process that runs experiment code, not only out of the experiment. */
export function isSecretName(name: string): boolean {
  return RUNNERS.test(name) || SECRET.test(name)
}

export function removeSecrets(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecretName(name) && !LOADED.test(name)))
}
