import { UserError } from '../errors.ts'

/** What git prints, here and not on the remote, when it cannot store something. */
const WORDS =
  /^(?:error|fatal): .*(?:No space left on device|Disk quota exceeded|Read-only file system|insufficient permission for adding an object|unable to create temporary (?:object )?file).*$/m

/** null: something else went wrong. */
export function detectStorageFailure(directory: string, stderr: string): UserError | null {
  const words = WORDS.exec(stderr)?.[0]
  if (words === undefined) return null
  return explainUnwritable(directory, words.replace(/^\w+: /, ''))
}

export function explainUnwritable(directory: string, why: string, cause?: unknown): UserError {
  return new UserError(`git objects cannot be written to ${directory}: ${why}`, {
    place: { file: directory },
    fix: 'free space or give write permission, then run the same command again; nothing was half-written',
    ...(cause === undefined ? {} : { cause }),
  })
}
