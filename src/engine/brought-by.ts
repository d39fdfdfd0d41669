import type { Forge } from '../forge/port.ts'
import type { Pull } from '../forge/pull.ts'
import type { Experiment } from '../model/experiment.ts'

/** Whose head it is: none of them approves what it adds. */
export interface HeadPushers {
  logins: readonly string[]
  /** Whether the forge knows who pushed it: if not, anybody may be who did. */
  known: boolean
}

/**
 * Null for what the engine made itself. The author of a pull request is who offers it: others may push to its branch, and
 * to an engine's branch whoever may write.
 */
export async function findHeadPushers(
  forge: Pick<Forge, 'readHeadAuthors'>,
  { owned, head }: Pick<Experiment, 'owned' | 'head'>,
  pull: Pull | undefined,
): Promise<HeadPushers | null> {
  if (owned) return null
  if (pull === undefined || forge.readHeadAuthors === undefined) return { logins: [], known: false }
  const found = await forge.readHeadAuthors(pull.number)
  const known = found.head === head && found.pusher !== null
  const pusher = found.pusher === null ? [] : [found.pusher]
  return { logins: [pull.author, ...pusher, ...found.named].map(login => login.toLowerCase()), known }
}
