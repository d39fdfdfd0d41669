import { ForgeError } from '../errors.ts'
import type { RepositoryContext } from '../engine/open.ts'
import { createGithubClient } from '../forge/github/client.ts'
import { readBranch } from '../forge/github/read-pulls.ts'
import { SETUP_BRANCH } from '../git/allowed-ref.ts'
import { findProxy } from '../git/proxy.ts'
import { toShortRef } from '../model/refs.ts'
import type { Call } from './call.ts'
import { findGithub } from './github-of.ts'
import { findToken } from './github-token.ts'

/** The open pull request of `winnow init --github --open-pr`, or of a person who pushed the branch that it names. */
export async function findSetupPull(
  { around }: Call,
  workshop: RepositoryContext,
): Promise<{ number: number; url: string } | null> {
  const { repository, defaultBranch } = workshop
  const place = findGithub(workshop, around.env)
  if (place === null || defaultBranch === null) return null
  const { refs } = await repository.remoteRefs([`refs/heads/${SETUP_BRANCH}*`])
  const token = refs.size === 0 ? '' : await findToken(place, around.env)
  if (token === '') return null
  findProxy(place.apiUrl, around.env)
  const client = createGithubClient({
    apiUrl: place.apiUrl,
    repository: place.repository,
    token,
    version: around.version,
    say: line => around.progress.say(line),
    ...(around.web === undefined ? {} : { web: around.web }),
  })
  try {
    for (const ref of refs.keys()) {
      const found = await readBranch(client, { branch: toShortRef(ref), base: toShortRef(defaultBranch) })
      if (found?.pull.state !== 'open') continue
      const { number } = found.pull
      return { number, url: `${place.webUrl}/${place.repository}/pull/${number}` }
    }
  } catch (error) {
    // What keeps GitHub from answering is a finding of its own.
    if (!(error instanceof ForgeError)) throw error
  }
  return null
}
