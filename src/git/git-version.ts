import { UserError } from '../errors.ts'
import type { GitRunner, GitTask } from './runner.ts'

const MINIMUM = [2, 38] as const

const version: GitTask<string> = {
  args: ['version'],
  parse: ({ stdout }) => /\d+\.\d+(?:\.\d+)?/.exec(stdout)?.[0] ?? stdout.trim(),
}

/** Which git there is, where it can be used. */
export async function requireGit(runner: GitRunner): Promise<string> {
  const found = await runner.run(version).catch((error: unknown) => {
    throw new UserError('git was not found', {
      fix: `install git ${MINIMUM.join('.')} or newer and put it on PATH`,
      cause: error,
    })
  })
  if (!isNewEnough(found)) {
    throw new UserError(`git ${found} is too old: winnow needs git ${MINIMUM.join('.')} or newer`, {
      fix: 'upgrade git; nothing was written',
    })
  }
  return found
}

export function isNewEnough(found: string): boolean {
  const [major = 0, minor = 0] = found.split('.').map(Number)
  return major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])
}
