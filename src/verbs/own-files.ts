import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissing } from '../measure/missing.ts'
import { GITHUB_PATHS } from '../setup/github/files.ts'
import { AGENT_FILE, removeAgentBlocks } from './agent-block.ts'

/** What a person wrote, or had written, for winnow in the work tree. */
export interface OwnFiles {
  specs: string[]
  /** What winnow init --github writes. */
  workflows: string[]
  /** AGENTS.md without winnow's lines; null where it has none. */
  agents: string | null
}

export function listOwnFiles(topLevel: string | null): OwnFiles {
  if (topLevel === null) return { specs: [], workflows: [], agents: null }
  const folder = join(topLevel, '.winnow')
  // What a link leads to is not winnow's.
  const isOwn = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const names = isOwn ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []
  const specs = names.flatMap(entry =>
    entry.isDirectory() ? [] : [join(entry.parentPath, entry.name).slice(topLevel.length + 1)],
  )
  const text = ignoreMissing(() => readFileSync(join(topLevel, AGENT_FILE), 'utf8'))
  const left = text === null ? null : removeAgentBlocks(text)
  const workflows = GITHUB_PATHS.filter(path => isOwnFile(join(topLevel, path)))
  return { specs: specs.toSorted(), workflows, agents: left === text ? null : left }
}

/** A file of that name that has nothing to do with winnow is a person's. */
function isOwnFile(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
  return /\bwinnow\b/i.test(readFileSync(path, 'utf8'))
}

export async function removeOwnFiles(
  topLevel: string,
  { specs, workflows, agents }: OwnFiles,
): Promise<void> {
  for (const path of [...specs, ...workflows]) await rm(join(topLevel, path), { force: true })
  for (const path of workflows.filter(each => each.startsWith('.github/actions/')))
    await removeEmptyDirectories(dirname(join(topLevel, path)))
  if (specs.length > 0) await removeEmptyDirectories(join(topLevel, '.winnow'))
  if (agents === null) return
  const file = join(topLevel, AGENT_FILE)
  await (agents.trim() === '' ? rm(file) : writeFile(file, agents))
}

async function removeEmptyDirectories(directory: string): Promise<void> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmptyDirectories(join(directory, entry.name))
  }
  if (readdirSync(directory).length === 0) await rmdir(directory)
}

export function describeOwnFiles({ specs, workflows, agents }: OwnFiles): string[] {
  return [...specs, ...workflows, ...(agents === null ? [] : [`the lines for winnow in ${AGENT_FILE}`])]
}

function ignoreMissing<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
