import { buildUserWorkspace, type Workspace } from '../measure/users/lodging.ts'
import { runDryRun } from '../measure/users/rehearsal.ts'
import { type MissingUsers, toMissingUsersError, type SideUsers } from '../measure/users/side-users.ts'
import type { MeasureInput } from '../measure/input.ts'
import type { Spec } from '../spec/schema.ts'

/** As whom a job measures: with users of their own, or without and why. */
export type JobWorkspace = Required<Workspace> | { workDir: string; unisolatedBecause: string }

/** What a job that holds a token has for running code of others. */
export interface JobIsolation {
  users: SideUsers | MissingUsers
  /** Root measures with users of sides alone, and hands everything else back to who started it. */
  asRoot: boolean
  /** Folders of code that later steps of the job run. */
  laterCode: readonly string[]
}

/** Root measured nothing, since it could not do it with users: another process has to. */
export class MeasurementDeclined extends Error {}

interface WorkspaceRequest {
  users: SideUsers | MissingUsers
  /** How orders of the same harness were measured; null where none was yet. */
  before: boolean | null
  spec: Spec
  /** Tries what is pinned as one of these users: why it does not work that way, or null. */
  runDryRun: (lodging: Required<Workspace>) => Promise<string | null>
}

/**
 * One order is measured entirely one way, and so are all that a campaign compares: isolation belongs to the harness,
 * whose hash knows what the spec says of it. What `auto` comes to, its first report says, and every later job keeps to it.
 */
export async function chooseJobWorkspace(workDir: string, asked: WorkspaceRequest): Promise<JobWorkspace> {
  const { users, spec } = asked
  const { isolation } = spec.measurement
  const without = (unisolatedBecause: string) => ({ workDir, unisolatedBecause })
  if (isolation === 'none') return without('the spec says isolation: none')
  const before = isolation === 'auto' ? asked.before : true
  if (before === false) return without('what it is compared with was measured without isolation')
  if (!('owners' in users)) {
    if (before === null) return without(users.what)
    throw toMissingUsersError(users)
  }
  const lodging = buildUserWorkspace(users, workDir)
  if (before === true) return lodging
  const why = await asked.runDryRun(lodging)
  return why === null ? lodging : without(why)
}

/** Once more where it fails: a registry that did not answer is no reason to do without. */
export async function retryDryRun(input: MeasureInput): Promise<string | null> {
  return (await runDryRun(input)) && (await runDryRun(input))
}
