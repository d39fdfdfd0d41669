import { lstatSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { moveDamagedAside } from '../git/damage.ts'
import { hasErrorCode, reopen } from './file-system.ts'
import { clearSharedFolders, isFolder } from './isolation/side-users.ts'
import { ClockSetBack, detectMachineFailure, MachineFailed, readKernelCounts, refuseFull } from './machine.ts'
import { type Ended, type Launch, lowerPriority } from './process/launch.ts'
import { endMarked, noteSupervisor } from './process/leftovers.ts'
import { getClockFile, type OrderSide, type Session, Tampered } from './session.ts'
import { findTamperedPath, snapshotEverything, type TamperSnapshot, UncheckablePath } from './tamper-check.ts'

type GuardedCommand = Pick<Launch, 'command' | 'env' | 'timeoutSeconds'>

/**
 * Invariant 6: the only place that starts experiment code. After it returns, every snapshot has been checked
 * and no process of the command is alive. The stage holds the side itself or a throw-away copy of it.
 */
export async function runGuarded(
  session: Session,
  side: OrderSide,
  onStage: 'itself' | 'copy',
  command: GuardedCommand,
): Promise<Ended> {
  refuseLate(session)
  await waitUntilPast(getClockFile(session), findNewestStamp(session))
  const { workDir, spec } = session.input
  const launch: Launch = {
    ...command,
    command: session.input.beside ? lowerPriority(command.command) : command.command,
    cwd: join(session.paths.tree, spec.measurement.working_directory),
    maxProcesses: spec.measurement.max_processes,
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
  if (side.owner !== null) {
    // From here on root works among files of that user, so none of its processes may be running.
    if (ended.unreaped) throw new Error(`processes of user ${side.owner.uid} could not be ended`)
    await clearSharedFolders(side.owner)
  }
  reopen(session.paths.root)
  checkTampering(session, side.label, onStage === 'itself' ? side : null)
  return ended
}

function findNewestStamp(session: Session): bigint {
  const snapshots = session.sides.flatMap(({ snapshots }) =>
    snapshots === null ? [] : [snapshots.files, snapshots.everything],
  )
  for (const tree of [session.trusted, session.holdout]) if (tree !== null) snapshots.push(tree.snapshot)
  return snapshots.reduce((newest, snapshot) => (snapshot.newest > newest ? snapshot.newest : newest), 0n)
}

/** The running side may change the outputs of its setup. All other files must stay as they were. */
function checkTampering(session: Session, label: OrderSide['label'], running: OrderSide | null): void {
  const format = session.input.repository.objectFormat
  for (const side of session.sides) {
    if (side.snapshots === null) continue
    // A link could show the same files now and be redirected later.
    if (!isFolder(session.slots.getPath(side.slot))) throw new Tampered(label, 'the folder of a side')
    const snapshot = side === running ? side.snapshots.files : side.snapshots.everything
    const broken = findTamperedPath(snapshot, session.slots.getPath(side.slot), format)
    if (broken !== null) throw new Tampered(label, broken.replace(/^tree\//, ''))
  }
  const { trusted } = session
  const broken = trusted === null ? null : findTamperedPath(trusted.snapshot, trusted.dir, format)
  if (broken !== null) throw new Tampered(label, broken)
  const { holdout } = session
  // The report must not reveal even a file name of the holdout.
  if (holdout !== null && findTamperedPath(holdout.snapshot, holdout.dir, format) !== null)
    throw new Tampered(label, 'the holdout')
  if (running?.snapshots)
    running.snapshots.everything = snapshotLeft(session, running, running.snapshots.files)
}

/** Unreadable leftovers count as tampering: a runner failure would be measured again. */
function snapshotLeft(session: Session, running: OrderSide, verified: TamperSnapshot): TamperSnapshot {
  try {
    return snapshotSide(session, running, verified)
  } catch (error) {
    if (error instanceof UncheckablePath) throw new Tampered(running.label, error.path.replace(/^tree\//, ''))
    throw error
  }
}

export function snapshotSide(session: Session, side: OrderSide, verified?: TamperSnapshot): TamperSnapshot {
  const { objectFormat } = session.input.repository
  return snapshotEverything(session.slots.getPath(side.slot), side.files, objectFormat, verified)
}

function refuseLate({ input: { signal, now, order } }: Session): void {
  signal.throwIfAborted()
  if (now() >= Date.parse(order.deadline))
    throw new Error(`the order's deadline (${order.deadline}) passed before it was measured`)
}

/**
 * Returns when the file system's clock is past `newest`: the clock ticks only every few milliseconds, and the
 * next write to any checked file must change its ctime.
 */
export async function waitUntilPast(file: string, newest: bigint): Promise<void> {
  writeFreshFile(file)
  for (let ahead = newest - readClock(file); ahead >= 0n; ahead = newest - readClock(file)) {
    if (ahead > MOST_AHEAD) throw new ClockSetBack(Number(ahead / SECOND))
    await delay(1)
    utimesSync(file, new Date(), new Date())
  }
}

const SECOND = 1_000_000_000n
const MOST_AHEAD = 10n * SECOND

function readClock(file: string): bigint {
  return lstatSync(file, { bigint: true }).ctimeNs
}

/** Moves a folder or an unwritable file at this path aside. */
function writeFreshFile(file: string): void {
  try {
    writeFileSync(file, '')
  } catch (error) {
    if (!hasErrorCode(error, 'EISDIR', 'EACCES', 'ELOOP')) throw error
    moveDamagedAside(file)
    writeFileSync(file, '')
  }
}

/** Call after a recorded failure. If the machine caused it, the order ends as a runner failure. */
export async function refuseMachine({ machineFailure, input }: Session): Promise<void> {
  if (machineFailure !== null) throw new MachineFailed(machineFailure)
  await refuseFull(input.workDir)
}
