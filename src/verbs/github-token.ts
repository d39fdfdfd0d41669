import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type GithubLocation, selectToken } from './github-of.ts'

const runFile = promisify(execFile)
const TIMEOUT_MS = 10_000

/** The token of the environment, else the one that `gh` is signed in with at that address; '' where there is neither. */
export async function findToken(
  place: GithubLocation,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const given = selectToken(place, env)
  if (given !== '') return given
  const { host } = new URL(place.webUrl)
  try {
    const options = { env: { ...env }, timeout: TIMEOUT_MS }
    const { stdout } = await runFile('gh', ['auth', 'token', '--hostname', host], options)
    return stdout.trim()
  } catch (error) {
    // Not installed, or not signed in there.
    if (error instanceof Error) return ''
    throw error
  }
}
