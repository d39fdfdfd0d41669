import { constants } from 'node:fs'
import { chmod, cp, lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { isDirectory } from '../git/bare-repository.ts'
import { removeAll } from './file-system.ts'
import type { MeasureInput, Session, TrustedTree } from './session.ts'
import { snapshotEverything } from './tamper-check.ts'

/** Removed before and after each holdout order, so that a side finds no files of an earlier one. */
export function getHoldoutDir(workDir: string): string {
  return join(workDir, 'holdout')
}

/** A holdout order keeps its sides, outputs and data in a folder that no other order uses. */
export function getSidesDir({ order, workDir }: Pick<MeasureInput, 'order' | 'workDir'>): string {
  return order.stop.rule === 'holdout' ? getHoldoutDir(workDir) : workDir
}

/** The directory that the environment variable names. Null for another kind of source. */
export async function findHoldoutDirectory({ order, env }: Pick<MeasureInput, 'order' | 'env'>) {
  const { stop } = order
  if (stop.rule !== 'holdout' || stop.source === null || !('environment' in stop.source)) return null
  const name = stop.source.environment
  const directory = env[name] ?? ''
  if (directory !== '' && isDirectory(directory)) return directory
  const what = directory === '' ? `${name} is not set` : `${name} names ${directory}, which is no directory`
  throw new UserError(`the holdout cannot be found: ${what}`, {
    place: { path: 'measurement.holdout.source' },
    fix: `set ${name} to the holdout's directory on the measuring machine`,
  })
}

/**
 * Invariant 6: lays out the holdout after every setup has run, read-only and with a tamper snapshot. Only the
 * holdout's own command gets its path.
 */
export async function layOutHoldout(session: Session): Promise<TrustedTree | null> {
  const { input, holdoutDirectory } = session
  const { stop } = input.order
  if (stop.rule !== 'holdout' || stop.source === null) return null
  const dir = join(getHoldoutDir(input.workDir), 'data')
  await removeAll(dir)
  await mkdir(dir, { recursive: true })
  if ('tree' in stop.source) await input.repository.materialize(stop.source.tree, dir)
  else if (holdoutDirectory !== null)
    await cp(holdoutDirectory, dir, { recursive: true, dereference: true, mode: constants.COPYFILE_FICLONE })
  await makeReadOnly(dir)
  return { dir, snapshot: snapshotEverything(dir, [], input.repository.objectFormat) }
}

const READ = 0o444
const ENTER = 0o111

async function makeReadOnly(path: string): Promise<void> {
  const found = await lstat(path)
  if (found.isSymbolicLink()) return
  if (!found.isDirectory()) return chmod(path, READ | (found.mode & ENTER))
  for (const name of await readdir(path)) await makeReadOnly(join(path, name))
  await chmod(path, READ | ENTER)
}
