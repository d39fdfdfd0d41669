import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { type Api, apiOf } from './api.ts'
import { bareGit } from './bare-git.ts'
import { installHook } from './hook.ts'
import { serve } from './server.ts'
import { type Account, freshId, now, type RunRecord, type Settings, type World } from './world.ts'

/** A GitHub of our own with one repository, on loopback: real git over HTTP, the REST and GraphQL that we use. */
export interface EmulatedGithub {
  url: string
  /** The repository itself, for tests to look into and to push to without a server. */
  bare: string
  world: World
  api: Api
  /** A token of a new account, or of a job. */
  token(login: string, rest?: Partial<Omit<Account, 'login' | 'id'>>): string
  /** A token as a workflow's job gets it. */
  jobToken(grants: NonNullable<Account['grants']>): string
  remote(token: string): { url: string; env: Record<string, string> }
  fork(owner: string): string
  protect(...branches: string[]): void
  /** A ruleset: nobody updates, or makes, such a branch by a push. */
  rule(rules: readonly Rule[]): void
  /** A job's token brings no workflow to a branch, wherever else it lies. */
  refuseWorkflows(refuses: boolean): void
  /** Pull requests into it follow. */
  renameDefault(to: string): void
  finish(run: RunRecord, conclusion: string, artifacts?: Record<string, Record<string, string>>): void
  upload(run: RunRecord, name: string, archive: Uint8Array): void
  /** Takes in what pushes did. */
  settle(): Promise<void>
  /** Requests that count, since the last time this was asked. */
  spent(): string[]
  /** Fails if anything went over the wire that GitHub would not have said or understood. */
  stop(): Promise<void>
}

export interface Rule {
  on: 'update' | 'creation'
  branches: string
  /** As GitHub names it to who is in its way. */
  says: string
}

const OWNER = 'team'
const REPO = 'project'
export const BEGINNING = Date.parse('2026-01-02T03:04:05Z')

const SETTINGS: Settings = {
  actionsMayOpenPulls: true,
  actions: { enabled: true, allowed: 'all', patterns: [], githubs: true },
  defaultToken: 'read',
  deletesMergedBranches: false,
  private: false,
  draftsSupported: true,
  dispatchNamesRun: true,
  allowance: 1000,
  tellsTime: false,
}

export async function emulatedGithub(settings: Partial<Settings> = {}): Promise<EmulatedGithub> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-github-'))
  const bare = newRepository(root, OWNER)
  const world: World = {
    owner: OWNER,
    repo: REPO,
    url: '',
    git: bareGit(bare),
    forks: new Map(),
    accounts: new Map(),
    settings: { ...structuredClone(SETTINGS), ...settings },
    pulls: [],
    comments: [],
    reviews: [],
    checks: [],
    runs: [],
    attested: [],
    artifacts: [],
    variables: new Map(),
    environments: new Map(),
    environmentBranches: new Map(),
    others: new Map(),
    teams: new Map(),
    workflowStates: new Map(),
    rules: [],
    protection: new Map(),
    pushes: [],
    pushers: new Map(),
    tips: new Map(),
    pushed: [],
    runner: null,
    commitDate: null,
    nextNumber: 1,
    nextId: 1001,
    clock: BEGINNING,
  }
  const api = apiOf(world)
  const server = await serve(world, api, root)
  world.url = server.url
  let told = 0

  function token(login: string, rest: Partial<Omit<Account, 'login' | 'id'>> = {}): string {
    const made = `token-of-${login}-${world.accounts.size}`
    const known = [...world.accounts.values()].find(each => each.login === login)
    const account = { kind: 'person', permission: 'write', grants: null, ...rest } as const
    world.accounts.set(made, { login, id: known?.id ?? freshId(world), ...account })
    return made
  }

  return {
    url: server.url,
    bare,
    world,
    api,
    token,
    jobToken: grants => token('github-actions[bot]', { kind: 'actions', grants }),
    remote: key => ({ url: `${server.url}/${OWNER}/${REPO}.git`, env: credentials(server.url, key) }),
    fork(owner) {
      const dir = newRepository(root, owner)
      execFileSync('git', ['-C', dir, 'fetch', '-q', bare, '+refs/heads/*:refs/heads/*'])
      world.forks.set(owner, bareGit(dir))
      return dir
    },
    protect: (...branches) => writeFileSync(join(bare, 'protected'), `${branches.join('\n')}\n`),
    rule: rules =>
      writeFileSync(
        join(bare, 'rules'),
        rules.map(({ on, branches, says }) => `${on}|${branches}|${says}\n`).join(''),
      ),
    refuseWorkflows(refuses) {
      const file = join(bare, 'no-workflows')
      if (refuses) writeFileSync(file, '')
      else rmSync(file, { force: true })
    },
    renameDefault(to) {
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', bare, ...args], { encoding: 'utf8' }).trim()
      const from = git('symbolic-ref', '--short', 'HEAD')
      git('branch', '-m', from, to)
      for (const pull of world.pulls) if (pull.base === from) pull.base = to
    },
    finish(run, conclusion, artifacts = {}) {
      for (const [name, files] of Object.entries(artifacts)) {
        const encoded = Object.entries(files).map(
          ([path, text]) => [path, new TextEncoder().encode(text)] as const,
        )
        upload(run, name, zipSync(Object.fromEntries(encoded)))
      }
      Object.assign(run, { status: 'completed', conclusion })
    },
    upload,
    settle: () => server.settle(),
    spent() {
      const since = api.log.slice(told).filter(({ free }) => !free)
      told = api.log.length
      return since.map(({ route }) => route)
    },
    async stop() {
      await server.stop()
      rmSync(root, { recursive: true, force: true })
      if (api.violations.length > 0)
        throw new Error(`GitHub does not speak so:\n${api.violations.join('\n')}`)
    },
  }

  function upload(run: RunRecord, name: string, bytes: Uint8Array): void {
    world.artifacts.push({
      id: freshId(world),
      run: run.id,
      name,
      bytes,
      createdAt: now(world),
      expired: false,
    })
  }
}

/** What an emulated GitHub without forks and runner holds, for other tests to begin with. */
export interface Snapshot {
  repository: string
  held: Omit<World, 'url' | 'git' | 'forks' | 'runner'>
}

/** Its repository is copied to that folder, which is the caller's to remove. */
export function snapshotOf({ bare, world }: EmulatedGithub, repository: string): Snapshot {
  const { url: _url, git: _git, forks, runner, ...held } = world
  if (forks.size > 0 || runner !== null) throw new Error('forks and runners cannot be kept')
  cpSync(bare, repository, { recursive: true })
  return { repository, held: structuredClone(held) }
}

export async function githubFrom({ repository, held }: Snapshot): Promise<EmulatedGithub> {
  const github = await emulatedGithub()
  rmSync(github.bare, { recursive: true })
  cpSync(repository, github.bare, { recursive: true })
  Object.assign(github.world, structuredClone(held))
  return github
}

function newRepository(root: string, owner: string): string {
  const dir = join(root, owner, `${REPO}.git`)
  // Its branches are read from files.
  const env = { ...process.env, GIT_DEFAULT_REF_FORMAT: 'files' }
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', '--template=', dir], { env })
  installHook(dir)
  return dir
}

/** As the action passes them to git. */
function credentials(url: string, token: string): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `http.${url}/.extraheader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`,
  }
}
