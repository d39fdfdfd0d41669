import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getScratchDir } from './bare-repository.ts'
import type { Oid } from './object-format.ts'
import { readOptional } from './optional-file.ts'
import type { GitOutput, GitTask } from './runner.ts'

export interface RemoteTip {
  ref: string
  oid: Oid
}

/**
 * Where a fetched tip is held. The name is a hash: it is renewed when the remote ref moves, and never
 * collides as `a` and `a/b` would.
 */
export function toTrackingRef(ref: string): string {
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
export function isTracked(dir: string, tip: RemoteTip): boolean {
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
