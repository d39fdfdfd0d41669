import { join } from 'node:path'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Oid } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import type { PartialReport } from '../model/pairs.ts'
import type { Reach } from '../model/reach.ts'
import type { Side as Label, ModelCost, Report, Side } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import type { chooseCounter } from './counter.ts'
import { requireSideUsers, type SideUsers } from './isolation/side-users.ts'
import type { Item } from './output/harness-output.ts'
import type { Supervisor } from './process/launch.ts'
import type { Owner } from './process/reaper.ts'
import type { Slot, Slots } from './slots.ts'
import type { SnapshotEntry, TamperSnapshot, TrackedFile, TreeSource } from './tamper-check.ts'

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
  /** Awaited after each execution. For display only: no measurement depends on it. */
  onExecution?: (executions: Report['executions']) => Promise<void>
  /** Awaited around executions and blocks of pairs. Keeps the results in case this run is lost. */
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
  /** Set where the spec lets the harness ask models. */
  models?: MeteredModels
  /** Size limit of a report that is transferred between jobs. */
  mostReportBytes?: number
}

/** Models that a harness asks through winnow, which counts what each execution spends. */
export interface MeteredModels {
  /** For one execution: its variables hold a key that is worth nothing elsewhere, or later. */
  open(): MeteredCalls
  usage(): NonNullable<Report['metered']>
}

export interface MeteredCalls {
  env: Readonly<Record<string, string>>
  end: () => Promise<MeteredEnd>
}

export interface MeteredEnd {
  cost: ModelCost
  /** The execution wanted to spend more than one may: its own failure. */
  overrun: string | null
  /** Models could not be asked: the failure of no side. */
  failed: string | null
}

export type Workspace = Pick<MeasureInput, 'workDir' | 'users'>

/** A machine uses side users only if the spec asks for them. */
export function isUserIsolated({ measurement }: Pick<Spec, 'measurement'>): boolean {
  return measurement.isolation === 'uid'
}

export function chooseWorkspace(spec: Pick<Spec, 'measurement'>, workDir: string): Workspace {
  return isUserIsolated(spec) ? buildUserWorkspace(requireSideUsers(), workDir) : { workDir }
}

/** The default work directory may be below a home that side users cannot enter. */
export function buildUserWorkspace(users: SideUsers, workDir: string): Required<Workspace> {
  return { users, workDir: join(users.dir, `work-${hashSha256(workDir).slice(0, 12)}`) }
}

// Session

export interface OrderSide {
  readonly label: Label
  readonly tree: Oid
  readonly slot: Slot
  /** The user that runs the side and owns its files. Null: winnow's own user. */
  readonly owner: Owner | null
  readonly supervisor: Supervisor
  build: number
  /** Relative to the side's root. Set once the side is laid out. */
  files: readonly TrackedFile[]
  snapshots: { files: TamperSnapshot; everything: TamperSnapshot } | null
  /** Set once the side is set up. */
  start: StartState | null
  /** Failed executions that are left before the side ends. */
  chances: number
  /** The side is not run any more. */
  ended: boolean
  /** Bytes of metrics that the side may still add to the report. */
  room: number
}

/**
 * Every execution of a side starts from the state that its set-up left: an execution that could leave answers for
 * the next one would be faster from then on.
 */
export interface StartState {
  /** Folders and files of the side as the set-up left them, by path. */
  entries: ReadonlyMap<string, SnapshotEntry>
  /** Paths of the tree's own files, which no run may change. */
  tracked: ReadonlySet<string>
  /** A copy of the set-up's files; null where the side holds nothing but its tree. */
  copy: TrustedTree | null
}

/** Files that no experiment code may touch: the pin, laid out for the scorer, or a holdout. */
export interface TrustedTree {
  dir: string
  snapshot: TamperSnapshot
}

export type ReportDraft = Pick<Report, 'setups' | 'gates' | 'executions'> & {
  trees: Report['trees']
  unreaped: boolean
  /** How the sides without users of their own can reach each other; null until the sides are known. */
  reach: Reach[] | null
}

export interface Session {
  readonly input: MeasureInput
  readonly slots: Slots
  readonly paths: SidePaths
  readonly sides: readonly OrderSide[]
  /** Runs the scorer, never as the user of a side. */
  readonly scorer: Pick<OrderSide, 'owner' | 'supervisor'>
  readonly allowed: Readonly<Record<string, string>>
  /** The person's HOME, from which the HOME of a side is made. */
  readonly realHome: string | null
  readonly sharedFiles: readonly string[]
  /** The holdout directory from an environment variable, if that is its source. */
  readonly holdoutDirectory: string | null
  /** Counts what an execution does; null where the spec counts nothing. */
  readonly counter: ReturnType<typeof chooseCounter>
  trusted: TrustedTree | null
  holdout: TrustedTree | null
  readonly draft: ReportDraft
  started: boolean
  /** The kernel's reason for the failure of the last command, if it has one. */
  machineFailure: string | null
  /** The current block of pairs, counted from 0 in this run. */
  begun: PartialReport['begun']
  readonly keepPartial: () => Promise<void>
  /** The report as far as it goes. */
  readonly buildReport: () => Report
}

export function getClockFile(session: Session): string {
  return join(session.input.workDir, 'clock')
}

export function findBaseSide(session: Session): OrderSide | undefined {
  return session.sides.find(side => side.label === 'base')
}

export function listCandidateSides(session: Session): OrderSide[] {
  return session.sides.filter(side => side.label !== 'base')
}

/** A protected file changed. The order ends. */
export class Tampered extends Error {
  override readonly name = 'Tampered'
  readonly during: Label
  readonly path: string
  constructor(during: Label, path: string) {
    super(`${path} changed while ${during} ran`)
    this.during = during
    this.path = path
  }
}

/** The paths that a side may see. Every side uses the same absolute paths in turn (invariant 10). */
export interface SidePaths {
  root: string
  tree: string
  tmp: string
  out: string
  checkpoint: string
  /** HOME. */
  home: string
  result: string
  progress: string
  stdout: string
  stderr: string
}

export function getSidePaths(root: string): SidePaths {
  return {
    root,
    tree: join(root, 'tree'),
    tmp: join(root, 'tmp'),
    out: join(root, 'out'),
    checkpoint: join(root, 'checkpoint'),
    home: join(root, 'home'),
    result: join(root, 'result.json'),
    progress: join(root, 'progress.jsonl'),
    stdout: join(root, 'stdout'),
    stderr: join(root, 'stderr'),
  }
}
