import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect } from 'vitest'
import { auditLedger, replayLedger } from '../../src/engine/verify/audit.ts'
import type { Environment } from '../../src/engine/campaign/open.ts'
import type { CampaignContext } from '../../src/engine/campaign/context.ts'
import { BEGINNING, ENV, openCampaignClient, type CampaignClient } from './campaign-client.ts'

export { diffOf, patchOf } from './patch-text.ts'

/** A user's repository with a spec and ideas in it, and winnow opened on it. */
export interface TestRepository extends CampaignClient {
  root: string
  repo: string
  /** Where the branches live: the bare remote, or the repository itself. */
  origin: string
  git(...args: string[]): string
  /** git in the place where the branches live. */
  bare(...args: string[]): string
  write(path: string, content: string): void
  /** Commits everything on the branch checked out, and pushes main where there is a remote. */
  commit(message: string): string
  /** One commit with these files on top of `from`, without touching the checkout; null deletes. */
  commitOn(from: string, files: Record<string, string | null>, message?: string): string
  /** Puts a branch of the origin where a person wants it. */
  push(commit: string, branch: string): void
  /** A hook of the origin; null takes it away. */
  hook(name: string, script: string | null): void
  /** Another winnow on the same repository, with a cache of its own unless it shares this one's. */
  another(options?: CampaignClientOptions & { cache?: string }): Promise<CampaignClient>
  reopen(options?: CampaignClientOptions): Promise<void>
  /** Nothing left to prove: the audit and the replay of the whole campaign find nothing. */
  proven(): Promise<void>
}

export interface CampaignClientOptions {
  fault?: (point: string) => void
  /** Milliseconds that its clock is ahead. */
  ahead?: () => number
  directory?: string
  env?: Record<string, string>
  /** Where pull requests are kept, if not beside the branches. */
  forge?: Environment['forge']
  /** Asked how old releases are; nobody is unless given. */
  registries?: Environment['registries']
  /** Chance and time come from here alone: the same campaign twice, with the same commits and coins. */
  seed?: string
  /** The run that its events name. */
  runId?: string
  /** Every duration is 0. */
  timeless?: boolean
}

export interface TestRepositoryOptions extends CampaignClientOptions {
  files: Record<string, string>
  spec: string
  name?: string
  /** A bare remote beside the checkout; else the branches live in the repository itself. */
  remote?: boolean
  /** The folder of the checkout. */
  folder?: string
  format?: 'sha1' | 'sha256'
}

const DATES = { GIT_AUTHOR_DATE: BEGINNING, GIT_COMMITTER_DATE: BEGINNING }

