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
import { createGitRunner, type GitRunner, type RemoteLimits, readSilenceLimit, requireGit } from './runner.ts'
import { createNetworkRunner, createShellRunner } from './shell-runner.ts'
import { createSigner, type Signer } from './sign.ts'
import { listWorktrees, type Worktree } from './work-tree.ts'

export interface OpenOptions {
  /** winnow's own bare repository. Created if missing. */
  dir: string
  /** URL or path. */
  remote: string
  /** Prefix of every branch that winnow writes, for example 'optimize'. */
  prefix: string
  /** The remote is the user's own repository. */
  local: boolean
  /** PATH, and for commands that contact the remote also the other variables (credentials, ssh, proxy). */
  env?: Record<string, string>
  /** Environment for pushes with workflow files, if `env` lacks the permission for them. */
  workflowsEnv?: Record<string, string>
  /** Aborted when this process should end. Commands that contact the remote end soon after. */
  interrupt?: AbortSignal
  say?: (line: string) => void
  /** The user's repository, whose git configuration names signing keys and allowed signers. */
  configDir?: string
}

export interface Repository extends ObjectStore, History, Materializer, Remote {
  readonly signer: Signer
  readonly dir: string
  readonly objectFormat: ObjectFormat
  readonly emptyTree: Oid
  readonly zero: Oid
  /** Returns the tree with a unified diff applied, with a three-way merge where it does not apply directly. */
  applyPatch(tree: Oid, patch: string): Promise<PatchResult>
  /** Returns a binary-safe patch that turns the first tree into the second. */
  patchBetween(from: Oid, to: Oid): Promise<string>
  isScattered(): Promise<boolean>
  /** Repacks without dropping objects. Must not run next to a timed execution. */
  packUp(): Promise<void>
  close(): Promise<void>
}

/** Invariant 12: winnow works in its own repository and never in the user's checkout. */
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
  const limits = readRemoteLimits(options)
  const network = withGitDir(buildNetworkIsolation(dir, env), dir)
  const nearRemote = isNetwork(options.remote) ? null : createShellRunner(network, limits)
  const workflowNetwork =
    options.workflowsEnv &&
    createNetworkRunner(withGitDir(buildNetworkIsolation(dir, options.workflowsEnv), dir), limits)
  const reader = new ObjectReader(isolation)
  const differ = new TreeDiffer(isolation)
  const store = createObjectStore(dir, format, reader)
  const oneShot = createGitRunner(buildLocalIsolation(dir, env))
  const localRemote = findLocalRemote(options)
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
      {
        network: nearRemote ?? createNetworkRunner(network, limits),
        local: oneShot,
        localRemote,
        workflowNetwork: workflowNetwork ?? null,
      },
    ),
    signer: createSigner({ dir, configDir: options.configDir ?? null, env }),
    applyPatch: (tree, patch) => applyPatch({ dir, runner: local }, tree, patch),
    patchBetween: async (from, to) =>
      createPatch({ dir, runner: local, store }, { from, to, entries: await history.diff(from, to) }),
    isScattered: async () => isScattered(dir) || ((await localRemote?.isScattered()) ?? false),
    async packUp() {
      if (isScattered(dir)) await local.run(buildRepackTask(dir))
      if ((await localRemote?.isScattered()) === true) await localRemote?.packUp()
    },
    async close() {
      await Promise.all([reader.close(), differ.close(), local.close(), nearRemote?.close()])
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

function readRemoteLimits({ env = {}, interrupt }: OpenOptions): RemoteLimits {
  return { silenceSeconds: readSilenceLimit(env), stop: interrupt ?? null }
}

function checkOptions({ remote, prefix }: OpenOptions): void {
  if (remote === '' || remote.startsWith('-') || /[\0\n]/.test(remote)) {
    throw new UserError(`${JSON.stringify(remote)} is not a remote`, { fix: 'use a URL or a path' })
  }
  if (!isPrefix(prefix)) {
    throw new UserError(`${JSON.stringify(prefix)} is not a valid branch prefix`, {
      fix: "use letters, digits, '-', '_' or '.', for example 'optimize'",
    })
  }
}

interface Remote extends Fetcher {
  remoteRefs(patterns?: readonly string[]): Promise<RemoteRefs>
  /** Returns the tip at the last fetch or push from here. The remote may have moved since. */
  readTrackedTip(ref: string): Oid | null
  dropTrackingRef(ref: string): void
  /** The only push: leased, atomic, and limited to winnow's own branches. */
  push(updates: readonly RefUpdate[], how?: PushOptions): Promise<PushResult>
  /** True if there is a separate token for pushes with workflow files. */
  readonly canPushWorkflows: boolean
  /** The user's worktrees that have one of these refs checked out; [] for a remote repository. */
  worktreesHolding(refs: readonly string[]): Promise<(Worktree & { branch: string })[]>
}

interface PushOptions {
  /** Pushes with the token for workflow files, if there is one. */
  bringsWorkflows?: boolean
}

interface RemoteAccess {
  network: GitRunner
  workflowNetwork: GitRunner | null
  local: GitRunner
  localRemote: LocalRemote | null
}

function createRemote(
  context: RemoteContext,
  { network, workflowNetwork, local, localRemote }: RemoteAccess,
): Remote {
  const connection = createRemoteConnection(context, network)
  const { run } = connection
  const remote: Remote = {
    remoteRefs: connection.refs,
    readTrackedTip: ref => readTrackedTip(context.dir, ref),
    dropTrackingRef: ref => dropTrackingRef(context.dir, ref),
    ...createFetcher(connection),
    canPushWorkflows: workflowNetwork !== null,
    async push(updates, { bringsWorkflows = false } = {}) {
      if (updates.length === 0) return { ok: true }
      requireOwnRefs(context.prefix, updates)
      const task = buildPushTask({
        ...context,
        updates,
        asPack: (await localRemote?.canKeepPacks()) ?? false,
      })
      const runner = bringsWorkflows ? workflowNetwork : network
      if (runner === null) throw new Error('no token may push workflow files: check canPushWorkflows first')
      const action = bringsWorkflows ? PUSH_AS_APP : PUSH
      let answer = await run(action, task, runner)
      if (context.local && (await removeStaleLock(answer.output.stderr, updates))) {
        answer = await run(action, task, runner)
      }
      const result = classifyPush(answer, updates)
      if (result === null)
        throw explainRemoteFailure(action, context.remote, context.dir, answer.output.stderr)
      if (result.ok) trackPushedRefs(context.dir, updates)
      return result.ok ? result : explain(result, updates)
    },
    async worktreesHolding(refs) {
      const path = context.local ? toLocalPath(context.remote) : null
      if (path === null) return []
      const worktrees = await run('list the worktrees of', listWorktrees(path), local)
      return worktrees.flatMap(({ path, branch }) =>
        branch !== null && refs.includes(branch) ? [{ path, branch }] : [],
      )
    },
  }

  /** Looks up what the remote's message omits: the worktree, or whether a ref moved after all. */
  async function explain(
    result: PushResult & { ok: false },
    updates: readonly RefUpdate[],
  ): Promise<PushResult> {
    if (result.reason === 'checked-out') {
      const [holder] = await remote.worktreesHolding([result.ref])
      return { ...result, worktree: holder?.path ?? context.remote }
    }
    if (result.reason === 'lease' || result.rule !== undefined) return result
    const { refs } = await connection.refs(updates.map(({ ref }) => ref))
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
