import { join } from 'node:path'
import type { Oid } from '../model/ids.ts'
import type { PartialReport } from '../model/pairs.ts'
import type { Report, Side as Label } from '../model/report.ts'
import type { MeasureInput } from './input.ts'
import type { Supervisor } from './process/launch.ts'
import type { Owner } from './process/reaper.ts'
import type { Slot, Slots } from './slots.ts'
import type { TamperSnapshot, TrackedFile } from './tamper-check.ts'

/** One side of an order: what it is, where it lies, and what of it must not change. */
export interface OrderSide {
  readonly label: Label
  readonly tree: Oid
  readonly slot: Slot
  /** Who it runs as, and who owns what it left; null: whoever winnow is. */
  readonly owner: Owner | null
  /** Runs its code. */
  readonly supervisor: Supervisor
  build: number
  /** Known files, relative to the side's root. Set once it is laid out. */
  files: readonly TrackedFile[]
  snapshots: { files: TamperSnapshot; everything: TamperSnapshot } | null
  /** How often one of its executions may fail until nothing of it is started any more. */
  chances: number
  /** Nothing of it is started any more. */
  ended: boolean
  /** So many bytes of metrics it may still leave in the report. */
  room: number
}

/** What no experiment code may touch: the pin, laid out for the scorer, or a holdout. */
export interface TrustedTree {
  dir: string
  snapshot: TamperSnapshot
}

export type ReportDraft = Pick<Report, 'setups' | 'gates' | 'executions'> & {
  trees: Report['trees']
  unreaped: boolean
}

/** Everything one order needs while it is measured. */
export interface Session {
  readonly input: MeasureInput
  readonly slots: Slots
  readonly paths: SidePaths
  readonly sides: readonly OrderSide[]
  /** Runs the scorer, never as the user of a side. */
  readonly scorer: Pick<OrderSide, 'owner' | 'supervisor'>
  readonly allowed: Readonly<Record<string, string>>
  readonly sharedFiles: readonly string[]
  /** What a variable names as the holdout, if it comes from there. */
  readonly holdoutDirectory: string | null
  trusted: TrustedTree | null
  /** The holdout's data, while its command runs. */
  holdout: TrustedTree | null
  readonly draft: ReportDraft
  started: boolean
  /** The kernel's reason for the failure of the last command, if it has one. */
  machineFailure: string | null
  /** The block of pairs under way, counted from 0 in this run. */
  begun: PartialReport['begun']
  /** Hands over what was measured so far. */
  readonly keepPartial: () => Promise<void>
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

/** A file was changed that had to be byte-identical: the order ends, whoever was running. */
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

/** Everything a side may see of itself; each side in turn at the same absolute path (invariant 10). */
export interface SidePaths {
  root: string
  tree: string
  tmp: string
  out: string
  checkpoint: string
  /** HOME of a side with a user of its own, who has none. */
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
