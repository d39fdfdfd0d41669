import { statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { formatCount } from '../decide/wording.ts'
import { endLeftoversBelow, findRegisteredRun } from '../engine/presence.ts'
import { UserError } from '../errors.ts'
import { type Checkout, inspectCheckout } from '../git/checkout.ts'
import { removeAll } from '../measure/remove.ts'
import { toShortRef } from '../model/refs.ts'
import type { Call } from './call.ts'
import { describeMachineLeftovers } from './left-on-machine.ts'
import { type OwnFiles, listOwnFiles, describeOwnFiles, removeOwnFiles } from './own-files.ts'
import { type Remains, findRemains, requireNotCheckedOut } from './remains.ts'
import { formatBundleName, removeRemains, renderRestoreHint, saveRemains } from './removal.ts'
import type { Verb } from './verb.ts'

export const uninstallVerb: Verb = {
  name: 'uninstall',
  group: 'more',
  summary: 'list and remove everything winnow made, after saving it in one file',
  access: 'apart',
  arguments: [],
  options: [
    {
      name: 'purge',
      summary: 'remove the files in .winnow, the workflows and the lines in AGENTS.md as well',
    },
    { name: 'save', value: 'dir', summary: 'where the saved file goes; else this directory' },
    { name: 'dry-run', summary: 'only list, and remove nothing' },
  ],
  examples: ['winnow uninstall --dry-run', 'winnow uninstall', 'winnow uninstall --purge --save ~/backup'],
  exits: { 2: 'a run is under way, or a branch is checked out: nothing was removed' },
  run: runUninstall,
}

async function runUninstall(call: Call): Promise<number> {
  const { around, given, terminal } = call
  const checkout = await inspectCheckout(around.directory, around.env)
  const all = await findAllRemains(call, checkout)
  const files = listOwnFiles(checkout.topLevel)
  const purge = given.flag('purge')
  const dry = given.flag('dry-run')
  const listed = renderRemovalList(all, files, purge)
  try {
    if (listed.length === 0) terminal.out('Nothing to remove.')
    else terminal.out(dry ? 'Nothing was removed. It would be:' : 'To remove:')
    for (const line of listed) terminal.out(`  ${line}`)
    for (const line of [...renderKeptFiles(all, files, purge), ...describeMachineLeftovers()])
      terminal.out(line)
    if (listed.length === 0 || dry) return 0
    for (const remains of all) await requireIdle(call, remains)
    await removeEverything(call, checkout, all)
    if (purge && checkout.topLevel !== null) await removeOwnFiles(checkout.topLevel, files)
    terminal.out(
      purge && describeOwnFiles(files).length > 0
        ? 'Removed. The files are gone from the work tree; commit that.'
        : 'Removed.',
    )
    return 0
  } finally {
    // Looking made these; who only looked leaves nothing behind.
    for (const { hadDataDir, dataDir } of all) if (!hadDataDir) await removeAll(dataDir)
  }
}

/** The remote, and the repository itself: campaigns may have been run without the remote as well. */
async function findAllRemains(call: Call, { remotes }: Checkout): Promise<Remains[]> {
  const { remote } = call.around
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
    ...all.flatMap(({ left }) => left.map(name => `Kept: branch ${name}, which no ledger of winnow claims`)),
  ]
}

/** What a living process writes after this would be the first thing that is left behind. */
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
  const { around, given, terminal } = call
  const directory = resolve(around.directory, given.text('save') ?? '.')
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UserError(`there is no directory ${directory}; nothing was removed`, {
      fix: 'make it, or give another with --save',
    })
  }
  const place = checkout.topLevel ?? dirname(checkout.commonDir)
  const remoteName =
    around.remote ?? checkout.remotes.find(({ name }) => name === 'origin')?.name ?? checkout.remotes[0]?.name
  for (const remains of all) {
    if (remains.branches.length === 0) continue
    const file = join(directory, formatBundleName(basename(place), around.clock.now(), remains.local))
    await saveRemains(call, remains, file)
    terminal.out(`Saved and verified: ${file}`)
    terminal.out(`  to bring it back: ${renderRestoreHint(remains, file, remoteName ?? 'origin')}`)
  }
  for (const remains of all) await removeRemains(call, remains)
}
