import type { ObjectFormat } from './object-format.ts'
import { formatOfOid, isOid, type Oid } from './object-format.ts'
import { lsRemote, type RemoteRefs } from './ls-remote.ts'
import { otherFormat, remoteFailure } from './remote-failure.ts'
import { GitExit, type GitRunner, type GitTask } from './runner.ts'

export interface RemotePlace {
  dir: string
  remote: string
  prefix: string
  local: boolean
  format: ObjectFormat
}

/** Questions to the remote, with its failures in words that a person can act on. */
export interface RemoteLine {
  place: RemotePlace
  ask: <T>(doing: string, task: GitTask<T>, runner?: GitRunner) => Promise<T>
  refs: (patterns?: readonly string[]) => Promise<RemoteRefs>
  checkFormat: (oid: Oid) => void
}

export function remoteLine(place: RemotePlace, network: GitRunner): RemoteLine {
  async function ask<T>(doing: string, task: GitTask<T>, runner = network): Promise<T> {
    try {
      return await runner.run(task)
    } catch (error) {
      if (error instanceof GitExit) throw remoteFailure(doing, place.remote, place.dir, error.output.stderr)
      throw error
    }
  }

  function checkFormat(oid: Oid): void {
    if (!isOid(oid)) throw new Error(`${JSON.stringify(oid)} is not a git object id`)
    if (formatOfOid(oid) !== place.format) throw otherFormat(place.remote, place.dir)
  }

  return {
    place,
    ask,
    checkFormat,
    async refs(patterns) {
      const found = await ask('read', lsRemote(place.remote, patterns))
      for (const oid of found.refs.values()) checkFormat(oid)
      return found
    },
  }
}
