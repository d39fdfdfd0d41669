import {
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isMissing } from '../measure/missing.ts'
import type { ActionEnv } from './inputs.ts'

const NAMED = ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_STEP_SUMMARY'] as const
const FOLDER = '_runner_file_commands'

/**
 * Empties every file by which a step sets variables, paths, outputs, state and the summary. A process of the experiment
 * that runs as the job's user can write to all of them, also to those of other steps, and the runner would obey.
 */
export function clearRunnerFiles(env: ActionEnv): void {
  const named = NAMED.flatMap(name => env[name] || [])
  const folders = new Set(named.map(file => dirname(resolve(file))).filter(isRunnerFolder))
  const { RUNNER_TEMP: temp = '' } = env
  if (temp !== '') folders.add(join(resolve(temp), FOLDER))
  const found = [...folders].flatMap(listRunnerFiles)
  for (const file of new Set([...named.map(file => resolve(file)), ...found])) makeEmptyFile(file)
}

function isRunnerFolder(folder: string): boolean {
  return folder.endsWith(`/${FOLDER}`)
}

function listRunnerFiles(folder: string): string[] {
  try {
    return readdirSync(folder).map(name => join(folder, name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** A link could name a file of the job's user that is none of the runner's: it is replaced and not followed. */
function makeEmptyFile(path: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true })
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isFile() === true && found.nlink === 1 && isTruncated(path)) return
  if (found !== undefined) rmSync(path, { recursive: true, force: true })
  writeFileSync(path, '', { flag: 'wx' })
  const { uid, gid } = statSync(folder)
  if (process.getuid?.() === 0) lchownSync(path, uid, gid)
}

/** False where the file was left without the right to write to it. */
function isTruncated(path: string): boolean {
  try {
    truncateSync(path)
    return true
  } catch {
    return false
  }
}
