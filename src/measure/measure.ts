import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { drawTurns } from '../model/order.ts'
import type { Side as Label, Report } from '../model/report.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { buildSide, runGates } from './build-and-gates.ts'
import { compareGates } from './compare-gates.ts'
import { buildPortEnvironment, readEnvFile, selectAllowedEnvironment } from './environment.ts'
import { computeSideRoom, prepareScore } from './execute.ts'
import { chooseCounter } from './counter.ts'
import { removeAll } from './file-system.ts'
import { findRefusal, refuseUnsupported } from './harness-check.ts'
import { findHoldoutDirectory, getHoldoutDir, getSidesDir } from './holdout.ts'
import { checkUserAccess, makeAccessible } from './isolation/access-check.ts'
import { listSharedFiles } from './layout.ts'
import { ClockSetBack, DiskFull, describeRunnerError, readMachineFingerprint } from './machine.ts'
import { claimWorkDir, releaseWorkDir } from './process/leftovers.ts'
import type { Owner } from './process/reaper.ts'
import { chooseSupervisor, listReaches } from './process/supervisor.ts'
import {
  measureAlone,
  measureCalibration,
  measureHoldout,
  measureOnce,
  measurePaired,
  measurePairs,
  measureStability,
} from './schedule.ts'
import {
  findBaseSide,
  getSidePaths,
  listCandidateSides,
  type MeasureInput,
  type OrderSide,
  type ReportDraft,
  type Session,
  Tampered,
} from './session.ts'
import { listUnstoppedProbes, removeProbeMarks } from './probes.ts'
import { Slots } from './slots.ts'

/** Measures an order. Throws only for errors that the user must fix, and on cancellation. */
export async function measureOrder(input: MeasureInput): Promise<Report> {
  const startedAt = input.now()
  refuseUnsupported(input)
  const sharedFiles = listSharedFiles(input.spec.parallel.shared_files, input.sharedRoot)
  const allowed = buildAllowedEnvironment(input)
  const counter = input.order.stop.rule === 'holdout' ? null : chooseCounter(input.spec, allowed)
  const holdoutDirectory = await findHoldoutDirectory(input)
  const draft = createReportDraft()
  return withClaimedDirs(input, async () => {
    let begun: Session['begun'] = null
    const buildReport = () =>
      buildMeasurementReport(input, draft, { startedAt, end: { tampered: null, runner_error: null } })
    const keepPartial = async (block: Session['begun']) => {
      begun = block
      await input.onPartial?.({ report: buildReport(), begun })
    }
    const realHome = input.env['HOME'] ?? null
    const prepared = {
      sharedFiles,
      allowed,
      realHome,
      counter,
      holdoutDirectory,
      buildReport,
      keepPartial,
    }
    const end = await runToEnd(input, () => measureSides(input, draft, prepared))
    const endedEarly = end.tampered !== null || end.runner_error !== null
    const partialBlock = endedEarly && begun !== null ? { begun } : {}
    return buildMeasurementReport(input, draft, { startedAt, end: { ...end, ...partialBlock } })
  })
}

/** Claims the work directory and the users' directory, so that no other process uses them meanwhile. */
async function withClaimedDirs<T>(input: MeasureInput, run: () => Promise<T>): Promise<T> {
  const { users, workDir } = input
  const claimed: string[] = []
  try {
    for (const dir of users ? [users.dir, workDir] : [workDir]) {
      if (users) makeAccessible(dir)
      mkdirSync(dir, { recursive: true })
      await claimWorkDir(dir)
      claimed.push(dir)
    }
    await removeAll(getHoldoutDir(workDir))
    await removeProbeMarks(input)
    return await run()
  } finally {
    if (claimed.includes(workDir)) {
      await removeProbeMarks(input)
      await removeAll(getHoldoutDir(workDir))
    }
    for (const dir of claimed.toReversed()) await releaseWorkDir(dir)
  }
}

type MeasurementEnd = Pick<Report, 'tampered' | 'runner_error' | 'begun'>

/** A runner failure is never a verdict about a candidate. */
async function runToEnd(input: MeasureInput, run: () => Promise<string | null>): Promise<MeasurementEnd> {
  try {
    return { tampered: null, runner_error: await run() }
  } catch (error) {
    if (input.signal.aborted || error instanceof UserError) throw error
    if (error instanceof Tampered) {
      return { tampered: { during: error.during, path: error.path }, runner_error: null }
    }
    return { tampered: null, runner_error: describeRunnerError(error) }
  }
}

type PreparedSession = Pick<
  Session,
  'sharedFiles' | 'allowed' | 'realHome' | 'counter' | 'holdoutDirectory' | 'buildReport'
