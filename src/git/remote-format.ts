import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { UserError } from '../errors.ts'
import { nullIfMissing } from './bare-repository.ts'
import { lsRemote } from './ls-remote.ts'
import { formatOfOid, type ObjectFormat } from './object-format.ts'
import { isNetwork, remoteFailure } from './remote-failure.ts'
import { GitExit, type GitRunner } from './runner.ts'

/** The directory of a remote on this machine, or null. */
export function localPath(remote: string): string | null {
  if (isNetwork(remote)) return null
  return remote.startsWith('file://') ? fileURLToPath(remote) : remote
}

/** The object format of a remote: asked of a repository on this machine, else seen in its ids. */
export async function remoteFormat(remote: string, runner: GitRunner): Promise<ObjectFormat> {
  const path = localPath(remote)
  try {
    if (path !== null) return await formatAt(path, runner)
    const { refs } = await runner.run(lsRemote(remote))
    const [oid] = refs.values()
    return oid === undefined ? 'sha1' : formatOfOid(oid)
  } catch (error) {
    if (error instanceof GitExit) throw remoteFailure('read', remote, remote, error.output.stderr)
    throw error
  }
}

async function formatAt(path: string, runner: GitRunner): Promise<ObjectFormat> {
  if ((await stat(path).catch(nullIfMissing)) === null) {
    throw new UserError(`the remote ${path} does not exist`, {
      place: { path },
      fix: 'check the path of the remote; was the repository moved or deleted?',
    })
  }
  return runner.run({
    args: ['-C', path, 'rev-parse', '--show-object-format'],
    parse: ({ stdout }) => (stdout.trim() === 'sha256' ? 'sha256' : 'sha1'),
  })
}
