import { decideStability, getRungs, type LadderRungs, type StabilitySpec } from '../decide/ce/stability.ts'
import { PROOF_PAIRS } from '../decide/evidence/give-up.ts'
import { isHoldoutPairNeeded } from '../decide/holdout.ts'
import { buildSnapshot, listExecutions } from '../decide/metrics.ts'
import { isRepeatNeeded, readOnceRule } from '../decide/once.ts'
import { isPairNeeded } from '../decide/paired/assess.ts'
import { hasOtherAnswers } from '../decide/same-answers.ts'
import { UserError } from '../errors.ts'
import {
  drawSeed,
  drawTask,
  drawTurns,
  getFirstBlock,
  type HoldoutRule,
  type StopRule,
  toPairRequest,
} from '../model/order.ts'
import { buildPairJob } from '../model/pairs.ts'
import { toProbeLabel } from '../model/probe.ts'
import type { Snapshot } from '../model/report.ts'
import { isTextIgnored } from '../probes/read-probes.ts'
import { countJudgedRuns, isJudgedMetric } from '../spec/spec-facts.ts'
import { buildSide } from './build-and-gates.ts'
import { execute, type ExecutionRequest } from './execute.ts'
import { layOutHoldout } from './holdout.ts'
import { getBootId } from './machine.ts'
import { findBaseSide, listCandidateSides, type OrderSide, type Session } from './session.ts'

/** Measures one side alone: a sync, or the incumbent's numbers for later comparisons. */
export async function measureAlone(session: Session): Promise<void> {
  const { order, spec } = session.input
  const side = listCandidateSides(session)[0] ?? findBaseSide(session)
  if (side === undefined) return
  const { suite } = order
  // The values of a suite are means over its tasks.
  const samples =
    suite === undefined ? countSamplesNeeded(spec.measurement.stability) : suite.tasks.length * suite.seeds
  for (let taken = 0; taken < samples && !side.ended; taken++) {
    await execute(session, side, { role: 'sample', ...drawRun(session, taken) })
  }
}

/** The seed of a block and, of a suite, its task. */
function drawRun({ input: { order } }: Session, block: number): Pick<ExecutionRequest, 'seed' | 'task'> {
  return { seed: drawSeed(order, block), task: drawTask(order, block) }
}

/** Runs each side once. An apparent gain, or another answer, is run a second time, identically, before it counts. */
export async function measureOnce(
  session: Session,
  stop: Extract<StopRule, { rule: 'once' }>,
): Promise<void> {
  const { order, spec } = session.input
  const rule = { spec, ...readOnceRule(stop) }
  const run = drawRun(session, 0)
  const contenders = listCandidateSides(session).filter(side => !side.ended)
  if (contenders.length === 0) return
  for (const side of drawTurns(order, 0, withBase(session, contenders))) {
    await execute(session, side, { role: 'sample', ...run })
  }
  await executeMemoryProbe(session, contenders)
  // No probe gains before models have scored the items.
  if (isJudgedMetric(spec)) return
  const gained = contenders.filter(
    ({ label }) =>
      isRepeatNeeded(rule, session.draft, label) ||
      hasOtherAnswers({ spec, report: session.draft, label }) ||
      (label === toProbeLabel('vanish') && isTextIgnored(spec, session.draft)),
  )
  if (gained.length === 0) return
  // One task may gain by chance, so a gain in a suite is checked with all of its tasks.
  const repeats = order.suite === undefined ? 1 : order.suite.tasks.length * order.suite.seeds
  for (let block = 0; block < repeats; block++)
    for (const side of drawTurns(order, block + 1, withBase(session, gained)))
      await execute(session, side, { role: 'repeat', ...drawRun(session, block) })
}

/** Its first execution leaves marks, and only a second one with another seed can find them. */
async function executeMemoryProbe(session: Session, contenders: readonly OrderSide[]): Promise<void> {
  const probe = contenders.find(({ label }) => label === toProbeLabel('remember'))
  if (probe !== undefined && !probe.ended)
    await execute(session, probe, { role: 'sample', ...drawRun(session, 1) })
}

