import { resolve } from 'node:path'
import { UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import {
  createBareRepository,
  getScratchDir,
  readRepositoryFormat,
  removeAbandonedFiles,
} from './bare-repository.ts'
import { TreeDiffer } from './diff.ts'
import { createFetcher, dropTrackingRef, type Fetcher, readTrackedTip, writeTrackingRef } from './fetch.ts'
import { createHistory, type History } from './history.ts'
import {
  buildLocalIsolation,
  buildNetworkIsolation,
  buildOwnerIsolation,
  type Isolation,
} from './isolation.ts'
import { createMaterializer, type Materializer } from './materialize.ts'
import { computeEmptyTreeOid, getZeroOid, type ObjectFormat } from './object-format.ts'
import { ObjectReader } from './object-reader.ts'
import { createObjectStore, type ObjectStore } from './objects.ts'
import { buildRepackTask, isScattered, type LocalRemote, openLocalRemote } from './packs.ts'
import { applyPatch, createPatch, type PatchResult } from './patch.ts'
import {
  buildPushTask,
  classifyPush,
  isPrefix,
  type PushResult,
  type RefUpdate,
  removeStaleLock,
  requireOwnRefs,
} from './push.ts'
import {
  createRemoteConnection,
  detectRemoteFormat,
  explainRemoteFailure,
  isNetwork,
  isPath,
  PUSH,
  PUSH_AS_APP,
  type RemoteContext,
  type RemoteRefs,
  toLocalPath,
} from './remote-connection.ts'
import {
  createGitRunner,
  createNetworkRunner,
  type GitRunner,
  type RemoteLimits,
  readSilenceLimit,
  requireGit,
} from './runner.ts'
import { createShellRunner, type ShellRunner } from './shell-runner.ts'
import { listWorktrees, type Worktree } from './work-tree.ts'

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

interface Remote extends Fetcher {
  remoteRefs(patterns?: readonly string[]): Promise<RemoteRefs>
  /** where this ref was when it was last fetched or pushed from here; the remote may have moved it since */
  readTrackedTip(ref: string): Oid | null
  /** forgets that */
  dropTrackingRef(ref: string): void
  /** the one push: leased, atomic, and of winnow's own branches only */
  push(updates: readonly RefUpdate[], how?: PushOptions): Promise<PushResult>
  /** there is a token of its own for pushes that bring workflow files */
  readonly canPushWorkflows: boolean
  /** the user's worktrees, main one included, that have one of these refs checked out; [] for a real remote */
  worktreesHolding(refs: readonly string[]): Promise<(Worktree & { branch: string })[]>
}

interface PushOptions {
  /** with the token that may, where there is one */
  bringsWorkflows?: boolean
}

/** By whom a remote is reached, and the remote itself where it is somebody's repository on this machine. */
interface RemoteAccess {
  network: GitRunner
  bringer: GitRunner | null
  local: GitRunner
  neighbour: LocalRemote | null
}

function createRemote(place: RemoteContext, { network, bringer, local, neighbour }: RemoteAccess): Remote {
  const line = createRemoteConnection(place, network)
  const { ask } = line
  const remote: Remote = {
    remoteRefs: line.refs,
    readTrackedTip: ref => readTrackedTip(place.dir, ref),
    dropTrackingRef: ref => dropTrackingRef(place.dir, ref),
    ...createFetcher(line),
    canPushWorkflows: bringer !== null,
    async push(updates, { bringsWorkflows = false } = {}) {
      if (updates.length === 0) return { ok: true }
      requireOwnRefs(place.prefix, updates)
      const task = buildPushTask({ ...place, updates, asPack: (await neighbour?.canKeepPacks()) ?? false })
      const by = bringsWorkflows ? bringer : network
      if (by === null) throw new Error('nobody was given a token that may bring workflow files')
      const doing = bringsWorkflows ? PUSH_AS_APP : PUSH
      let answer = await ask(doing, task, by)
      if (place.local && (await removeStaleLock(answer.output.stderr, updates))) {
        answer = await ask(doing, task, by)
      }
      const result = classifyPush(answer, updates)
      if (result === null) throw explainRemoteFailure(doing, place.remote, place.dir, answer.output.stderr)
      if (result.ok) trackPushedRefs(place.dir, updates)
      return result.ok ? result : explain(result, updates)
    },
    async worktreesHolding(refs) {
      const path = place.local ? toLocalPath(place.remote) : null
      if (path === null) return []
      const worktrees = await ask('list the worktrees of', listWorktrees(path), local)
      return worktrees.flatMap(({ path, branch }) =>
        branch !== null && refs.includes(branch) ? [{ path, branch }] : [],
      )
    },
  }

  /** What the remote's words leave open is looked up: which worktree, or whether a ref has moved after all. */
  async function explain(
    result: PushResult & { ok: false },
    updates: readonly RefUpdate[],
  ): Promise<PushResult> {
    if (result.reason === 'checked-out') {
      const [holder] = await remote.worktreesHolding([result.ref])
      return { ...result, worktree: holder?.path ?? place.remote }
    }
    if (result.reason === 'lease' || result.rule !== undefined) return result
    const { refs } = await line.refs(updates.map(({ ref }) => ref))
    const moved = updates.filter(({ ref, from }) => (refs.get(ref) ?? null) !== from)
    return moved.length === 0 ? result : { ok: false, reason: 'lease', refs: moved.map(({ ref }) => ref) }
  }

  return remote
}

function trackPushedRefs(dir: string, updates: readonly RefUpdate[]): void {
  for (const { ref, to } of updates) {
    if (to === null) dropTrackingRef(dir, ref)
    else writeTrackingRef(dir, { ref, oid: to })
  }
}
