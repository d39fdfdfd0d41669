import { join } from 'node:path'
import { waitPast } from './clock-file.ts'
import { kernelCounts, machineFailure } from './machine-failure.ts'
import type { Ended, Launch } from './process/launch.ts'
import { atLowPriority } from './process/low-priority.ts'
import { endMarked, noteSupervisor } from './process/leftovers.ts'
import type { Owner } from './process/reaper.ts'
import { reopen } from './reopen.ts'
import { brokenSeal, type Seal, sealEverything, Unsealable } from './seal.ts'
import { clockFile, type Session, type Side, Tampered } from './session.ts'
import { isFolder } from './users/give.ts'
import { sweepShared } from './users/sweep.ts'

type Command = Pick<Launch, 'command' | 'env' | 'timeoutSeconds'>

/**
 * Invariant 6: the one place where experiment code is started. Every seal is checked when it has ended, and no
 * process of it is alive then. On stage is the side itself, or a throw-away copy of it.
 */
export async function runGuarded(
  session: Session,
  side: Side,
  onStage: 'itself' | 'copy',
  command: Command,
): Promise<Ended> {
  await refuseLate(session)
  await waitPast(clockFile(session), newestSealed(session))
  const { workDir, spec } = session.input
  const launch: Launch = {
    ...command,
    command: session.input.beside ? atLowPriority(command.command) : command.command,
    cwd: join(session.paths.tree, spec.measurement.working_directory),
    stdout: session.paths.stdout,
    stderr: session.paths.stderr,
    signal: session.input.signal,
  }
  const before = kernelCounts()
  const ended = await side.supervisor.run(launch, pid => noteSupervisor(workDir, pid))
  session.machineFailure = ended.exitCode === 0 ? null : machineFailure(before, kernelCounts(), ended)
  if (ended.unreaped) {
    session.draft.unreaped = true
    await endMarked(workDir)
  }
  if (side.owner !== null) await settleUser(side.owner, ended)
  reopen(session.paths.root)
  checkSeals(session, side.label, onStage === 'itself' ? side : null)
  return ended
}

/** Whatever is done from here on is done by root among files of that user, of whom nothing may run. */
async function settleUser(owner: Owner, { unreaped }: Ended): Promise<void> {
  if (unreaped) throw new Error(`processes of user ${owner.uid} could not be ended`)
  await sweepShared(owner)
}

function newestSealed(session: Session): bigint {
  const seals = session.sides.flatMap(({ seals }) => (seals === null ? [] : [seals.files, seals.everything]))
  for (const tree of [session.trusted, session.holdout]) if (tree !== null) seals.push(tree.seal)
  return seals.reduce((newest, seal) => (seal.newest > newest ? seal.newest : newest), 0n)
}

/** The running side may change what its set-up made; of everybody else nothing may change. */
function checkSeals(session: Session, label: Side['label'], running: Side | null): void {
  const format = session.input.repository.objectFormat
  for (const side of session.sides) {
    if (side.seals === null) continue
    // Behind a link all may be as it was, until somebody moves the link.
    if (!isFolder(session.slots.placeOf(side.slot))) throw new Tampered(label, 'the folder of a side')
    const seal = side === running ? side.seals.files : side.seals.everything
    const broken = brokenSeal(seal, session.slots.placeOf(side.slot), format)
    if (broken !== null) throw new Tampered(label, broken.replace(/^tree\//, ''))
  }
  const { trusted } = session
  const broken = trusted === null ? null : brokenSeal(trusted.seal, trusted.dir, format)
  if (broken !== null) throw new Tampered(label, broken)
  const { holdout } = session
  // Not even the name of a file of it is told.
  if (holdout !== null && brokenSeal(holdout.seal, holdout.dir, format) !== null)
    throw new Tampered(label, 'the holdout')
  if (running?.seals) running.seals.everything = sealLeft(session, running, running.seals.files)
}

/** What it left and nobody can look at is its own doing: it would be measured again as a failure of the runner. */
function sealLeft(session: Session, running: Side, whole: Seal): Seal {
  try {
    return sealSide(session, running, whole)
  } catch (error) {
    if (error instanceof Unsealable) throw new Tampered(running.label, error.path.replace(/^tree\//, ''))
    throw error
  }
}

export function sealSide(session: Session, side: Side, whole?: Seal): Seal {
  const { objectFormat } = session.input.repository
  return sealEverything(session.slots.placeOf(side.slot), side.files, objectFormat, whole)
}

async function refuseLate({ input }: Session): Promise<void> {
  input.signal.throwIfAborted()
  if (input.now() >= Date.parse(input.order.deadline)) {
    throw new Error(`the order's deadline (${input.order.deadline}) passed before it was measured`)
  }
}