function withBase(session: Session, others: readonly OrderSide[]): OrderSide[] {
  const base = findBaseSide(session)
  return base === undefined ? [...others] : [base, ...others]
}

/**
 * Runs blocks of the base and every candidate, each block in its own order. After each block the order's rule
 * is asked again: a candidate that needs no more pairs sits out. A proof of harm may take a few extra pairs. A copy of
 * the base takes all pairs of the job: they show the noise, and no verdict may depend on when that ends.
 */
export async function measurePaired(
  session: Session,
  stop: Extract<StopRule, { rule: 'paired' }>,
): Promise<void> {
  const { order, spec } = session.input
  const runner = getBootId()
  const ideas = listCandidateSides(session).filter(({ label }) => label !== 'base-copy')
  if (ideas.every(({ ended }) => ended)) return
  const wanted = ({ label }: OrderSide) =>
    label === 'base-copy'
      ? listExecutions(session.draft, label, 'sample').length < stop.pairs
      : isPairNeeded({ spec, order, stop }, { executions: session.draft.executions, runner }, label)
  const most = Math.max(stop.pairs + PROOF_PAIRS, stop.keep_check?.pairs ?? 0)
  // One job of a suite is one pass, so that every task counts equally often.
  await runBlocks(session, order.suite === undefined ? most : stop.pairs, side => !side.ended && wanted(side))
}

/** For calibration, and for effects that must not select a candidate: no rule stops the blocks. */
export async function measurePairs(
  session: Session,
  stop: Extract<StopRule, { rule: 'pairs' }>,
): Promise<void> {
  await runBlocks(session, stop.pairs, side => !side.ended && countPairs(session, side.label) < stop.pairs)
}

/** One execution of each side may hold the pairs of many tasks. */
function countPairs({ input: { order }, draft: { executions } }: Session, label: OrderSide['label']): number {
  return buildPairJob(toPairRequest(order), { executions, runner: '' }, label).pairs.length
}

async function runBlocks(
  session: Session,
  blocks: number,
  wants: (side: OrderSide) => boolean,
): Promise<void> {
  const base = findBaseSide(session)
  if (base === undefined) return
  const { order, spec } = session.input
  const sides = listCandidateSides(session).filter(side => !side.ended)
  if (isJudgedMetric(spec)) return printItems(session, [base, ...sides])
  if (order.suite === undefined) await runWarmUps(session, [base, ...sides])
  const from = getFirstBlock(order)
  for (let block = from; block < blocks && !base.ended; block++) {
    const due = sides.filter(wants)
    if (due.length === 0) return
    const run = drawRun(session, block)
    await beginBlock(session, { block: block - from, sides: [base, ...due].map(({ label }) => label) })
    for (const side of drawTurns(order, block, [base, ...due]))
      await execute(session, side, { role: 'sample', ...run })
    await beginBlock(session, null)
  }
}

/** Recorded before its first run: a block that has begun is never drawn again (decision 039). */
async function beginBlock(session: Session, block: Session['begun']): Promise<void> {
  session.begun = block
  await session.keepPartial()
}

/**
 * A judge pairs items: each side prints them once. Where other metrics may change the verdict, a run for each
 * item measures them: the same numbers in every pair would be one run that counts as many.
 */
async function printItems(session: Session, sides: readonly OrderSide[]): Promise<void> {
  const { order, spec } = session.input
  const blocks = countJudgedRuns(spec)
  for (let block = 0; block < blocks && sides.every(({ ended }) => !ended); block++)
    for (const side of drawTurns(order, block, sides))
      await execute(session, side, { role: 'sample', seed: drawSeed(order, block) })
}

/** The first run of a build fills caches for the others, so it does not count. Runs of a suite cost too much. */
async function runWarmUps(session: Session, sides: readonly OrderSide[]): Promise<void> {
  const { order } = session.input
  const seed = drawSeed(order, 0)
  for (const side of drawTurns(order, 'warm-up', sides))
    await execute(session, side, { role: 'warmup', seed })
}

