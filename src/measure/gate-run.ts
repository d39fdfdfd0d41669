import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { HarnessError } from '../errors.ts'
import type { GateRun } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { buildCommonEnvironment } from './environment.ts'
import { runGuarded } from './guarded-run.ts'
import { copySide } from './lay-out.ts'
import { countPassedTests } from './output/passed-tests.ts'
import { readFailed } from './output/read-failed.ts'
import { removeAll } from './remove.ts'
import { refuseMachine } from './refuse-machine.ts'
import { clearOutputs } from './scrub.ts'
import type { Session, OrderSide } from './session.ts'

type Gate = Spec['gates'][number]

/** Command gates of one phase, in a throw-away copy, so that they touch no directory that is timed. */
export async function runGates(
  session: Session,
  side: OrderSide,
  phase: Gate['phase'],
  only?: ReadonlySet<string>,
): Promise<void> {
  const gates = session.input.spec.gates.filter(
    gate => gate.phase === phase && only?.has(gate.name) !== false,
  )
  if (gates.length === 0 || side.ended) return
  await session.slots.bring(null)
  const copy = join(session.input.workDir, 'copy')
  try {
    await copySide(session, side, copy)
    await rename(copy, session.slots.stage)
    for (const gate of gates) {
      if (await runGate(session, side, gate)) continue
      side.ended = true
      await refuseMachine(session)
    }
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error
    for (const gate of gates) session.draft.gates.push(buildUnrunGate(side, gate, error))
    side.ended = true
    await refuseMachine(session)
  } finally {
    for (const path of [copy, session.slots.stage]) await removeAll(path)
  }
}

/** Who leaves what cannot be copied has passed nothing. */
function buildUnrunGate(side: OrderSide, { name, phase }: Gate, { message, detail }: HarnessError): GateRun {
  const output = { failing: [], stdout: '', stderr: `${message}: ${detail.output?.stderr ?? ''}` }
  return {
    side: side.label,
    name,
    phase,
    passed: false,
    exit_code: null,
    timed_out: false,
    seconds: 0,
    output,
  }
}

async function runGate(session: Session, side: OrderSide, gate: Gate): Promise<boolean> {
  const { paths, draft } = session
  await clearOutputs(paths, side.owner)
  const env = { ...buildCommonEnvironment(session.allowed, paths, side.owner), WINNOW_OUT_DIR: paths.out }
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
    ...(output === null ? {} : { output }),
  })
  return passed
}
