import type { Json } from '../contract/describe.ts'
import type { BareGit } from './bare-git.ts'

/** Whoever sends a request: a person, or what a workflow's job may do with its GITHUB_TOKEN. */
export interface Account {
  login: string
  id: number
  kind: 'person' | 'actions' | 'app'
  permission: 'admin' | 'write' | 'read' | 'none'
  /** Of a token with narrow permissions: `pull_requests: write`. Null: whatever the account may do. */
  grants: Record<string, 'read' | 'write'> | null
  /** Of a classic token. */
  scopes?: string[]
  /** The run whose job has this token, and whether that job has ended. */
  run?: number
  ended?: boolean
}

export interface PullRecord {
  number: number
  title: string
  body: string
  author: Account
  /** Login of the fork's owner; null for a branch of the repository itself. */
  fork: string | null
  branch: string
  head: string
  base: string
  state: 'open' | 'closed'
  draft: boolean
  merge: { commit: string; by: string } | null
  /** Closed by the end of its branch: it can never be opened again. */
  headGone: boolean
  labels: string[]
  createdAt: string
  closedAt: string | null
  /** When somebody opened it again, each time. */
  reopenedAt: string[]
}

export interface CommentRecord {
  id: number
  number: number
  author: Account
  body: string
  createdAt: string
  editedAt: string | null
  reactions: { id: number; by: string; content: string }[]
}

export interface ReviewRecord {
  id: number
  number: number
  author: Account
  commit: string
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED' | 'PENDING'
  body: string
  /** Null: not sent yet. */
  at: string | null
}

export interface CheckRecord {
  id: number
  name: string
  head: string
  status: string
  /** Every status it had, however short. */
  history: string[]
  conclusion: string | null
  externalId: string
  detailsUrl: string | null
  output: Record<string, unknown>
}

export interface RunRecord {
  id: number
  /** Path of the workflow's file. */
  path: string
  name: string
  title: string
  event: string
  branch: string
  head: string
  status: string
  conclusion: string | null
  createdAt: string
  actor: string
  /** Started again so often; once unless told. */
  attempt?: number
  /** Owner and name of where its commit is from, if not this repository. */
  repository?: string
  /** Why it has no jobs. */
  refusal?: string
  /** What its jobs are told. A run that a test made up has no jobs. */
  job?: JobFacts
}

export interface JobFacts {
  /** GITHUB_SHA: the commit whose workflow file it is. */
  commit: string
  ref: string
  /** The event. */
  payload: Json
  number: number
  /** Its token may only read, and there are no secrets. */
  fromFork: boolean
  /** A GITHUB_TOKEN started it. */
  byToken: boolean
}

/** Runs the jobs of runs; without one a run stays queued until a test ends it. */
export interface Runner {
  start(run: RunRecord): void
  cancel(run: RunRecord): void
}

export interface ArtifactRecord {
  id: number
  run: number
  name: string
  bytes: Uint8Array
  createdAt: string
  expired: boolean
  /** Which attempt of the run made it; the first unless told. */
  attempt?: number
}

/** A repository that only holds an action. */
export interface OtherRepository {
  private: boolean
  commits: string[]
  /** Who may use what it holds. */
  access: 'none' | 'user' | 'organization'
}

export interface Settings {
  /** "Allow GitHub Actions to create and approve pull requests." */
  actionsMayOpenPulls: boolean
  /** Whether Actions are on, and which may run. */
  actions: {
    enabled: boolean
    allowed: 'all' | 'local_only' | 'selected'
    patterns: string[]
    githubs: boolean
  }
  /** What the token of a job may do whose workflow grants nothing. */
  defaultToken: 'read' | 'write'
  deletesMergedBranches: boolean
  private: boolean
  draftsSupported: boolean
  /** The newer answer to a dispatch, which names the run. */
  dispatchNamesRun: boolean
  /** Requests left in this hour. */
  allowance: number
  /** Each answer states the time by which it dates comments and reviews, and not that of this machine. */
  tellsTime: boolean
}

/** Everything this GitHub knows about its one repository but what git knows. */
export interface AttestedRecord {
  run: number
  subjects: { name: string; sha256: string }[]
  workflow: string
  commit: string
}

export interface World {
  owner: string
  repo: string
  url: string
  git: BareGit
  forks: Map<string, BareGit>
  accounts: Map<string, Account>
  settings: Settings
  pulls: PullRecord[]
  comments: CommentRecord[]
  reviews: ReviewRecord[]
  checks: CheckRecord[]
  runs: RunRecord[]
  artifacts: ArtifactRecord[]
  /** What a job had GitHub attest, with what the certificate would say of the job. */
  attested: AttestedRecord[]
  variables: Map<string, string>
  /** Environments with the names of their secrets. */
  environments: Map<string, Set<string>>
  /** Branches that an environment is for; any unless it is here. */
  environmentBranches: Map<string, string[]>
  /** Other repositories, by owner/name: those of actions. */
  others: Map<string, OtherRepository>
  /** Who is in the teams of the organisation, by slug. */
  teams: Map<string, Set<string>>
  /** Workflows by path, and whether they are on. */
  workflowStates: Map<string, string>
  /** Rules of rulesets by the start of the branches they hold on. */
  rules: { under: string; type: string }[]
  /** Classic protection by branch, as it is told to administrators. */
  protection: Map<string, Record<string, unknown>>
  /** Every head that a branch had, and who pushed it; null: nobody knows any more. Unsaid: who opened its pull request. */
  pushes: { owner: string; branch: string; after: string }[]
  pushers: Map<string, string | null>
  /** Branches by short name, as they were when they were last looked at. */
  tips: Map<string, string>
  /** Every branch that a push moved, and by whom. */
  pushed: { by: string; branch: string }[]
  runner: Runner | null
  /** When all commits are made, as `<seconds> +0000`; null: now. */
  commitDate: string | null
  nextNumber: number
  nextId: number
  clock: number
}

export function defaultBranch({ git }: World): Promise<string> {
  return git.defaultBranch()
}

/** Time passes with every thing that happens, so that all can be told apart by it. */
export function now(world: World): string {
  world.clock += 1000
  return new Date(world.clock).toISOString().replace('.000', '')
}

export function commitDateAt(milliseconds: number): string {
  return `${Math.floor(milliseconds / 1000)} +0000`
}

export function freshId(world: World): number {
  return world.nextId++
}

export function accountOf(world: World, login: string): Account | null {
  return [...world.accounts.values()].find(each => each.login === login) ?? null
}
