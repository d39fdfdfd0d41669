import { resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { isPrefix } from './allowed-ref.ts'
import { createBareRepository, existingFormat, scratchOf, sweepAbandoned } from './bare-repository.ts'
import { requireGit } from './git-version.ts'
import { type History, historyOf } from './history-queries.ts'
import { type Isolation, localIsolation, networkIsolation, ownerIsolation } from './isolation.ts'
import { type Materializer, materializer } from './materialize.ts'
import { emptyTreeOid, type ObjectFormat, type Oid, zeroOid } from './object-format.ts'
import { ObjectReader } from './object-reader.ts'
import { type ObjectStore, objectStore } from './object-store.ts'
import { applyPatch, type PatchResult } from './apply-patch.ts'
import { type Neighbour, neighbourAt } from './neighbour.ts'
import { isScattered, packUpTask } from './pack-up.ts'
import { patchBetween } from './patch-between.ts'
import { type Remote, remoteOf } from './remote.ts'
import { networkRunner } from './network-runner.ts'
import { isNetwork, isPath } from './remote-failure.ts'
import { localPath, remoteFormat } from './remote-format.ts'
import { type RemoteLimits, silenceSecondsFrom } from './remote-limits.ts'
import { gitRunner } from './runner.ts'
import { type ShellRunner, shellRunner } from './shell-runner.ts'
import { TreeDiffer } from './tree-differ.ts'

export interface OpenOptions {
  /** winnow's own bare repository, created when it does not exist */
  dir: string
  /** URL or path */
  remote: string
  /** of every branch winnow writes: 'optimize' */
  prefix: string
  /** the remote is the user's repository itself */
  local: boolean
  /** PATH, and for commands that speak to the remote everything else (credentials, ssh, proxy) */
  env?: Record<string, string>
  /** The same for pushes that bring workflow files, where the one above may not make them */
  workflowsEnv?: Record<string, string>
  /** This process is to end: commands that speak to the remote end soon after. */
  interrupt?: AbortSignal
  /** For what a person should hear of while it goes on. */
  say?: (line: string) => void
}

export interface Repository extends ObjectStore, History, Materializer, Remote {
  readonly dir: string
  readonly objectFormat: ObjectFormat
  readonly emptyTree: Oid
  readonly zero: Oid
  /** the tree with a unified diff applied, three-way where it does not apply as it is */
  applyPatch(tree: Oid, patch: string): Promise<PatchResult>
  /** by which two trees differ, in bytes of any kind: applied to the first it gives the second */
  patchBetween(from: Oid, to: Oid): Promise<string>
  /** whether packing up is worth it */
  isScattered(): Promise<boolean>
  /** puts scattered objects together and drops none; never to be done beside anything timed */
  packUp(): Promise<void>
  close(): Promise<void>
}

/** Invariant 12: the user's checkout is never the place of work, this repository of our own is. */
export async function openRepository(options: OpenOptions): Promise<Repository> {
  checkOptions(options)
  const dir = resolve(options.dir)
  const remote = isPath(options.remote) ? resolve(options.remote) : options.remote
  const env = options.env ?? {}
  await requireGit(gitRunner(localIsolation('/', env)))
  let format = await existingFormat(dir)
  if (format !== null) await sweepAbandoned(scratchOf(dir), '')
  else {
    format = await remoteFormat(remote, networkRunner(networkIsolation('/', env), limitsOf(options)))
    await createBareRepository(dir, format, env)
  }
  return assemble({ ...options, dir, remote }, format)
}

function assemble(options: OpenOptions & { dir: string }, format: ObjectFormat): Repository {
  const { dir } = options
  const env = options.env ?? {}
  const isolation = within(localIsolation(dir, env), dir)
  const local = shellRunner(isolation)
  const network = remoteRunner(options, within(networkIsolation(dir, env), dir))
  const bringer =
    options.workflowsEnv &&
    networkRunner(within(networkIsolation(dir, options.workflowsEnv), dir), limitsOf(options))
  const reader = new ObjectReader(isolation)
  const differ = new TreeDiffer(isolation)
  const store = objectStore(dir, format, reader)
  const outside = gitRunner(localIsolation(dir, env))
  const neighbour = neighbourOf(options)
  const history = historyOf({ dir, store, runner: local, differ })
  return {
    dir,
    objectFormat: format,
    emptyTree: emptyTreeOid(format),
    zero: zeroOid(format),
    ...store,
    ...history,
    ...materializer(store),
    ...remoteOf(
      { ...options, format, say: options.say ?? (() => undefined) },
      { network, local: outside, neighbour, bringer: bringer ?? null },
    ),
    applyPatch: (tree, patch) => applyPatch({ dir, format, runner: local, store }, tree, patch),
    patchBetween: async (from, to) =>
      patchBetween({ dir, runner: local, store }, { from, to, entries: await history.diff(from, to) }),
    isScattered: async () => isScattered(dir) || ((await neighbour?.isScattered()) ?? false),
    async packUp() {
      if (isScattered(dir)) await local.run(packUpTask(dir))
      if ((await neighbour?.isScattered()) === true) await neighbour?.packUp()
    },
    async close() {
      await Promise.all([reader.close(), differ.close(), local.close(), network.close()])
    },
  }
}

function within(isolation: Isolation, dir: string): Isolation {
  return { ...isolation, env: { ...isolation.env, GIT_DIR: dir } }
}

function neighbourOf({ dir, remote, local, env = {} }: OpenOptions): Neighbour | null {
  const path = local ? null : localPath(remote)
  return path === null ? null : neighbourAt(path, gitRunner(ownerIsolation(dir, env)))
}

/** A server may leave a connection open behind git, which a shell that stays must not inherit. */
function remoteRunner(options: OpenOptions, isolation: Isolation): ShellRunner {
  const limits = limitsOf(options)
  if (!isNetwork(options.remote)) return shellRunner(isolation, limits)
  return { ...networkRunner(isolation, limits), close: async () => undefined }
}

function limitsOf({ env = {}, interrupt }: OpenOptions): RemoteLimits {
  return { silenceSeconds: silenceSecondsFrom(env), stop: interrupt ?? null }
}

function checkOptions({ remote, prefix }: OpenOptions): void {
  if (remote === '' || remote.startsWith('-') || /[\0\n]/.test(remote)) {
    throw new UserError(`${JSON.stringify(remote)} is not a remote`, { fix: 'give a URL or a path' })
  }
  if (!isPrefix(prefix)) {
    throw new UserError(`${JSON.stringify(prefix)} cannot be the prefix of branches`, {
      fix: "use letters, digits, '-', '_' or '.', for example 'optimize'",
    })
  }
}
