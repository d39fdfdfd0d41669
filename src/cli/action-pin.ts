import { execFile } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { isAncestor } from '../git/history.ts'
import { buildLocalIsolation, buildNetworkIsolation } from '../git/isolation.ts'
import { listRemoteCommits, type RemoteRefs } from '../git/remote-connection.ts'
import { createGitRunner, GitExit, readSilenceLimit } from '../git/runner.ts'
import { createNetworkRunner } from '../git/shell-runner.ts'
import { type Checkout, inspectCheckout } from '../git/work-tree.ts'
import type { Oid } from '../model/ids.ts'
import type { Call } from './verb.ts'

/** A `uses:` of the winnow action, pinned to a full commit. */
interface ActionPin {
  /** `owner/name`, followed by a path when the action is not at the top of its repository. */
  action: string
  commit: Oid
  /** Tag or branch name written as a comment next to the commit; null if the commit has neither. */
  version: string | null
}

interface ActionNotFound {
  why: string
  fix: string
}

export interface GithubLocation {
  apiUrl: string
  /** Web address, such as https://github.com. */
  webUrl: string
  repository: string
  /** Host of an Enterprise Server or of another forge; null for github.com and ghe.com. */
  server: string | null
}

type GithubServer = Pick<GithubLocation, 'webUrl'>

type GithubEnv = Readonly<Record<string, string>>

const GITHUB = 'https://github.com'
const PUBLIC = { apiUrl: 'https://api.github.com', webUrl: 'https://github.com' }
const CLOUD = /^[\w-]+\.ghe\.com$/i

