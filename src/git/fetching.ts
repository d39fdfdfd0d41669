import { ConflictError } from '../errors.ts'
import { buildFetchTask, writeTrackingRef, isTracked, type RemoteTip } from './fetch.ts'
import type { RemoteConnection } from './remote-line.ts'
import { explainRemoteFailure } from './remote-failure.ts'

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
