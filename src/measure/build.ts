import { mkdirSync } from 'node:fs'
import { sha256 } from '../model/canonical.ts'
import { harnessEnvironment } from './environment.ts'
import { runGuarded, sealSide } from './guarded-run.ts'
import { layOut } from './lay-out.ts'
import { readFailed } from './output/read-failed.ts'
import { removeAll } from './remove.ts'
import { refuseMachine } from './refuse-machine.ts'
import { emptyHome, emptyOutputs } from './scrub.ts'
import { sealFiles } from './seal.ts'
import { seedOf } from '../model/coins.ts'
import type { Session, Side } from './session.ts'

/** Lays a side out and runs its set-up. Every build starts from the tree alone (decision.md 3.1). */
export async function buildSide(session: Session, side: Side, number: number): Promise<void> {
  const { slots, paths, draft } = session
  makeRoom(session, side)
  await slots.bring(side.slot)
  side.seals = null
  side.build = number
  const kept = isKept(session, side)
  await layOut(session, side, kept)
  if (!(kept && side.slot.built !== null)) await removeAll(paths.checkpoint)
  await emptyOutputs(paths, side.owner)
  if (side.owner !== null && !(kept && side.slot.built !== null)) await emptyHome(paths, side.owner)
  draft.trees[side.label] = side.tree
  const everything = sealSide(session, side)
  side.seals = { files: sealFiles(everything, side.files), everything }
  if (!(kept && side.slot.built !== null)) await setUp(session, side)
}

function makeRoom({ slots, input }: Session, side: Side): void {
  mkdirSync(slots.placeOf(side.slot), { recursive: true })
  input.signal.throwIfAborted()
}

/** `setup_scope: once`: the outputs stay good while command and tree are the same. */
function builtKey({ input }: Session, side: Side): string {
  const { setup, working_directory } = input.spec.measurement
  return sha256(JSON.stringify([setup, working_directory, side.tree]))
}

function isKept(session: Session, side: Side): boolean {
  const { setup_scope: scope } = session.input.spec.measurement
  return scope === 'once' && side.build === 0 && side.slot.built === builtKey(session, side)
}

async function setUp(session: Session, side: Side): Promise<void> {
  const { spec, order } = session.input
  const { setup, timeout_seconds: timeoutSeconds } = spec.measurement
  if (setup === null) return
  const { owner } = side
  const env = harnessEnvironment(session.allowed, session.paths, { owner, seed: seedOf(order, 0) })
  const ended = await runGuarded(session, side, 'itself', { command: setup, env, timeoutSeconds })
  const ok = ended.exitCode === 0 && !ended.timedOut
  const output = ok ? null : readFailed(session.paths)
  session.draft.setups.push({
    side: side.label,
    build: side.build,
    ok,
    timed_out: ended.timedOut,
    seconds: ended.wallSeconds,
    ...(output === null ? {} : { output }),
  })
  if (ok) return session.slots.note(side.slot, { built: builtKey(session, side) })
  side.ended = true
  await refuseMachine(session)
}