> & {
  keepPartial: (begun: Session['begun']) => Promise<void>
}

/** Null when the order was measured to its end. Otherwise the reason for the refusal. */
async function measureSides(
  input: MeasureInput,
  draft: ReportDraft,
  { keepPartial, ...prepared }: PreparedSession,
): Promise<string | null> {
  const wanted = listOrderedSides(input)
  const refusal = await findRefusal(input, wanted)
  if (refusal !== null) return refusal
  await checkUsers(input, prepared.allowed)
  const slots = await Slots.open(getSidesDir(input))
  const { sides, scorer } = await assignUsers(input, wanted, slots)
  draft.reach = listReaches(scorer.supervisor, getSidesDir(input))
  const session: Session = {
    input,
    slots,
    paths: getSidePaths(slots.stage),
    sides,
    scorer,
    ...prepared,
    trusted: null,
    holdout: null,
    draft,
    started: false,
    machineFailure: null,
    begun: null,
    keepPartial: () => keepPartial(session.begun),
  }
  try {
    await runStages(session)
  } catch (error) {
    // The slots may have filled the disk, or hold files that are newer than now. The next attempt starts without them.
    if (error instanceof DiskFull || error instanceof ClockSetBack) await slots.clear()
    // Tampering may have touched every side. None is used again.
    if (error instanceof Tampered) for (const { slot } of sides) await slots.note(slot, { tree: null })
    await slots.forgetBuild()
    throw error
  } finally {
    await slots.bring(null)
    // Their trees are never measured again.
    if (input.order.purpose === 'probe') await slots.clear()
  }
  return null
}

async function checkUsers(input: MeasureInput, allowed: Session['allowed']): Promise<void> {
  const { users, monotonic, laterCode = [] } = input
  if (users === undefined) return
  const sidesDir = getSidesDir(input)
  makeAccessible(sidesDir)
  // A killed run may have left a copy for gates, which other sides could read.
  await removeAll(join(input.workDir, 'copy'))
  const searched = allowed['PATH'] ?? '/usr/bin:/bin'
  await checkUserAccess(users, { workDir: sidesDir, searched, laterCode }, monotonic)
}

/** Invariant 10: users are drawn, because code can read its own user id. */
async function assignUsers(
  input: MeasureInput,
  wanted: ReturnType<typeof listOrderedSides>,
  slots: Slots,
): Promise<Pick<Session, 'sides' | 'scorer'>> {
  const { order, users, monotonic, unpinned } = input
  const drawn: Owner[] = users === undefined ? [] : drawTurns(order, 'users', users.owners)
  const createRunner = async (owner: Owner | null) => ({
    owner,
    supervisor: await chooseSupervisor({ owner, monotonic }),
  })
  // A comparison checks every place that its head takes, with a copy of the base (cli/compare-measure.ts).
  const assigned = unpinned
    ? slots.assignByPlace(wanted.length)
    : slots.assign(wanted.map(({ tree }) => tree))
  const chances = getAllowedChances(input)
  const sides: OrderSide[] = []
  for (const [at, { label, tree }] of wanted.entries()) {
    const slot = assigned[at]
    if (slot === undefined) continue
    const runner = await createRunner(drawn[chooseUser(order, at, drawn.length)] ?? null)
    const room = computeSideRoom(input, { label, of: wanted.length })
    sides.push({
      ...runner,
      label,
      tree,
      slot,
      build: 0,
      files: [],
      snapshots: null,
      start: null,
      chances,
      ended: false,
      room,
    })
  }
  return {
    sides,
    scorer: await createRunner(drawn[chooseScorerUser(order, wanted.length, drawn.length)] ?? null),
  }
}

/** Probes share the users that candidates have: only the base and the scorer must be out of their reach. */
function chooseUser({ purpose }: MeasureInput['order'], at: number, users: number): number {
  return purpose === 'probe' && at > 0 ? 1 + ((at - 1) % (users - 2)) : at
}

function chooseScorerUser({ purpose }: MeasureInput['order'], sides: number, users: number): number {
  return purpose === 'probe' ? users - 1 : sides
}

async function runStages(session: Session): Promise<void> {
  const { order } = session.input
  const { stop } = order
  if (stop.rule !== 'holdout') await prepareScore(session)
  for (const side of drawTurns(order, 'build', session.sides)) await buildSide(session, side, 0)
  if (isOver(session)) return
  if (order.purpose === 'probe') return measureProbes(session)
  await runAllGates(session, 'pre')
  if (isOver(session)) return
  await followStopRule(session)
  await runAllGates(session, 'post')
  await compareGates(session)
}

