import { mkdirSync } from 'node:fs'
import { hashSha256 } from '../model/canonical.ts'
import { buildHarnessEnvironment } from './environment.ts'
import { runGuarded, snapshotSide } from './guarded-run.ts'
import { layOut } from './lay-out.ts'
import { readFailed } from './output/read-failed.ts'
import { removeAll } from './remove.ts'
import { refuseMachine } from './refuse-machine.ts'
import { clearHome, clearOutputs } from './scrub.ts'
import { snapshotFiles } from './seal.ts'
import { drawSeed } from '../model/coins.ts'
import type { Session, OrderSide } from './session.ts'

/** Lays a side out and runs its set-up. Every build starts from the tree alone (decision.md 3.1). */
export async function buildSide(session: Session, side: OrderSide, number: number): Promise<void> {
  const { slots, paths, draft } = session
  makeRoom(session, side)
  await slots.bring(side.slot)
  side.snapshots = null
  side.build = number
  const kept = isKept(session, side)
  await layOut(session, side, kept)
  if (!(kept && side.slot.built !== null)) await removeAll(paths.checkpoint)
  await clearOutputs(paths, side.owner)
  if (side.owner !== null && !(kept && side.slot.built !== null)) await clearHome(paths, side.owner)
  draft.trees[side.label] = side.tree
  const everything = snapshotSide(session, side)
  side.snapshots = { files: snapshotFiles(everything, side.files), everything }
  if (!(kept && side.slot.built !== null)) await runSetup(session, side)
}

function makeRoom({ slots, input }: Session, side: OrderSide): void {
  mkdirSync(slots.getPath(side.slot), { recursive: true })
  input.signal.throwIfAborted()
}

/** `setup_scope: once`: the outputs stay good while command and tree are the same. */
function computeBuildKey({ input }: Session, side: OrderSide): string {
  const { setup, working_directory } = input.spec.measurement
  return hashSha256(JSON.stringify([setup, working_directory, side.tree]))
}

function isKept(session: Session, side: OrderSide): boolean {
  const { setup_scope: scope } = session.input.spec.measurement
  return scope === 'once' && side.build === 0 && side.slot.built === computeBuildKey(session, side)
}

async function runSetup(session: Session, side: OrderSide): Promise<void> {
  const { spec, order } = session.input
  const { setup, timeout_seconds: timeoutSeconds } = spec.measurement
  if (setup === null) return
  const { owner } = side
  const env = buildHarnessEnvironment(session.allowed, session.paths, { owner, seed: drawSeed(order, 0) })
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
  if (ok) return session.slots.note(side.slot, { built: computeBuildKey(session, side) })
  side.ended = true
  await refuseMachine(session)
}
