import { lstatSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { moveDamagedAside } from '../git/damage.ts'
import { reopen } from './file-system.ts'
import { clearSharedFolders, isFolder } from './isolation/side-users.ts'
import { detectMachineFailure, MachineFailed, readKernelCounts, refuseFull } from './machine.ts'
import { type Ended, type Launch, lowerPriority } from './process/launch.ts'
import { endMarked, noteSupervisor } from './process/leftovers.ts'
import type { Owner } from './process/reaper.ts'
import { getClockFile, type OrderSide, type Session, Tampered } from './session.ts'
import { findTamperedPath, snapshotEverything, type TamperSnapshot, UncheckablePath } from './tamper-check.ts'

type GuardedCommand = Pick<Launch, 'command' | 'env' | 'timeoutSeconds'>

/**
 * Invariant 6: the one place where experiment code is started. Every seal is checked when it has ended, and no
 * process of it is alive then. On stage is the side itself, or a throw-away copy of it.
 */
export async function runGuarded(
  session: Session,
  side: OrderSide,
  onStage: 'itself' | 'copy',
  command: GuardedCommand,
): Promise<Ended> {
  await refuseLate(session)
  await waitUntilPast(getClockFile(session), findNewestStamp(session))
  const { workDir, spec } = session.input
  const launch: Launch = {
    ...command,
    command: session.input.beside ? lowerPriority(command.command) : command.command,
    cwd: join(session.paths.tree, spec.measurement.working_directory),
    stdout: session.paths.stdout,
    stderr: session.paths.stderr,
    signal: session.input.signal,
  }
  const before = readKernelCounts()
  const ended = await side.supervisor.run(launch, pid => noteSupervisor(workDir, pid))
  session.machineFailure =
    ended.exitCode === 0 ? null : detectMachineFailure(before, readKernelCounts(), ended)
  if (ended.unreaped) {
    session.draft.unreaped = true
    await endMarked(workDir)
  }
  if (side.owner !== null) await clearUserTraces(side.owner, ended)
  reopen(session.paths.root)
  checkTampering(session, side.label, onStage === 'itself' ? side : null)
  return ended
}

/** Whatever is done from here on is done by root among files of that user, of whom nothing may run. */
async function clearUserTraces(owner: Owner, { unreaped }: Ended): Promise<void> {
  if (unreaped) throw new Error(`processes of user ${owner.uid} could not be ended`)
  await clearSharedFolders(owner)
}

function findNewestStamp(session: Session): bigint {
  const seals = session.sides.flatMap(({ snapshots: seals }) =>
    seals === null ? [] : [seals.files, seals.everything],
  )
  for (const tree of [session.trusted, session.holdout]) if (tree !== null) seals.push(tree.snapshot)
  return seals.reduce((newest, seal) => (seal.newest > newest ? seal.newest : newest), 0n)
}

/** The running side may change what its set-up made; of everybody else nothing may change. */
function checkTampering(session: Session, label: OrderSide['label'], running: OrderSide | null): void {
  const format = session.input.repository.objectFormat
  for (const side of session.sides) {
    if (side.snapshots === null) continue
    // Behind a link all may be as it was, until somebody moves the link.
    if (!isFolder(session.slots.getPath(side.slot))) throw new Tampered(label, 'the folder of a side')
    const seal = side === running ? side.snapshots.files : side.snapshots.everything
    const broken = findTamperedPath(seal, session.slots.getPath(side.slot), format)
    if (broken !== null) throw new Tampered(label, broken.replace(/^tree\//, ''))
  }
  const { trusted } = session
  const broken = trusted === null ? null : findTamperedPath(trusted.snapshot, trusted.dir, format)
  if (broken !== null) throw new Tampered(label, broken)
  const { holdout } = session
  // Not even the name of a file of it is told.
  if (holdout !== null && findTamperedPath(holdout.snapshot, holdout.dir, format) !== null)
    throw new Tampered(label, 'the holdout')
  if (running?.snapshots)
    running.snapshots.everything = snapshotLeft(session, running, running.snapshots.files)
}

/** What it left and nobody can look at is its own doing: it would be measured again as a failure of the runner. */
function snapshotLeft(session: Session, running: OrderSide, whole: TamperSnapshot): TamperSnapshot {
  try {
    return snapshotSide(session, running, whole)
  } catch (error) {
    if (error instanceof UncheckablePath) throw new Tampered(running.label, error.path.replace(/^tree\//, ''))
    throw error
  }
}

export function snapshotSide(session: Session, side: OrderSide, whole?: TamperSnapshot): TamperSnapshot {
  const { objectFormat } = session.input.repository
  return snapshotEverything(session.slots.getPath(side.slot), side.files, objectFormat, whole)
}

async function refuseLate({ input }: Session): Promise<void> {
  input.signal.throwIfAborted()
  if (input.now() >= Date.parse(input.order.deadline)) {
    throw new Error(`the order's deadline (${input.order.deadline}) passed before it was measured`)
  }
}

/**
 * Returns when the file system's clock is past `newest`, so that the next write to any sealed file moves its
 * change time: that clock ticks every few milliseconds only.
 */
export async function waitUntilPast(file: string, newest: bigint): Promise<void> {
  writeFreshFile(file)
  while (lstatSync(file, { bigint: true }).ctimeNs <= newest) {
    await delay(1)
    utimesSync(file, new Date(), new Date())
  }
}

/** A folder, or a file that may not be written any more, stands in the way: it is put aside. */
function writeFreshFile(file: string): void {
  try {
    writeFileSync(file, '')
  } catch (error) {
    const inTheWay =
      error instanceof Error && 'code' in error && /^(?:EISDIR|EACCES|ELOOP)$/.test(String(error.code))
    if (!inTheWay) throw error
    moveDamagedAside(file)
    writeFileSync(file, '')
  }
}

/** After something has failed and was written down: where the machine is to blame, the order ends as the runner's failure. */
export async function refuseMachine({ machineFailure, input }: Session): Promise<void> {
  if (machineFailure !== null) throw new MachineFailed(machineFailure)
  await refuseFull(input.workDir)
}
