import { networkIsolation } from '../git/isolation.ts'
import { gitRunner } from '../git/runner.ts'
import type { By } from '../model/event.ts'
import type { Call } from './call.ts'

/** Where the machine has no name for the person, git often has one. */
export async function actingAs({ by, directory, env }: Call['around']): Promise<By> {
  if (by.actor !== UNKNOWN_ACTOR) return by
  const name = await gitRunner(networkIsolation(directory, env)).run({
    args: ['config', '--get', 'user.name'],
    answers: [1, 128],
    parse: ({ stdout }) => stdout.trim(),
  })
  return name === '' ? by : { ...by, actor: name }
}

export const UNKNOWN_ACTOR = 'unknown'
