import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConflictError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { getScratchDir, readOptional } from './bare-repository.ts'
import { isOid } from './object-format.ts'
import { explainRemoteFailure, type RemoteConnection, type RemoteRefs } from './remote-connection.ts'
import { type GitOutput, type GitTask, splitArguments } from './runner.ts'

export interface Fetcher {
  /** Fetches these commits with their history and keeps them reachable. A tracked tip costs nothing. */
  fetch(tips: readonly RemoteTip[]): Promise<void>
  /** Fetches one commit and its history from the user's own repository, which is only read. */
  fetchFrom(path: string, oid: string): Promise<void>
}

export interface RemoteTip {
  ref: string
  oid: Oid
}

/** Fetches the branch and returns its commit; null if the remote does not have it. */
export async function fetchRef(
  repository: Fetcher & { remoteRefs(patterns: readonly string[]): Promise<RemoteRefs> },
  ref: string,
): Promise<Oid | null> {
  const oid = (await repository.remoteRefs([ref])).refs.get(ref)
  if (oid === undefined) return null
  await repository.fetch([{ ref, oid }])
  return oid
}

const UNADVERTISED = /not our ref|unadvertised object/

export function createFetcher(connection: RemoteConnection): Fetcher {
  const { context, run } = connection

  /** For servers that serve only advertised tips. A ref that moved meanwhile is a lost race. */
  async function fetchAdvertised(tips: readonly RemoteTip[]): Promise<void> {
    await expectUnmoved(tips)
    const output = await run('fetch from', buildFetchTask(context, tips, 'ref'))
    if (output.exitCode !== 0)
      throw explainRemoteFailure('fetch from', context.remote, context.dir, output.stderr)
    await expectUnmoved(tips)
  }

  async function fetchMissing(tips: readonly RemoteTip[]): Promise<void> {
    const output = await run('fetch from', buildFetchTask(context, tips, 'oid'))
    if (UNADVERTISED.test(output.stderr)) await fetchAdvertised(tips)
    else if (output.exitCode !== 0)
      throw explainRemoteFailure('fetch from', context.remote, context.dir, output.stderr)
    for (const tip of tips) writeTrackingRef(context.dir, tip)
  }

  async function expectUnmoved(tips: readonly RemoteTip[]): Promise<void> {
    const { refs } = await connection.refs(tips.map(({ ref }) => ref))
    const moved = tips.filter(({ ref, oid }) => refs.get(ref) !== oid).map(({ ref }) => ref)
    if (moved.length === 0) return
    throw new ConflictError(`the remote moved ${moved.join(', ')} while it was fetched`, moved)
  }

  return {
    async fetch(tips) {
      for (const { oid } of tips) connection.checkFormat(oid)
      const missing = tips.filter(tip => !isTracked(context.dir, tip))
      for (const part of splitArguments(missing, ({ ref, oid }) => `${ref} ${oid}`)) await fetchMissing(part)
    },
    async fetchFrom(path, oid) {
      const tip = { ref: `submitted/${oid}`, oid }
      if (isTracked(context.dir, tip)) return
      const output = await run('fetch from', buildFetchTask({ dir: context.dir, remote: path }, [tip], 'oid'))
      if (output.exitCode !== 0) throw explainRemoteFailure('fetch from', path, context.dir, output.stderr)
      writeTrackingRef(context.dir, tip)
    },
  }
}

/** Requests missing history of a shallow repository again each time, because its owner may have completed it. */
export function buildFetchTask(
  context: { dir: string; remote: string },
  tips: readonly RemoteTip[],
  by: 'oid' | 'ref',
): GitTask<GitOutput> {
  // The progress output shows that the remote is still sending.
  const quiet = [
    '--progress',
    '--no-tags',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    '--no-write-fetch-head',
  ]
  const shallow = isShallow(context.dir) ? ['--unshallow'] : []
  return {
    args: [
      'fetch',
      ...quiet,
      '--update-shallow',
      ...shallow,
      '--',
      context.remote,
      ...tips.map(tip => tip[by]),
    ],
    answers: [1, 128],
    parse: output => output,
  }
}

/** In a shallow repository, commits name parents that are missing. */
export function isShallow(dir: string): boolean {
  return existsSync(join(dir, 'shallow'))
}

// Tracking refs

/** The name is a hash, so that refs such as `a` and `a/b` do not collide. */
function toTrackingRef(ref: string): string {
  return `refs/winnow/remote/${createHash('sha256').update(ref).digest('hex').slice(0, 40)}`
}

/** Returns the tip at the last fetch or push; null if there was none, or if winnow deleted the ref. */
export function readTrackedTip(dir: string, ref: string): Oid | null {
  const tip = readOptional(join(dir, toTrackingRef(ref)))?.trim() ?? ''
  // A power cut may leave an empty file.
  return isOid(tip) ? tip : null
}

/** Call this after deleting the remote ref, so that its last tip is not used again. */
export function dropTrackingRef(dir: string, ref: string): void {
  rmSync(join(dir, toTrackingRef(ref)), { force: true })
}

/** A tracked tip is complete: git checked everything reachable from it before the tracking ref was written. */
function isTracked(dir: string, tip: RemoteTip): boolean {
  return readTrackedTip(dir, tip.ref) === tip.oid
}

/** Writes the file without git: a killed git process would leave a lock file. */
export function writeTrackingRef(dir: string, tip: RemoteTip): void {
  const file = join(dir, toTrackingRef(tip.ref))
  mkdirSync(dirname(file), { recursive: true })
  const temporary = join(getScratchDir(dir), `held-${randomBytes(8).toString('hex')}`)
  writeFileSync(temporary, `${tip.oid}\n`)
  renameSync(temporary, file)
}
