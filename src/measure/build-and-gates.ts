import { mkdirSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { HarnessError } from '../errors.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import { drawSeed, type Order } from '../model/order.ts'
import type { GateRun } from '../model/report.ts'
import { selectProbeGates } from '../probes/probe-rule.ts'
import type { Spec } from '../spec/schema.ts'
import { buildHarnessEnvironment } from './environment.ts'
import { removeAll } from './file-system.ts'
import { refuseMachine, runGuarded, snapshotSide } from './guarded-run.ts'
import { isFolder } from './isolation/side-users.ts'
import { clearOutputs, copySide, layOut } from './layout.ts'
import { countPassedTests, describePrinted, readFailed } from './output/failure-output.ts'
import { prepareHome } from './private-home.ts'
import type { OrderSide, Session } from './session.ts'
import { recordStart } from './same-start.ts'
import { snapshotFiles } from './tamper-check.ts'

/** Lays out a side and runs its setup. Every build starts from the tree alone. */
export async function buildSide(session: Session, side: OrderSide, number: number): Promise<void> {
  const { slots, paths, draft, input } = session
  mkdirSync(slots.getPath(side.slot), { recursive: true })
  input.signal.throwIfAborted()
  await slots.bring(side.slot)
  side.snapshots = null
  side.start = null
  side.build = number
  const keepBuilt = isKept(session, side)
  await layOut(session, side, keepBuilt)
  // A fresh layout has dropped the outputs of an earlier setup.
  const kept = keepBuilt && side.slot.built !== null
  if (!kept) await removeAll(paths.checkpoint)
  await clearOutputs(paths, side.owner)
  if (!kept || !isFolder(paths.home)) await prepareHome(paths, { real: session.realHome, owner: side.owner })
  draft.trees[side.label] = side.tree
  const everything = snapshotSide(session, side)
  side.snapshots = { files: snapshotFiles(everything, side.files), everything }
  if (!kept) await runSetup(session, side)
  if (!side.ended) await keepStart(session, side)
}

/** A set-up whose files cannot be copied has failed: no execution could start from them again. */
async function keepStart(session: Session, side: OrderSide): Promise<void> {
  try {
    await recordStart(session, side)
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error
    const stderr = `${error.message}: ${error.detail.output?.stderr ?? ''}`
    const output = { failing: [], stdout: '', stderr }
    const { label, build } = side
    session.draft.setups.push({ side: label, build, ok: false, timed_out: false, seconds: 0, output })
    side.ended = true
    await refuseMachine(session)
  }
}

/** `setup_scope: once`: outputs stay valid while command, directory and tree are the same. */
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

type Gate = Spec['gates'][number]

/** The spec with the gates that the order runs. */
export function selectGates(spec: Spec, { purpose }: Pick<Order, 'purpose'>): Spec {
  return purpose === 'probe' ? selectProbeGates(spec) : spec
}

/** Each gate runs in a copy of its own: code that it loads changes neither another gate nor a timed directory. */
export async function runGates(
  session: Session,
  side: OrderSide,
  phase: Gate['phase'],
  only?: ReadonlySet<string>,
): Promise<void> {
  const { spec, order } = session.input
  const due = selectGates(spec, order).gates.filter(gate => gate.phase === phase)
  const gates = due.filter(({ name }) => only?.has(name) !== false)
  if (gates.length === 0 || side.ended) return
  await session.slots.bring(null)
  for (const gate of gates) {
    if (await runGateInCopy(session, side, gate)) continue
    side.ended = true
    await refuseMachine(session)
  }
}

async function runGateInCopy(session: Session, side: OrderSide, gate: Gate): Promise<boolean> {
  const copy = join(session.input.workDir, 'copy')
  try {
    await copySide(session, side, copy)
    await rename(copy, session.slots.stage)
    return await runGate(session, side, gate)
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error
    session.draft.gates.push(buildUnrunGate(side, gate, error))
    return false
  } finally {
    for (const path of [copy, session.slots.stage]) await removeAll(path)
  }
}

/** A side whose files cannot be copied passes no gate. */
function buildUnrunGate(side: OrderSide, { name, phase }: Gate, { message, detail }: HarnessError): GateRun {
  const output = { failing: [], stdout: '', stderr: `${message}: ${detail.output?.stderr ?? ''}` }
  const unrun = { passed: false, exit_code: null, timed_out: false, seconds: 0 }
  return { side: side.label, name, phase, ...unrun, output }
}

async function runGate(session: Session, side: OrderSide, gate: Gate): Promise<boolean> {
  const { paths, draft, input } = session
  const { owner } = side
  await clearOutputs(paths, owner)
  // The harness's own environment: code must not be able to tell a gate from a timed execution.
  const env = buildHarnessEnvironment(session.allowed, paths, { owner, seed: drawSeed(input.order, 0) })
  const command = { command: gate.command, env, timeoutSeconds: gate.timeout_seconds }
  const ended = await runGuarded(session, side, 'copy', command)
  const passed = ended.exitCode === 0 && !ended.timedOut
  const output = passed ? null : readFailed(paths)
  const tests = passed ? countPassedTests(paths) : null
  draft.gates.push({
    side: side.label,
    name: gate.name,
    phase: gate.phase,
    passed,
    exit_code: ended.exitCode,
    timed_out: ended.timedOut,
    seconds: ended.wallSeconds,
    ...(tests === null ? {} : { tests_passed: tests }),
    ...(passed ? { printed: describePrinted(paths) } : {}),
    ...(output === null ? {} : { output }),
  })
  return passed
}
