import type { Oid } from './ids.ts'

export const WORKFLOW_FILE = 'winnow.yml'

/** The state of a head, as a check shows it. winnow only writes checks and never decides by them. */
export interface Check {
  name: string
  head: Oid
  /** The external id that winnow gives it. */
  id: string
  state: 'in-progress' | 'success' | 'neutral' | 'failure'
  title: string
  summary: string
  annotations?: readonly CheckAnnotation[]
  /** An earlier process may have written it: only the check itself can tell. */
  again?: true
}

interface CheckAnnotation {
  path: string
  line: number
  message: string
}

/** Facts about a repository. A field is null where the token may not read it. */
export interface Examination {
  permissions: Readonly<Record<string, boolean>> | null
  /** Scopes of a classic token; null for any other token. */
  scopes: string[] | null
  /** Setting "Allow GitHub Actions to create and approve pull requests". */
  actionsOpenPulls: boolean | null
  /** Default permissions of a job whose workflow grants none. */
  defaultToken: 'read' | 'write' | null
  policy: ActionsPolicy | null
  isPublic: boolean
  environment: EnvironmentSecret | null
  /** Null when the request named no action. */
  action: ActionRepository | null
  /** The repository variable that pauses winnow is set. */
  paused: boolean
  /** In the order of the requested branches. */
  guards: BranchGuard[]
  /** State of each workflow by its path. */
  workflows: Map<string, string> | null
  /** GitHub's clock minus the local clock, in seconds. */
  skewSeconds: number | null
}

/** Protection of a branch that winnow writes. */
export interface BranchGuard {
  branch: string
  /** Kinds of rules, from rulesets and classic protection; null where unreadable. */
  rules: string[] | null
  /** The branch is protected, but only administrators can read how. */
  hidden: boolean
}

export interface ActionsPolicy {
  enabled: boolean
  allowed: 'all' | 'local_only' | 'selected' | null
  /** With `allowed: 'selected'`; null where unreadable. */
  selected: { githubOwned: boolean; patterns: string[] } | null
}

export interface EnvironmentSecret {
  exists: boolean | null
  hasSecret: boolean | null
  /** Branch patterns that may use it; null for any branch, or where unreadable. */
  branches: readonly string[] | 'protected' | null
}

/** The action's repository, as far as the token sees it. */
export interface ActionRepository {
  /** Also false where the token may not see it. */
  exists: boolean
  isPrivate: boolean
  hasCommit: boolean | null
  /** Access level of a private repository for other repositories; null where unreadable. */
  access: string | null
}
