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

/** What of src/git's Repository a runner needs: it reads trees and lays them out, and writes nothing. */
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
  /** Absolute and ours; kept between orders, so that trees that hardly differ are not laid out again. */
  workDir: string
  /** Where `parallel.shared_files` and `measurement.env_file` are found: the user's repository. */
  sharedRoot: string | null
  /** The invoking user's environment, from which only the allow-list passes (invariant 6). */
  env: Readonly<Record<string, string>>
  now: () => number
  /** Milliseconds that never go back. */
  monotonic: () => number
  /** Ends the process tree; nothing is reported. */
  signal: AbortSignal
  /** Another process may time something meanwhile: commands are started at low priority. */
  beside?: boolean
  /** Awaited once, just before harness code runs for the first time: from here on the order has started. */
  onStart: () => Promise<void>
  /** Awaited after each execution with all so far, for whoever watches: nothing that is measured depends on it. */
  onExecution?: (executions: Report['executions']) => Promise<void>
  /** Awaited before the first execution, before each block of pairs and after each execution: what a loss would keep. */
  onPartial?: (partial: PartialReport) => Promise<void>
  /** What a side printed for a judge to score. It is no part of the report: the scores are. */
  onItems?: (side: Side, items: readonly Item[]) => void
  /** Each side brings a ruler of its own and nothing is protected: two trees, compared for a person. */
  unpinned?: true
  /** First port of this runner, where several work on one machine; otherwise `parallel.port_base`. */
  portBase?: number
  /** Each side runs as one of these, which cannot reach the others: drawn by the order's coins. */
  users?: SideUsers
  /** Folders of code that runs after the order as somebody else: no user of a side may be able to write there. */
  laterCode?: readonly string[]
  /** Why there are none, for the report, where there could have been. */
  unisolatedBecause?: string
  /** So many bytes a report may have, where it has to travel. */
  mostReportBytes?: number
}

/** Where an order is measured, and as whom. */
export type Workspace = Pick<MeasureInput, 'workDir' | 'users'>

/** A machine of its own accord gives sides no users: they are asked for. */
export function isUserIsolated({ measurement }: Pick<Spec, 'measurement'>): boolean {
  return measurement.isolation === 'uid'
}

export function chooseWorkspace(spec: Pick<Spec, 'measurement'>, workDir: string): Workspace {
  return isUserIsolated(spec) ? buildUserWorkspace(requireSideUsers(), workDir) : { workDir }
}

/** A work directory that users of sides can enter stands for one that may lie below a home. */
export function buildUserWorkspace(users: SideUsers, workDir: string): Required<Workspace> {
  return { users, workDir: join(users.dir, `work-${hashSha256(workDir).slice(0, 12)}`) }
}
