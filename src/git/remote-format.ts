import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from './bare-repository.ts'
import { listRemoteRefs } from './ls-remote.ts'
import { detectObjectFormat, type ObjectFormat } from './object-format.ts'
import { isNetwork, explainRemoteFailure } from './remote-failure.ts'
import { GitExit, type GitRunner } from './runner.ts'

/** The directory of a remote on this machine, or null. */
export function toLocalPath(remote: string): string | null {
  if (isNetwork(remote)) return null
  return remote.startsWith('file://') ? fileURLToPath(remote) : remote
}

/** The object format of a remote: asked of a repository on this machine, else seen in its ids. */
export async function detectRemoteFormat(remote: string, runner: GitRunner): Promise<ObjectFormat> {
  const path = toLocalPath(remote)
  try {
    if (path !== null) return await readLocalFormat(path, runner)
    const { refs } = await runner.run(listRemoteRefs(remote))
    const [oid] = refs.values()
    return oid === undefined ? 'sha1' : detectObjectFormat(oid)
  } catch (error) {
    if (error instanceof GitExit) throw explainRemoteFailure('read', remote, remote, error.output.stderr)
    throw error
  }
}

async function readLocalFormat(path: string, runner: GitRunner): Promise<ObjectFormat> {
  if ((await stat(path).catch(toNullIfMissing)) === null) {
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
