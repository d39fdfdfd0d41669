import type { ObjectFormat } from './object-format.ts'
import { detectObjectFormat, isOid, type Oid } from './object-format.ts'
import { listRemoteRefs, type RemoteRefs } from './ls-remote.ts'
import {
  explainFormatMismatch,
  PUSH,
  PUSH_AS_APP,
  explainRemoteFailure,
  describeSilence,
} from './remote-failure.ts'
import { SilentRemote } from './remote-limits.ts'
import { GitExit, type GitRunner, type GitTask } from './runner.ts'

export interface RemoteContext {
  dir: string
  remote: string
  prefix: string
  local: boolean
  format: ObjectFormat
  say: (line: string) => void
}

/** As often as this a remote that hangs is asked for the same. */
const MOST_SILENT = 3

/** Questions to the remote, with its failures in words that a person can act on. */
export interface RemoteConnection {
  place: RemoteContext
  ask: <T>(doing: string, task: GitTask<T>, runner?: GitRunner) => Promise<T>
  refs: (patterns?: readonly string[]) => Promise<RemoteRefs>
  checkFormat: (oid: Oid) => void
}

export function createRemoteConnection(place: RemoteContext, network: GitRunner): RemoteConnection {
  /** A push is not repeated here: it may have been done, which only another look shows. */
  async function ask<T>(doing: string, task: GitTask<T>, runner = network): Promise<T> {
    const isPush = doing === PUSH || doing === PUSH_AS_APP
    const most = isPush ? 1 : MOST_SILENT
    for (let attempt = 1; ; attempt++) {
      try {
        return await runner.run(task)
      } catch (error) {
        if (error instanceof GitExit)
          throw explainRemoteFailure(doing, place.remote, place.dir, error.output.stderr)
        if (!(error instanceof SilentRemote)) throw error
        const what = describeSilence(doing, place.remote, error.message)
        if (attempt === most) throw new SilentRemote(what, { output: error.message, isPush })
        place.say(`${what}; winnow tries again (${attempt + 1} of ${most})`)
      }
    }
  }

  function checkFormat(oid: Oid): void {
    if (!isOid(oid)) throw new Error(`${JSON.stringify(oid)} is not a git object id`)
    if (detectObjectFormat(oid) !== place.format) throw explainFormatMismatch(place.remote, place.dir)
  }

  return {
    place,
    ask,
    checkFormat,
    async refs(patterns) {
      const found = await ask('read', listRemoteRefs(place.remote, patterns))
      for (const oid of found.refs.values()) checkFormat(oid)
      return found
    },
  }
}
