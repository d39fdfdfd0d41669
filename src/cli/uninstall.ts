import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { formatCount } from '../decide/wording.ts'
import { endLeftoversBelow, findRegisteredRun } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { type Checkout, inspectCheckout } from '../git/work-tree.ts'
import { GITHUB_PATHS } from '../init/workflows/files.ts'
import { isMissing, removeAll } from '../measure/file-system.ts'
import { listSideUsers, REMOVE_USERS, SIDES_DIR } from '../measure/isolation/side-users.ts'
import { toShortRef } from '../model/ids.ts'
import { AGENT_FILE, removeAgentBlocks } from './agent-files.ts'
import {
  findRemains,
  formatBundleName,
  type Remains,
  removeRemains,
  renderRestoreHint,
  requireNotCheckedOut,
  saveRemains,
} from './uninstall-branches.ts'
import type { Call, Verb } from './verb.ts'

export const uninstallVerb: Verb = {
  name: 'uninstall',
  group: 'more',
  summary: 'remove everything that winnow created, after saving it to one file',
  access: 'apart',
  options: [
    {
      name: 'purge',
      summary: 'remove the files in .winnow, the workflows and the lines in AGENTS.md too',
    },
    { name: 'save', value: 'dir', summary: 'where to save the file; by default the current directory' },
    { name: 'dry-run', summary: 'list what would be removed' },
  ],
  examples: ['winnow uninstall --dry-run', 'winnow uninstall', 'winnow uninstall --purge --save ~/backup'],
  exits: { 2: 'a run is active or a branch is checked out; nothing was removed' },
  run: runUninstall,
}

async function runUninstall(call: Call): Promise<number> {
  const { environment, given, terminal } = call
  const checkout = await inspectCheckout(environment.directory, environment.env)
  const all = await findAllRemains(call, checkout)
  const files = listOwnFiles(checkout.topLevel)
  const purge = given.flag('purge')
  const dry = given.flag('dry-run')
  const listed = renderRemovalList(all, files, purge)
  try {
    if (listed.length === 0) terminal.out('Nothing to remove.')
    else terminal.out(dry ? 'Nothing was removed. It would remove:' : 'To remove:')
    for (const line of listed) terminal.out(`  ${line}`)
    for (const line of [...renderKeptFiles(all, files, purge), ...describeMachineLeftovers()])
      terminal.out(line)
    if (listed.length === 0 || dry) return 0
    for (const remains of all) await requireIdle(call, remains)
    await removeEverything(call, checkout, all)
    if (purge && checkout.topLevel !== null) await removeOwnFiles(checkout.topLevel, files)
    terminal.out(
      purge && describeOwnFiles(files).length > 0
        ? 'Removed. winnow also deleted its files from the work tree; commit that.'
        : 'Removed.',
    )
    return 0
  } finally {
    // Inspecting created these directories.
    for (const { hadDataDir, dataDir } of all) if (!hadDataDir) await removeAll(dataDir)
  }
}

/** Includes the repository itself, because campaigns may have run without the remote. */
async function findAllRemains(call: Call, { remotes }: Checkout): Promise<Remains[]> {
  const { remote } = call.environment
  const alone = remote === 'none' || (remotes.length === 0 && remote === null)
  return [...(alone ? [] : [await findRemains(call, remote)]), await findRemains(call, 'none')]
}

function renderRemovalList(all: readonly Remains[], files: OwnFiles, purge: boolean): string[] {
  return [...all.flatMap(renderRemains), ...(purge ? describeOwnFiles(files) : [])]
}