const open: TestRepository[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** A repository that is removed after the test. */
export async function createTestRepository(options: TestRepositoryOptions): Promise<TestRepository> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-test-repository-'))
  const repo = join(root, options.folder ?? 'repo')
  const origin = options.remote ? join(root, 'remote.git') : repo
  const name = options.name ?? 'size'
  const format = options.format ?? 'sha1'
  const dates = options.seed === undefined ? {} : DATES
  const git = gitIn(repo, dates)
  const bare = gitIn(origin, dates)
  mkdirSync(repo, { recursive: true })
  git('init', '-q', '-b', 'main', `--object-format=${format}`)
  git('config', 'user.name', 'Somebody')
  git('config', 'user.email', 'somebody@example.invalid')
  if (options.remote) {
    git('init', '-q', '--bare', '-b', 'main', `--object-format=${format}`, origin)
    git('remote', 'add', 'origin', origin)
  }
  const write = (path: string, content: string) => writeFile(join(repo, path), content)
  const commit = (message: string) => {
    git('add', '-A')
    git('commit', '-q', '--allow-empty', '-m', message)
    if (options.remote) git('push', '-q', 'origin', 'main')
    return git('rev-parse', 'HEAD')
  }
  for (const [path, content] of Object.entries(options.files)) write(path, content)
  write(`.winnow/${name}.yaml`, options.spec)
  commit('start')
  const posts: CampaignClient[] = []
  async function another(choice: CampaignClientOptions & { cache?: string } = {}): Promise<CampaignClient> {
    const cache = choice.cache ?? `cache-${posts.length}`
    const directory = choice.directory ?? repo
    const where = { cacheDir: join(root, cache), remote: options.remote ? null : 'none' }
    const client = await openCampaignClient({ name, ...where, directory, ...choice })
    posts.push(client)
    return client
  }
  const { ahead, fault, env, seed, timeless, registries, runId } = options
  const first: CampaignClientOptions = {
    directory: options.directory ?? repo,
    ...(ahead ? { ahead } : {}),
    ...(env ? { env } : {}),
    ...(runId === undefined ? {} : { runId }),
    ...(registries ? { registries } : {}),
    ...(seed === undefined ? {} : { seed }),
    ...(timeless === undefined ? {} : { timeless }),
  }
  let client = await another({ ...first, ...(fault ? { fault } : {}), cache: 'cache' })
  const made: TestRepository = {
    root,
    repo,
    origin,
    git,
    bare,
    write,
    commit,
    commitOn: (from, files, message = 'by hand') => commitWith(bare, { root, from, files, message, dates }),
    push: (oid, branch) => void bare('update-ref', `refs/heads/${branch}`, oid),
    hook: (hook, script) => writeHook(join(root, 'remote.git'), hook, script),
    another,
    async reopen(choice = {}) {
      await client.close()
      client = await another({ ...first, ...choice, cache: 'cache' })
    },
    get place() {
      return client.place
    },
    get said() {
      return client.said
    },
    hands: () => client.hands(),
    start: choice => client.start(choice),
    tick: () => client.tick(),
    run: () => client.run(),
    until: done => client.until(done),
    campaign: () => client.campaign(),
    experiment: hypothesis => client.experiment(hypothesis),
    outcomes: () => client.outcomes(),
    reasonOf: hypothesis => client.reasonOf(hypothesis),
    events: () => client.events(),
    kinds: () => client.kinds(),
    alerts: () => client.alerts(),
    person: (...drafts) => client.person(...drafts),
    proven: () => proven(client.place),
    async close() {
      for (const each of posts) await each.close()
      chmodBack(root)
      rmSync(root, { recursive: true, force: true })
    },
  }
  open.push(made)
  return made
}

export async function proven(place: CampaignContext): Promise<void> {
  const { problems } = await auditLedger(place)
  const { differences } = await replayLedger(place)
  expect({ problems, differences }).toEqual({ problems: [], differences: [] })
}

export function gitIn(directory: string, more: Record<string, string> = {}): (...args: string[]) => string {
  return (...args) =>
    execFileSync('git', ['-C', directory, ...args], {
      env: { ...ENV, ...more },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trimEnd()
}

function writeFile(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  if (content.startsWith('#!')) chmodSync(file, 0o755)
}

function writeHook(bare: string, name: string, script: string | null): void {
  const file = join(bare, 'hooks', name)
  if (script === null) rmSync(file, { force: true })
  else writeFile(file, `#!/bin/sh\n${script}\n`)
}

/** A commit made in an index of its own, wherever the repository is. */
function commitWith(
  git: (...args: string[]) => string,
  change: {
    root: string
    from: string
    files: Record<string, string | null>
    message: string
    dates: Record<string, string>
  },
): string {
  const tree = mkdtempSync(join(change.root, 'by-hand-'))
  git('worktree', 'add', '-q', '--detach', join(tree, 'tree'), change.from)
  const inside = gitIn(join(tree, 'tree'), change.dates)
  for (const [path, content] of Object.entries(change.files)) {
    if (content === null) rmSync(join(tree, 'tree', path))
    else writeFile(join(tree, 'tree', path), content)
  }
  inside('add', '-A')
  const person = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.invalid']
  inside(...person, 'commit', '-q', '--allow-empty', '-m', change.message)
  const commit = inside('rev-parse', 'HEAD')
  git('worktree', 'remove', '--force', join(tree, 'tree'))
  return commit
}

function chmodBack(root: string): void {
  execFileSync('chmod', ['-R', 'u+rwX', root])
}
