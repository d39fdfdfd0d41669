import { join } from 'node:path'
import { UserError } from '../errors.ts'
import type { Spec } from '../spec/schema.ts'
import type { Owner } from './process/reaper.ts'
import type { SidePaths } from './side-paths.ts'

const ALLOWED = ['PATH', 'HOME', 'LANG', 'TZ', 'CI'] as const

/** Invariant 6: of the user's environment only these names and those the spec lists, never the rest. */
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
    throw new UserError('parallel.port_strategy is parameterized, but there is no port to begin with', {
      place: { path: 'parallel.port_base' },
      fix: 'set parallel.port_base',
    })
  }
  const named = parallel.port_env_var === null ? {} : { [parallel.port_env_var]: String(port) }
  return { WINNOW_PORT: String(port), ...named }
}

/** Else npm writes a log into HOME each time it runs, and asks its registry whether there is a newer npm. */
export function buildNpmEnvironment(tmp: string): Record<string, string> {
  return { npm_config_logs_dir: join(tmp, 'npm-logs'), npm_config_update_notifier: 'false' }
}

/** What everything has that is started. Whose user has no home has an empty folder for one. */
export function buildCommonEnvironment(
  allowed: Readonly<Record<string, string>>,
  { tmp, home }: Pick<SidePaths, 'tmp' | 'home'>,
  owner: Owner | null,
): Record<string, string> {
  return { ...buildNpmEnvironment(tmp), ...allowed, TMPDIR: tmp, ...(owner === null ? {} : { HOME: home }) }
}

/** The same names and values on every side; evo's names are aliases. */
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
