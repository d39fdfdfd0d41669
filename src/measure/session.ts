import { join } from 'node:path'
import type { Oid } from '../model/ids.ts'
import type { PartialReport } from '../model/pairs.ts'
import type { Report, Side as Label } from '../model/report.ts'
import type { MeasureInput } from './input.ts'
import type { Supervisor } from './process/launch.ts'
import type { Owner } from './process/reaper.ts'
import type { Slot, Slots } from './slots.ts'
import type { TamperSnapshot, TrackedFile } from './tamper-check.ts'

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
  /** Failed executions that are left before the side ends. */
  chances: number
  /** The side is not run any more. */
  ended: boolean
  /** Bytes of metrics that the side may still add to the report. */
  room: number
}

/** Files that no experiment code may touch: the pin, laid out for the scorer, or a holdout. */
export interface TrustedTree {
  dir: string
  snapshot: TamperSnapshot
}

export type ReportDraft = Pick<Report, 'setups' | 'gates' | 'executions'> & {
  trees: Report['trees']
  unreaped: boolean
}

export interface Session {
  readonly input: MeasureInput
  readonly slots: Slots
  readonly paths: SidePaths
  readonly sides: readonly OrderSide[]
  /** Runs the scorer, never as the user of a side. */
  readonly scorer: Pick<OrderSide, 'owner' | 'supervisor'>
  readonly allowed: Readonly<Record<string, string>>
  readonly sharedFiles: readonly string[]
  /** The holdout directory from an environment variable, if that is its source. */
  readonly holdoutDirectory: string | null
  trusted: TrustedTree | null
  holdout: TrustedTree | null
  readonly draft: ReportDraft
  started: boolean
  /** The kernel's reason for the failure of the last command, if it has one. */
  machineFailure: string | null
  /** The current block of pairs, counted from 0 in this run. */
  begun: PartialReport['begun']
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
  /** HOME of a side whose user has none. */
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
