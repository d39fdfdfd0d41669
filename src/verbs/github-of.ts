import type { Workshop } from '../engine/open.ts'

/** Where GitHub's API is for a repository, and what it is called there. */
export interface GithubPlace {
  apiUrl: string
  repository: string
}

const PUBLIC = 'https://api.github.com'
const ADDRESS =
  /^(?:(https?):\/\/(?:[^@/]*@)?([^/]+)\/|(?:ssh:\/\/)?[\w-]+@([^:/]+)(?::\d+)?[:/])([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/

/** Told by the environment of a job, or else by the remote's address; null where that is a path. */
export function githubOf(
  { checkout, remote }: Pick<Workshop, 'checkout' | 'remote'>,
  env: Readonly<Record<string, string>>,
): GithubPlace | null {
  const { GITHUB_REPOSITORY: named, GITHUB_API_URL: api } = env
  if (named && api) return { apiUrl: api, repository: named }
  const url = checkout.remotes.find(({ name }) => name === remote)?.url ?? ''
  const [, scheme = 'https', web, ssh, repository] = ADDRESS.exec(url) ?? []
  const host = web ?? ssh
  if (host === undefined || repository === undefined) return null
  const apiUrl = host === 'github.com' ? PUBLIC : `${scheme}://${host}/api/v3`
  return { apiUrl, repository }
}

/** Whether a spec is for campaigns there: in a job, or by an address that is nobody else's. */
export function isOnGithub(
  workshop: Parameters<typeof githubOf>[0],
  env: Readonly<Record<string, string>>,
): boolean {
  const found = githubOf(workshop, env)
  return found !== null && (found.apiUrl === env['GITHUB_API_URL'] || found.apiUrl === PUBLIC)
}
