import type { RepositoryContext } from '../engine/open.ts'

/** Where GitHub's API is for a repository, and what the repository is called there. */
export interface GithubLocation {
  apiUrl: string
  /** Where a person opens it: https://github.com. */
  webUrl: string
  repository: string
  /** The host of an Enterprise Server, or of another forge whose addresses look the same; null for GitHub's own. */
  server: string | null
}

type GithubEnv = Readonly<Record<string, string>>

const PUBLIC = { apiUrl: 'https://api.github.com', webUrl: 'https://github.com' }
/** The domain of GitHub Enterprise Cloud with data residency. */
const CLOUD = /^[\w-]+\.ghe\.com$/i
const ADDRESS =
  /^(?:git\+)?(?:(https?):\/\/(?:[^@/]*@)?([^/]+)\/|(?:ssh:\/\/)?[\w-]+@([^:/]+)(?::\d+)?[:/])([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/

/** The place that an address names; null for a path. */
export function parseGithubAddress(url: string): GithubLocation | null {
  const [, scheme = 'https', web, ssh, repository] = ADDRESS.exec(url) ?? []
  const host = web ?? ssh
  if (host === undefined || repository === undefined) return null
  const server = toServerHost(host)
  const webUrl = `${scheme}://${host}`
  if (server !== null) return { apiUrl: `${webUrl}/api/v3`, webUrl, repository, server }
  return CLOUD.test(host)
    ? { apiUrl: `https://api.${host}`, webUrl: `https://${host}`, repository, server }
    : { ...PUBLIC, repository, server }
}

/** Told by the environment of a job, or else by the remote's address; null where that is a path. */
export function findGithub(
  { checkout, remote }: Pick<RepositoryContext, 'checkout' | 'remote'>,
  env: GithubEnv,
): GithubLocation | null {
  const { GITHUB_REPOSITORY: named, GITHUB_API_URL: api, GITHUB_SERVER_URL: web } = env
  if (named && api && URL.canParse(api)) {
    const { origin, host } = new URL(api)
    const webUrl = web || origin.replace('//api.', '//')
    return { apiUrl: api, webUrl, repository: named, server: toServerHost(host) }
  }
  return parseGithubAddress(checkout.remotes.find(({ name }) => name === remote)?.url ?? '')
}

function toServerHost(host: string): string | null {
  const own = host.replace(/^api\./, '')
  return own === 'github.com' || CLOUD.test(own) ? null : host
}

/**
 * The token that may be sent there. The one for github.com goes to GitHub's own addresses alone, and to where a job says
 * that its GitHub is: any other address may be anybody's.
 */
export function selectToken({ apiUrl, server }: GithubLocation, env: GithubEnv): string {
  const isOwn = server === null || env['GITHUB_API_URL'] === apiUrl
  const names = isOwn ? ['GITHUB_TOKEN', 'GH_TOKEN'] : ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN']
  return names.map(name => env[name] ?? '').find(token => token !== '') ?? ''
}

/** How a person gives it. */
export function describeTokenAdvice({ server }: GithubLocation): string {
  return server === null
    ? 'gh auth login (winnow takes the token of gh), or set GH_TOKEN; then winnow doctor'
    : `if that is a GitHub Enterprise Server: gh auth login --hostname ${server}, or set GH_ENTERPRISE_TOKEN; then winnow doctor`
}

/** Whether a spec is for campaigns there: in a job, or by an address that is nobody else's. */
export function isOnGithub(
  workshop: Parameters<typeof findGithub>[0],
  env: Readonly<Record<string, string>>,
): boolean {
  const found = findGithub(workshop, env)
  return found !== null && (found.apiUrl === env['GITHUB_API_URL'] || found.server === null)
}

/** What an Enterprise Server cannot do, and what it can. */
export const SERVER_REFUSES =
  'upload-artifact v4 and newer (up to v7) refuse to run on an Enterprise Server, and jobs hand their reports over with them'
export const SINGLE_JOB = 'winnow init --github --single-job'
