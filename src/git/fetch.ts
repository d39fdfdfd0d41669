import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConflictError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { getScratchDir, readOptional } from './bare-repository.ts'
import { explainRemoteFailure, type RemoteConnection } from './remote-connection.ts'
import type { GitOutput, GitTask } from './runner.ts'

export interface Fetcher {
  /** brings these objects with their full history, and holds them; what is held already costs nothing */
  fetch(tips: readonly RemoteTip[]): Promise<void>
  /** brings one commit and its history from the user's own repository, which is only read */
  fetchFrom(path: string, oid: string): Promise<void>
}

const UNADVERTISED = /not our ref|unadvertised object/

export function createFetcher(line: RemoteConnection): Fetcher {
  const { place, ask } = line

  /** For servers that give only what they advertise: a ref that moved meanwhile is a lost race. */
  async function fetchAdvertised(tips: readonly RemoteTip[]): Promise<void> {
    await expectUnmoved(tips)
    const output = await ask('fetch from', buildFetchTask(place, tips, 'ref'))
    if (output.exitCode !== 0)
      throw explainRemoteFailure('fetch from', place.remote, place.dir, output.stderr)
    await expectUnmoved(tips)
  }

  async function expectUnmoved(tips: readonly RemoteTip[]): Promise<void> {
    const { refs } = await line.refs(tips.map(({ ref }) => ref))
    const moved = tips.filter(({ ref, oid }) => refs.get(ref) !== oid).map(({ ref }) => ref)
    if (moved.length === 0) return
    throw new ConflictError(`the remote moved ${moved.join(', ')} while it was fetched`, moved)
  }

  return {
    async fetch(tips) {
      for (const { oid } of tips) line.checkFormat(oid)
      const missing = tips.filter(tip => !isTracked(place.dir, tip))
      if (missing.length === 0) return
      const output = await ask('fetch from', buildFetchTask(place, missing, 'oid'))
      if (UNADVERTISED.test(output.stderr)) await fetchAdvertised(missing)
      else if (output.exitCode !== 0)
        throw explainRemoteFailure('fetch from', place.remote, place.dir, output.stderr)
      for (const tip of missing) writeTrackingRef(place.dir, tip)
    },
    async fetchFrom(path, oid) {
      const tip = { ref: `submitted/${oid}`, oid }
      if (isTracked(place.dir, tip)) return
      const output = await ask('fetch from', buildFetchTask({ dir: place.dir, remote: path }, [tip], 'oid'))
      if (output.exitCode !== 0) throw explainRemoteFailure('fetch from', path, place.dir, output.stderr)
      writeTrackingRef(place.dir, tip)
    },
  }
}

export interface RemoteTip {
  ref: string
  oid: Oid
}

/**
 * Where a fetched tip is held. The name is a hash: it is renewed when the remote ref moves, and never
 * collides as `a` and `a/b` would.
 */
function toTrackingRef(ref: string): string {
  return `refs/winnow/remote/${createHash('sha256').update(ref).digest('hex').slice(0, 40)}`
}

/**
 * What a shallow repository lacked is asked for again each time: its owner may have completed it. FETCH_HEAD
 * is written, unused, because git then prints, and the runner waits 50 ms for a command that does not.
 */
export function buildFetchTask(
  place: { dir: string; remote: string },
  tips: readonly RemoteTip[],
  by: 'oid' | 'ref',
): GitTask<GitOutput> {
  // Its progress shows that the remote still sends.
  const quiet = ['--progress', '--no-tags', '--no-recurse-submodules', '--no-auto-maintenance']
  const shallow = isShallow(place.dir) ? ['--unshallow'] : []
  return {
    args: [
      'fetch',
      ...quiet,
      '--update-shallow',
      ...shallow,
      '--',
      place.remote,
      ...tips.map(tip => tip[by]),
    ],
    answers: [1, 128],
    parse: output => output,
  }
}

/** Where history was cut off, parents are named that are not there. */
export function isShallow(dir: string): boolean {
  return existsSync(join(dir, 'shallow'))
}

/** Where the remote ref was when it was last fetched or pushed; null where it never was, or where we deleted it. */
export function readTrackedTip(dir: string, ref: string): Oid | null {
  return readOptional(join(dir, toTrackingRef(ref)))?.trim() ?? null
}

/** The remote ref was deleted on purpose: its last tip is not offered any more. */
export function dropTrackingRef(dir: string, ref: string): void {
  rmSync(join(dir, toTrackingRef(ref)), { force: true })
}

/** A held tip is complete: it is held only after git has checked everything reachable from it. */
function isTracked(dir: string, tip: RemoteTip): boolean {
  return readTrackedTip(dir, tip.ref) === tip.oid
}

/** Written here and not by git, whose lock file would stay behind when it is killed. */
export function writeTrackingRef(dir: string, tip: RemoteTip): void {
  const file = join(dir, toTrackingRef(tip.ref))
  mkdirSync(dirname(file), { recursive: true })
  const temporary = join(getScratchDir(dir), `held-${randomBytes(8).toString('hex')}`)
  writeFileSync(temporary, `${tip.oid}\n`)
  renameSync(temporary, file)
}