/** Probes cost little: gates run last, and only for probes that would be kept. */
async function measureProbes(session: Session): Promise<void> {
  await followStopRule(session)
  for (const side of listUnstoppedProbes(session))
    for (const phase of ['pre', 'post'] as const) await runGates(session, side, phase)
  await compareGates(session)
}

/** If a candidate fails a gate, the base runs it too: a failure on both is not the candidate's. */
async function runAllGates(session: Session, phase: 'pre' | 'post'): Promise<void> {
  const sides = listGatedSides(session)
  for (const side of sides) await runGates(session, side, phase)
  const base = findBaseSide(session)
  if (base === undefined || sides.includes(base)) return
  const { gates } = session.draft
  const failed = gates.filter(gate => gate.phase === phase && !gate.passed).map(({ name }) => name)
  if (failed.length > 0) await runGates(session, base, phase, new Set(failed))
}

async function followStopRule(session: Session): Promise<void> {
  const { stop } = session.input.order
  switch (stop.rule) {
    case 'calibrate':
      return measureCalibration(session, stop.runs)
    case 'once':
      return measureOnce(session, stop)
    case 'paired':
      return measurePaired(session, stop)
    case 'pairs':
      return measurePairs(session, stop)
    case 'holdout':
      return measureHoldout(session, stop)
    case 'stability':
      return measureStability(session, stop.baseline)
    case 'alone':
      return measureAlone(session)
    default:
      return stop satisfies never
  }
}

/** No candidate may run, or no base is left to compare with. */
function isOver({ sides }: Session): boolean {
  const base = sides.find(side => side.label === 'base')
  return base?.ended === true || sides.every(side => side.ended || (side === base && sides.length > 1))
}

/** The base passed its gates when it became the incumbent, and a holdout's candidate in its order. */
function listGatedSides(session: Session): OrderSide[] {
  const candidates = listCandidateSides(session)
  if (session.input.order.stop.rule === 'holdout') return []
  return candidates.length === 0 ? [...session.sides] : candidates
}

/**
 * A failed pair is a loss or void, and a calibration checks whether all runs fail or some, so these rules
 * allow a second failure. Elsewhere one failure decides.
 */
function getAllowedChances({ order: { stop }, spec }: MeasureInput): number {
  if (isJudgedMetric(spec)) return 1
  return ['paired', 'pairs', 'holdout', 'calibrate'].includes(stop.rule) ? 2 : 1
}

function listOrderedSides({ order }: MeasureInput): { label: Label; tree: string }[] {
  const base = { label: 'base' as const, tree: order.base.tree }
  const candidates = order.candidates.map(({ label, tree }) => ({ label, tree }))
  const { stop } = order
  if (stop.rule === 'calibrate') return [base]
  const single = stop.rule === 'alone' || (stop.rule === 'stability' && stop.baseline !== null)
  return single && candidates.length > 0 ? candidates : [base, ...candidates]
}

function buildAllowedEnvironment({ env, spec, sharedRoot, portBase }: MeasureInput): Record<string, string> {
  const { measurement, parallel } = spec
  const allowed = selectAllowedEnvironment(
    env,
    measurement.env,
    readEnvFile(measurement.env_file, sharedRoot),
  )
  return { ...allowed, ...buildPortEnvironment(parallel, portBase) }
}

export function buildUnmeasuredReport(input: MeasureInput): Report {
  const draft = createReportDraft()
  return buildMeasurementReport(input, draft, {
    startedAt: input.now(),
    end: { tampered: null, runner_error: null },
  })
}

function createReportDraft(): ReportDraft {
  return { setups: [], gates: [], executions: [], trees: {}, unreaped: false, reach: null }
}

function buildMeasurementReport(
  input: MeasureInput,
  draft: ReportDraft,
  { startedAt, end }: { startedAt: number; end: MeasurementEnd },
): Report {
  const { unreaped, reach, ...measured } = draft
  const { unisolatedBecause } = input
  return {
    order: input.order.id,
    run_id: input.runId,
    started_at: new Date(startedAt).toISOString(),
    finished_at: new Date(input.now()).toISOString(),
    harness: input.order.harness,
    machine: readMachineFingerprint(input.env),
    flags: [...(input.users ? [] : (['unisolated'] as const)), ...(unreaped ? (['unreaped'] as const) : [])],
    ...(unisolatedBecause === undefined ? {} : { unisolated_because: unisolatedBecause }),
    ...(input.users || reach === null ? {} : { reach }),
    ...(input.models === undefined ? {} : { metered: input.models.usage() }),
    ...measured,
    ...end,
  }
}
