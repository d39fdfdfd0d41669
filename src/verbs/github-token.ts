import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type GithubPlace, tokenFor } from './github-of.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 10_000

/** The token of the environment, else the one that `gh` is signed in with at that address; '' where there is neither. */
export async function findToken(place: GithubPlace, env: Readonly<Record<string, string>>): Promise<string> {
  const given = tokenFor(place, env)
  if (given !== '') return given
  const { host } = new URL(place.webUrl)
  try {
    const options = { env: { ...env }, timeout: TIMEOUT_MS }
    const { stdout } = await run('gh', ['auth', 'token', '--hostname', host], options)
    return stdout.trim()
  } catch (error) {
    // Not installed, or not signed in there.
    if (error instanceof Error) return ''
    throw error
  }
}