const ADDRESS =
  /^(?:git\+)?(?:(https?):\/\/(?:[^@/]*@)?([^/]+)\/|(?:ssh:\/\/)?[\w-]+@([^:/]+)(?::\d+)?[:/])([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/

const ACTION_REFERENCE =
  /^(?<action>[\w.-]+\/[\w.-]+(?:\/[\w.-]+)*)@(?<ref>[\w./-]+)(?: # (?<version>[\w.-]+))?$/

const COMMIT = /^[0-9a-f]{40}$/
const WHOLE_VERSION = /^v?\d+\.\d+\.\d+(?:[-+][\w.-]+)?$/
const WRITABLE = /^[\w.-]+$/

const PACKAGE = z.looseObject({
  version: z.string(),
  repository: z.union([z.string(), z.looseObject({ url: z.string() })]).optional(),
})

export const SERVER_REFUSES =
  'upload-artifact v4 and newer (up to v7) refuse to run on an Enterprise Server, and jobs hand their reports over with them'

export const SINGLE_JOB = 'winnow init --github --single-job'
const TIMEOUT_MS = 10_000
const runFile = promisify(execFile)

// The action

export function formatUses({ action, commit, version }: ActionPin): string {
  return `${action}@${commit}${version === null ? '' : ` # ${version}`}`
}

/** Returns the version comment of a `uses:`, or '' if there is none. */
export function readPinnedVersion(uses: string): string {
  return / # (\S+)$/.exec(uses)?.[1] ?? ''
}

export async function resolveAction(call: Call, given: string, near: GithubServer): Promise<ActionPin> {
  const { action, ref, version } = ACTION_REFERENCE.exec(given)?.groups ?? {}
  if (action === undefined || ref === undefined) {
    throw new UserError(`--action is ${JSON.stringify(given)}`, {
      fix: 'give owner/name@ref, where ref is a tag, a branch or a commit: --action owner/winnow@v1',
    })
  }
  if (version !== undefined && COMMIT.test(ref)) return { action, commit: ref, version }
  const { url, refs } = await findActionRefs(call, action, near)
  if (COMMIT.test(ref)) return { action, commit: ref, version: refs === null ? null : findRefName(refs, ref) }
  if (refs === null) {
    throw new UserError(`cannot look up ${ref} in ${url}`, {
      fix: `check the address and that git can read it (git ls-remote ${url}); or give the 40 digits of a commit instead of ${ref}`,
    })
  }
  const commit = refs.refs.get(`refs/tags/${ref}`) ?? refs.refs.get(`refs/heads/${ref}`)
  if (commit === undefined) {
    throw new UserError(`${url} has no tag and no branch ${ref}`, { fix: `it has ${formatRefNames(refs)}` })
  }
  return { action, commit, version: findRefName(refs, commit) }
}

/** Looks on the repository's own GitHub first. An Enterprise Server falls back to github.com. */
async function findActionRefs(
  call: Call,
  action: string,
  { webUrl }: GithubServer,
): Promise<{ url: string; refs: RemoteRefs | null }> {
  const path = action.split('/').slice(0, 2).join('/')
  const url = `${webUrl}/${path}`
  const refs = await fetchRemoteRefs(call, url)
  if (refs !== null || webUrl === GITHUB) return { url, refs }
  const elsewhere = await fetchRemoteRefs(call, `${GITHUB}/${path}`)
  return elsewhere === null ? { url, refs } : { url: `${GITHUB}/${path}`, refs: elsewhere }
}

/** Returns null if git cannot read the address. */
async function fetchRemoteRefs({ environment, interrupt }: Call, url: string): Promise<RemoteRefs | null> {
  const limits = { silenceSeconds: readSilenceLimit(environment.env), stop: interrupt }
  try {
    return await createNetworkRunner(buildNetworkIsolation('/', environment.env), limits).run(
      listRemoteCommits(url),
    )
  } catch (error) {
    if (error instanceof GitExit) return null
    throw error
  }
}

/**
 * Prefers full version tags: Dependabot updates them together with the commit, whereas a major tag such as v1
 * moves. Names a branch only if no tag matches.
 */
function findRefName({ head, refs }: RemoteRefs, commit: Oid): string | null {
  const named = (kind: 'tags' | 'heads') =>
    [...refs].flatMap(([ref, oid]) =>
      oid === commit && ref.startsWith(`refs/${kind}/`) ? [ref.slice(`refs/${kind}/`.length)] : [],
    )
  const tags = named('tags')
  const branches = named('heads').toSorted(
    (a, b) => Number(`refs/heads/${b}` === head) - Number(`refs/heads/${a}` === head),
  )
  const candidates = [...tags.filter(tag => WHOLE_VERSION.test(tag)), ...tags, ...branches]
  return candidates.find(name => WRITABLE.test(name)) ?? null
}

function formatRefNames({ refs }: RemoteRefs): string {
  const names = [...refs.keys()].flatMap(ref => /^refs\/(?:tags|heads)\/(.+)$/.exec(ref)?.[1] ?? [])
  const tags = names.filter(name => refs.has(`refs/tags/${name}`)).toReversed()
  const some = [...tags, ...names.filter(name => !tags.includes(name))].slice(0, 5)
  return some.length === 0 ? 'none at all' : some.join(', ')
}

/** An Enterprise Server can use actions from github.com, but github.com cannot use actions from a server. */
function isUsable({ webUrl }: GithubLocation, near: GithubServer): boolean {
  return webUrl === near.webUrl || webUrl === GITHUB
}

/** Finds the action of the running winnow: its clone if it runs from one, otherwise its published version. */
export async function findOwnAction(call: Call, near: GithubServer): Promise<ActionPin> {
  const home = call.program.home === undefined ? null : realpathSync(call.program.home)
  const found = home === null ? describeMissingAction(null) : await findHomeAction(call, home, near)
  if ('commit' in found) return found
  throw new UserError(`init does not know which repository holds this winnow as an action: ${found.why}`, {
    fix: found.fix,
  })
}

async function findHomeAction(
  call: Call,
  home: string,
  near: GithubServer,
): Promise<ActionPin | ActionNotFound> {
  const checkout = await findWinnowClone(call, home)
  return checkout === null ? findPackageAction(call, home, near) : findCloneAction(call, home, near, checkout)
}

/** A package installed inside another repository has no commit of its own. */
async function findWinnowClone({ environment }: Call, home: string): Promise<Checkout | null> {
  if (!existsSync(join(home, '.git'))) return null
  const checkout = await inspectCheckout(home, environment.env)
  return checkout.topLevel !== null && realpathSync(checkout.topLevel) === home ? checkout : null
}

async function findCloneAction(
  call: Call,
  home: string,
  near: GithubServer,
  { remotes }: Checkout,
): Promise<ActionPin | ActionNotFound> {
  const usual = remotes.toSorted((a, b) => Number(b.name === 'origin') - Number(a.name === 'origin'))
  const there = usual.flatMap(({ name, url }) => {
    const github = parseGithubAddress(url)
    return github !== null && isUsable(github, near) ? [{ name, url, action: github.repository }] : []
  })
  const git = createGitRunner(buildLocalIsolation(home, call.environment.env))
  const commit = await git.run({ args: ['rev-parse', 'HEAD'], parse: ({ stdout }) => stdout.trim() })
  let unread: string | null = null
  let first: (typeof there)[number] | undefined
  for (const each of there) {
    const refs = await fetchRemoteRefs(call, each.url)
    if (refs === null) {
      unread ??= each.url
      continue
    }
    first ??= each
    const tag = findRefName(refs, commit)
    const branch = await findContainingBranch(git, refs, commit)
    if (tag === null && branch === null) continue
    const version = tag ?? (branch !== null && WRITABLE.test(branch) ? branch : null)
    return { action: each.action, commit, version }
  }
  if (first !== undefined) {
    return {
      why: `it runs from ${home}, whose commit ${commit.slice(0, 10)} is not on ${first.action}`,
      fix: `git -C ${home} push ${first.name} HEAD, and repeat`,
    }
  }
  if (unread !== null) {
    return {
      why: `it runs from ${home}, and ${unread} cannot be read`,
      fix: `check git ls-remote ${unread}, and repeat`,
    }
  }
  return describeMissingAction(home)
}

/** Checks the default branch first. Skips tips that were never fetched here. */
async function findContainingBranch(
  git: ReturnType<typeof createGitRunner>,
  { head, refs }: RemoteRefs,
  commit: Oid,
): Promise<string | null> {
  const branches = [...refs].filter(([ref]) => ref.startsWith('refs/heads/'))
  const sorted = branches.toSorted(([a], [b]) => Number(b === head) - Number(a === head))
  for (const [ref, tip] of sorted) {
    if (await git.run({ ...isAncestor(commit, tip), answers: [1, 128] }))
      return ref.slice('refs/heads/'.length)
  }
  return null
}

/** npm also accepts `owner/name` and `github:owner/name` as a repository address. */
async function findPackageAction(
  call: Call,
  home: string,
  near: GithubServer,
): Promise<ActionPin | ActionNotFound> {
  const read = PACKAGE.safeParse(JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')))
  const repository = read.data?.repository
  const given = typeof repository === 'string' ? repository : repository?.url
  if (read.data === undefined || given === undefined) return describeMissingAction(home)
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(given)?.[1]
  const action = short ?? parseGithubAddress(given)?.repository
  if (action === undefined) return describeMissingAction(home)
  const tag = `v${read.data.version}`
  const { url, refs } = await findActionRefs(call, action, near)
  const commit = refs?.refs.get(`refs/tags/${tag}`)
  if (commit !== undefined) return { action, commit, version: tag }
  const why = refs === null ? `${url} cannot be read` : `${url} has no tag ${tag}`
  return { why, fix: `winnow init --github --action ${action}@<tag, branch or commit>` }
}

function describeMissingAction(home: string | null): ActionNotFound {
  const why = home === null ? 'nothing says where it was installed from' : `${home} has no remote on GitHub`
  const source = home === null ? '<a clone of winnow>' : home
  const fix = [
    `push it to a repository of your own: gh repo create winnow --public --source ${source} --push`,
    '(--private works for your private repositories, once it says under Settings > Actions > General > Access that they may use it)',
    'or name a repository that has it: winnow init --github --action owner/winnow@<tag, branch or commit>',
  ].join('\n')
  return { why, fix }
}

// The repository on GitHub

/** In a job, its environment names the repository. Null if the remote is a path. */
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

/** Returns null for a path. */
function parseGithubAddress(url: string): GithubLocation | null {
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

function toServerHost(host: string): string | null {
  const own = host.replace(/^api\./, '')
  return own === 'github.com' || CLOUD.test(own) ? null : host
}

/** An attacker may own any other address: the github.com token goes only to GitHub and the job's server. */
export function selectToken({ apiUrl, server }: GithubLocation, env: GithubEnv): string {
  const isOwn = server === null || env['GITHUB_API_URL'] === apiUrl
  const names = isOwn ? ['GITHUB_TOKEN', 'GH_TOKEN'] : ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN']
  return names.map(name => env[name] ?? '').find(token => token !== '') ?? ''
}

export function describeTokenAdvice({ server }: GithubLocation): string {
  return server === null
    ? 'gh auth login (winnow takes the token of gh), or set GH_TOKEN; then winnow doctor'
    : `if that is a GitHub Enterprise Server: gh auth login --hostname ${server}, or set GH_ENTERPRISE_TOKEN; then winnow doctor`
}

/** True in a GitHub Actions job and for remotes on GitHub's own addresses. */
export function isOnGithub(
  repositoryContext: Parameters<typeof findGithub>[0],
  env: Readonly<Record<string, string>>,
): boolean {
  const found = findGithub(repositoryContext, env)
  return found !== null && (found.apiUrl === env['GITHUB_API_URL'] || found.server === null)
}

/** Prefers a token of the environment to that of `gh`. '' if there is neither. */
export async function findToken(
  github: GithubLocation,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const given = selectToken(github, env)
  if (given !== '') return given
  const { host } = new URL(github.webUrl)
  try {
    const options = { env: { ...env }, timeout: TIMEOUT_MS }
    const { stdout } = await runFile('gh', ['auth', 'token', '--hostname', host], options)
    return stdout.trim()
  } catch (error) {
    // gh is not installed, or not signed in to that host.
    if (error instanceof Error) return ''
    throw error
  }
}