function renderRemains({ branches, local, hadDataDir, dataDir }: Remains): string[] {
  const where = local ? 'in this repository' : 'in the remote'
  const names = branches.map(({ tip }) => toShortRef(tip.ref))
  const experiments = names.filter(name => /^[^/]+-exp\//.test(name))
  const others = names.filter(name => !experiments.includes(name))
  const many = experiments.length > 8
  const shown = many ? [...others, `branches of ${formatCount(experiments.length, 'experiment')}`] : names
  return [...shown.map(name => `${name} ${where}`), ...(hadDataDir ? [`${dataDir} on this machine`] : [])]
}

function renderKeptFiles(all: readonly Remains[], files: OwnFiles, purge: boolean): string[] {
  const own = purge ? [] : describeOwnFiles(files)
  return [
    ...(own.length === 0 ? [] : [`Kept: ${own.join(', ')} (--purge removes them)`]),
    ...all.flatMap(({ unclaimed }) =>
      unclaimed.map(name => `Kept: branch ${name}, which no ledger of winnow claims`),
    ),
  ]
}

/** Shared by all repositories of the machine, so uninstall keeps them and prints how to remove them. */
export function describeMachineLeftovers(
  sidesDir = SIDES_DIR,
  hasUsers: () => boolean = () => Array.isArray(listSideUsers()),
): string[] {
  const dir = existsSync(sidesDir)
  const users = hasUsers()
  const what = [
    ...(dir ? [`${sidesDir}, where sides with users of their own are measured`] : []),
    ...(users ? ['the users winnow-1 to winnow-6'] : []),
  ]
  if (what.length === 0) return []
  const how = [...(dir ? [`rm -rf ${sidesDir}`] : []), ...(users ? [REMOVE_USERS] : [])]
  return [
    `Kept: ${what.join(', and ')}, for every repository of this machine`,
    `  to remove it, when no repository needs it and no measurement runs, as root: ${how.join('; ')}`,
  ]
}

/** A running process would write new data after the removal. */
async function requireIdle(call: Call, remains: Remains): Promise<void> {
  const run = await findRegisteredRun(remains.dataDir)
  if (run !== null) {
    throw new UserError(
      `campaign ${run.campaign} is run by process ${run.pid} on this machine; nothing was removed`,
      {
        fix: 'end it (Ctrl-C), or winnow stop; then winnow uninstall again',
      },
    )
  }
  await endLeftoversBelow(remains.dataDir)
  await requireNotCheckedOut(call, remains)
}

async function removeEverything(call: Call, checkout: Checkout, all: readonly Remains[]): Promise<void> {
  const { environment, given, terminal } = call
  const directory = resolve(environment.directory, given.text('save') ?? '.')
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UserError(`there is no directory ${directory}; nothing was removed`, {
      fix: 'make it, or give another with --save',
    })
  }
  const repositoryPath = checkout.topLevel ?? checkout.commonDir.replace(/\/\.git$/, '')
  const remoteName =
    environment.remote ??
    checkout.remotes.find(({ name }) => name === 'origin')?.name ??
    checkout.remotes[0]?.name
  for (const remains of all) {
    if (remains.branches.length === 0) continue
    const file = join(
      directory,
      formatBundleName(basename(repositoryPath), environment.clock.now(), remains.local),
    )
    await saveRemains(call, remains, file)
    terminal.out(`Saved and verified: ${file}`)
    terminal.out(`  to restore it: ${renderRestoreHint(remains, file, remoteName ?? 'origin')}`)
  }
  for (const remains of all) await removeRemains(call, remains)
}

// Files in the work tree

interface OwnFiles {
  specs: string[]
  workflows: string[]
  /** AGENTS.md without winnow's lines; null if it has none. */
  agents: string | null
}

function listOwnFiles(topLevel: string | null): OwnFiles {
  if (topLevel === null) return { specs: [], workflows: [], agents: null }
  const folder = join(topLevel, '.winnow')
  // The target of a link is not winnow's.
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

/** A file with the same name that does not mention winnow belongs to a person. */
function isOwnFile(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
  return /\bwinnow\b/i.test(readFileSync(path, 'utf8'))
}

async function removeOwnFiles(topLevel: string, { specs, workflows, agents }: OwnFiles): Promise<void> {
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

function describeOwnFiles({ specs, workflows, agents }: OwnFiles): string[] {
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
