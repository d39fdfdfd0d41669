import { join } from 'node:path'
import type { TreeEntry } from '../git/tree.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Oid } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import type { PartialReport } from '../model/pairs.ts'
import type { Report, Side } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { requireSideUsers, type SideUsers } from './isolation/side-users.ts'
import type { Item } from './output/harness-output.ts'

/**
 * The part of src/git's Repository that a runner needs. It reads and lays out trees, and never writes to the
 * repository.
 */
export interface TreeSource {
  readonly objectFormat: 'sha1' | 'sha256'
  tree(oid: Oid): Promise<readonly TreeEntry[]>
  materialize(tree: Oid, dir: string): Promise<void>
  updateMaterialized(from: Oid, to: Oid, dir: string): Promise<void>
}

export interface MeasureInput {
  order: Order
  spec: Spec
  runId: string
  repository: TreeSource
  /** Absolute path. winnow keeps it between orders, so that similar trees are not laid out again. */
  workDir: string
  /** The user's repository, which holds `parallel.shared_files` and `measurement.env_file`. */
  sharedRoot: string | null
  /** The invoking user's environment. Only allowed names pass (invariant 6). */
  env: Readonly<Record<string, string>>
  now: () => number
  /** Monotonic clock in milliseconds. */
  monotonic: () => number
  /** Ends the process tree without a report. */
  signal: AbortSignal
  /** Another process may be timing a command on this machine, so commands run at low priority. */
  beside?: boolean
  /** Awaited once, before harness code runs for the first time. From then on the order has started. */
  onStart: () => Promise<void>
  /**
   * Awaited after each execution with all executions so far. For display only: no measurement depends on it.
   */
  onExecution?: (executions: Report['executions']) => Promise<void>
  /**
   * Awaited before the first execution, before each block of pairs and after each execution. Keeps the
   * results in case this run is lost.
   */
  onPartial?: (partial: PartialReport) => Promise<void>
  /** Receives the items that a side printed for a judge. The report gets only their scores. */
  onItems?: (side: Side, items: readonly Item[]) => void
  /** Compares two trees for a person: each side uses its own harness, and no file is protected. */
  unpinned?: true
  /** First port of this runner, if several share a machine. Defaults to `parallel.port_base`. */
  portBase?: number
  /** Each side runs as one of these users, drawn by the order's coins, and cannot reach the other sides. */
  users?: SideUsers
  /** Folders of code that later runs as another user. No side's user may be able to write there. */
  laterCode?: readonly string[]
  /** Why sides have no users of their own. For the report. */
  unisolatedBecause?: string
  /** Size limit of a report that is transferred between jobs. */
  mostReportBytes?: number
}

export type Workspace = Pick<MeasureInput, 'workDir' | 'users'>

/** A machine uses side users only if the spec asks for them. */
export function isUserIsolated({ measurement }: Pick<Spec, 'measurement'>): boolean {
  return measurement.isolation === 'uid'
}

export function chooseWorkspace(spec: Pick<Spec, 'measurement'>, workDir: string): Workspace {
  return isUserIsolated(spec) ? buildUserWorkspace(requireSideUsers(), workDir) : { workDir }
}

/**
 * Moves the work directory to a place that side users can enter: the default may be below a home directory.
 */
export function buildUserWorkspace(users: SideUsers, workDir: string): Required<Workspace> {
  return { users, workDir: join(users.dir, `work-${hashSha256(workDir).slice(0, 12)}`) }
}
