import { PROOF_PAIRS } from '../../decide/evidence/giving-up.ts'
import { isPairNeeded } from '../../decide/paired/wants-more.ts'
import { getFirstBlock, drawSeed, drawTurns } from '../../model/coins.ts'
import type { StopRule } from '../../model/order.ts'
import { isJudgedMetric } from '../../spec/judged.ts'
import { getBootId } from '../boot-id.ts'
import { execute } from '../execute.ts'
import { findBaseSide, listCandidateSides, type Session, type OrderSide } from '../session.ts'

/**
 * Blocks of one run of the base and one of every candidate, each block in an order of its own. After each the
 * rule the order carries is asked again: a candidate that needs no more pairs in this job sits out. A proof of harm may take a few
 * pairs more.
 */
export async function measurePaired(
  session: Session,
  stop: Extract<StopRule, { rule: 'paired' }>,
): Promise<void> {
  const { order, spec } = session.input
  const runner = getBootId()
  const wanted = (side: OrderSide) =>
    isPairNeeded({ spec, order, stop }, { executions: session.draft.executions, runner }, side.label)
  await runBlocks(session, stop.pairs + PROOF_PAIRS, side => !side.ended && wanted(side))
}

/** So many blocks and no stopping rule: calibration, and effects that nothing may be selected by. */
export async function measurePairs(
  session: Session,
  stop: Extract<StopRule, { rule: 'pairs' }>,
): Promise<void> {
  await runBlocks(session, stop.pairs, side => !side.ended)
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
  await runWarmUps(session, [base, ...sides])
  const from = getFirstBlock(order)
  for (let block = from; block < blocks && !base.ended; block++) {
    const due = sides.filter(wants)
    if (due.length === 0) return
    const seed = drawSeed(order, block)
    await beginBlock(session, { block: block - from, sides: [base, ...due].map(({ label }) => label) })
    for (const side of drawTurns(order, block, [base, ...due]))
      await execute(session, side, { role: 'sample', seed })
    await beginBlock(session, null)
  }
}

/** Written down before the first of its runs: a pair that has begun is never drawn again (decision 039). */
async function beginBlock(session: Session, block: Session['begun']): Promise<void> {
  session.begun = block
  await session.keepPartial()
}

/** What a judge pairs are items: each side prints them once, and nothing is timed. */
async function printItems(session: Session, sides: readonly OrderSide[]): Promise<void> {
  const { order } = session.input
  for (const side of drawTurns(order, 0, sides))
    await execute(session, side, { role: 'sample', seed: drawSeed(order, 0) })
}

/** The first run of a build pays for caches that the others find: it counts for nothing. */
async function runWarmUps(session: Session, sides: readonly OrderSide[]): Promise<void> {
  const { order } = session.input
  const seed = drawSeed(order, 0)
  for (const side of drawTurns(order, 'warm-up', sides))
    await execute(session, side, { role: 'warmup', seed })
}