/** ce's rules: as many samples as the mode asks for, up to the next measurement that it names. */
export async function measureStability(session: Session, baseline: Snapshot | null): Promise<void> {
  const { order, spec } = session.input
  const plan = spec.measurement.stability
  if (plan === null) {
    throw new UserError('the order follows measurement.stability, which the spec does not have', {
      place: { path: 'measurement.stability' },
      fix: 'issue the order again from the spec in force',
    })
  }
  const contenders = listCandidateSides(session)
  const base = baseline === null ? findBaseSide(session) : undefined
  if (getRungs(plan)?.smoke === true) await runSmoke(session, contenders)
  for (let block = 0; ; block++) {
    const wanted = contenders.filter(side => shouldContinue(session, side, { plan, baseline }))
    if (wanted.length === 0) return
    const due =
      base !== undefined && countSamples(session, base) < countSamplesNeeded(plan)
        ? [base, ...wanted]
        : wanted
    for (const side of drawTurns(order, block, due)) {
      await execute(session, side, { role: 'sample', ...drawRun(session, block) })
    }
  }
}

/** A side measured for comparison needs as many samples as a keep. */
function countSamplesNeeded(plan: StabilitySpec | null): number {
  if (plan === null || plan.mode === 'stable') return 1
  return getRungs(plan)?.confirmation ?? plan.repeat_count
}

async function runSmoke(session: Session, contenders: readonly OrderSide[]): Promise<void> {
  const seed = drawSeed(session.input.order, 0)
  for (const side of contenders) await execute(session, side, { role: 'smoke', seed })
}

interface StabilityTarget {
  plan: StabilitySpec
  baseline: Snapshot | null
}

function shouldContinue(session: Session, side: OrderSide, { plan, baseline }: StabilityTarget): boolean {
  if (side.ended) return false
  const taken = countSamples(session, side)
  const rungs: LadderRungs | null = getRungs(plan)
  const { spec } = session.input
  if (taken === 0) return true
  // Nothing is compared before models have scored the items.
  if (rungs === null || isJudgedMetric(spec)) return taken < countSamplesNeeded(plan)
  const decision = decideStability({
    spec: { metric: spec.metric, policy: spec.policy, measurement: { stability: plan } },
    baseline: baseline ?? buildSnapshot(spec, session.draft, 'base'),
    candidate: buildSnapshot(spec, session.draft, side.label),
  })
  return decision.next_measurement !== 'none'
}

function countSamples(session: Session, side: OrderSide): number {
  return listExecutions(session.draft, side.label, 'sample').length
}

/** Runs pairs of the holdout's own command, each pair in an order drawn by coin. */
export async function measureHoldout(session: Session, stop: HoldoutRule): Promise<void> {
  const { order } = session.input
  const base = findBaseSide(session)
  const [candidate] = listCandidateSides(session)
  if (base === undefined || candidate === undefined) return
  session.holdout = await layOutHoldout(session)
  const both = [base, candidate]
  if (isJudgedMetric(session.input.spec)) {
    for (const side of drawTurns(order, 0, both))
      await execute(session, side, { role: 'holdout', seed: drawSeed(order, 0) })
    return
  }
  if (!stop.exact)
    for (const side of drawTurns(order, 'warm-up', both))
      await execute(session, side, { role: 'warmup', seed: drawSeed(order, 0) })
  for (let block = 0; both.every(({ ended }) => !ended); block++) {
    if (!isHoldoutPairNeeded(stop, session.draft, candidate.label)) return
    const seed = drawSeed(order, block)
    for (const side of drawTurns(order, block, both)) await execute(session, side, { role: 'holdout', seed })
  }
}

/** Checks for determinism: runs the base alone with a new seed each time, and rebuilds it half-way. */
export async function measureCalibration(session: Session, runs: number): Promise<void> {
  const base = findBaseSide(session)
  if (base === undefined) return
  const half = Math.ceil(runs / 2)
  for (let run = 0; run < runs && !base.ended; run++) {
    if (run === half) await buildSide(session, base, 1)
    await execute(session, base, { role: 'sample', ...drawRun(session, run) })
  }
}
