import { resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { isPrefix } from './allowed-ref.ts'
import {
  createBareRepository,
  readRepositoryFormat,
  getScratchDir,
  removeAbandonedFiles,
} from './bare-repository.ts'
import { requireGit } from './git-version.ts'
import { type History, createHistory } from './history-queries.ts'
import {
  type Isolation,
  buildLocalIsolation,
  buildNetworkIsolation,
  buildOwnerIsolation,
} from './isolation.ts'
import { type Materializer, createMaterializer } from './materialize.ts'
import { computeEmptyTreeOid, type ObjectFormat, type Oid, getZeroOid } from './object-format.ts'
import { ObjectReader } from './object-reader.ts'
import { type ObjectStore, createObjectStore } from './object-store.ts'
import { applyPatch, type PatchResult } from './apply-patch.ts'
import { type LocalRemote, openLocalRemote } from './neighbour.ts'
import { isScattered, buildRepackTask } from './pack-up.ts'
import { createPatch } from './patch-between.ts'
import { type Remote, createRemote } from './remote.ts'
import { createNetworkRunner } from './network-runner.ts'
import { isNetwork, isPath } from './remote-failure.ts'
import { toLocalPath, detectRemoteFormat } from './remote-format.ts'
import { type RemoteLimits, readSilenceLimit } from './remote-limits.ts'
import { createGitRunner } from './runner.ts'
import { type ShellRunner, createShellRunner } from './shell-runner.ts'
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
  await requireGit(createGitRunner(buildLocalIsolation('/', env)))
  let format = await readRepositoryFormat(dir)
  if (format !== null) await removeAbandonedFiles(getScratchDir(dir), '')
  else {
    format = await detectRemoteFormat(
      remote,
      createNetworkRunner(buildNetworkIsolation('/', env), readRemoteLimits(options)),
    )
    await createBareRepository(dir, format, env)
  }
  return buildRepository({ ...options, dir, remote }, format)
}

function buildRepository(options: OpenOptions & { dir: string }, format: ObjectFormat): Repository {
  const { dir } = options
  const env = options.env ?? {}
  const isolation = withGitDir(buildLocalIsolation(dir, env), dir)
  const local = createShellRunner(isolation)
  const network = createRemoteRunner(options, withGitDir(buildNetworkIsolation(dir, env), dir))
  const bringer =
    options.workflowsEnv &&
    createNetworkRunner(
      withGitDir(buildNetworkIsolation(dir, options.workflowsEnv), dir),
      readRemoteLimits(options),
    )
  const reader = new ObjectReader(isolation)
  const differ = new TreeDiffer(isolation)
  const store = createObjectStore(dir, format, reader)
  const outside = createGitRunner(buildLocalIsolation(dir, env))
  const neighbour = findLocalRemote(options)
  const history = createHistory({ dir, store, runner: local, differ })
  return {
    dir,
    objectFormat: format,
    emptyTree: computeEmptyTreeOid(format),
    zero: getZeroOid(format),
    ...store,
    ...history,
    ...createMaterializer(store),
    ...createRemote(
      { ...options, format, say: options.say ?? (() => undefined) },
      { network, local: outside, neighbour, bringer: bringer ?? null },
    ),
    applyPatch: (tree, patch) => applyPatch({ dir, format, runner: local, store }, tree, patch),
    patchBetween: async (from, to) =>
      createPatch({ dir, runner: local, store }, { from, to, entries: await history.diff(from, to) }),
    isScattered: async () => isScattered(dir) || ((await neighbour?.isScattered()) ?? false),
    async packUp() {
      if (isScattered(dir)) await local.run(buildRepackTask(dir))
      if ((await neighbour?.isScattered()) === true) await neighbour?.packUp()
    },
    async close() {
      await Promise.all([reader.close(), differ.close(), local.close(), network.close()])
    },
  }
}

function withGitDir(isolation: Isolation, dir: string): Isolation {
  return { ...isolation, env: { ...isolation.env, GIT_DIR: dir } }
}

function findLocalRemote({ dir, remote, local, env = {} }: OpenOptions): LocalRemote | null {
  const path = local ? null : toLocalPath(remote)
  return path === null ? null : openLocalRemote(path, createGitRunner(buildOwnerIsolation(dir, env)))
}

/** A server may leave a connection open behind git, which a shell that stays must not inherit. */
function createRemoteRunner(options: OpenOptions, isolation: Isolation): ShellRunner {
  const limits = readRemoteLimits(options)
  if (!isNetwork(options.remote)) return createShellRunner(isolation, limits)
  return { ...createNetworkRunner(isolation, limits), close: async () => undefined }
}

function readRemoteLimits({ env = {}, interrupt }: OpenOptions): RemoteLimits {
  return { silenceSeconds: readSilenceLimit(env), stop: interrupt ?? null }
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
