import { buildNetworkIsolation } from '../git/isolation.ts'
import { createGitRunner } from '../git/runner.ts'
import type { EventAuthor } from '../model/event.ts'
import type { Call } from './call.ts'

/** Where the machine has no name for the person, git often has one. */
export async function resolveActor({ by, directory, env }: Call['around']): Promise<EventAuthor> {
  if (by.actor !== UNKNOWN_ACTOR) return by
  const name = await createGitRunner(buildNetworkIsolation(directory, env)).run({
    args: ['config', '--get', 'user.name'],
    answers: [1, 128],
    parse: ({ stdout }) => stdout.trim(),
  })
  return name === '' ? by : { ...by, actor: name }
}

export const UNKNOWN_ACTOR = 'unknown'
