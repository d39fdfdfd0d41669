import { PROOF_PAIRS } from '../../decide/evidence/giving-up.ts'
import { wantsMorePairs } from '../../decide/paired/wants-more.ts'
import { firstBlock, seedOf, turns } from '../../model/coins.ts'
import type { StopRule } from '../../model/order.ts'
import { isJudged } from '../../spec/judged.ts'
import { bootId } from '../boot-id.ts'
import { execute } from '../execute.ts'
import { baseOf, candidatesOf, type Session, type Side } from '../session.ts'

/**
 * Blocks of one run of the base and one of every candidate, each block in an order of its own. After each the
 * rule the order carries is asked again: a candidate that needs no more pairs in this job sits out. A proof of harm may take a few
 * pairs more.
 */
export async function paired(session: Session, stop: Extract<StopRule, { rule: 'paired' }>): Promise<void> {
  const { order, spec } = session.input
  const runner = bootId()
  const wanted = (side: Side) =>
    wantsMorePairs({ spec, order, stop }, { executions: session.draft.executions, runner }, side.label)
  await inBlocks(session, stop.pairs + PROOF_PAIRS, side => !side.ended && wanted(side))
}

/** So many blocks and no stopping rule: calibration, and effects that nothing may be selected by. */
export async function pairs(session: Session, stop: Extract<StopRule, { rule: 'pairs' }>): Promise<void> {
  await inBlocks(session, stop.pairs, side => !side.ended)
}

async function inBlocks(session: Session, blocks: number, wants: (side: Side) => boolean): Promise<void> {
  const base = baseOf(session)
  if (base === undefined) return
  const { order, spec } = session.input
  const sides = candidatesOf(session).filter(side => !side.ended)
  if (isJudged(spec)) return printItems(session, [base, ...sides])
  await warmUp(session, [base, ...sides])
  const from = firstBlock(order)
  for (let block = from; block < blocks && !base.ended; block++) {
    const due = sides.filter(wants)
    if (due.length === 0) return
    const seed = seedOf(order, block)
    await begin(session, { block: block - from, sides: [base, ...due].map(({ label }) => label) })
    for (const side of turns(order, block, [base, ...due]))
      await execute(session, side, { role: 'sample', seed })
    await begin(session, null)
  }
}

/** Written down before the first of its runs: a pair that has begun is never drawn again (decision 039). */
async function begin(session: Session, block: Session['begun']): Promise<void> {
  session.begun = block
  await session.keepPartial()
}

/** What a judge pairs are items: each side prints them once, and nothing is timed. */
async function printItems(session: Session, sides: readonly Side[]): Promise<void> {
  const { order } = session.input
  for (const side of turns(order, 0, sides))
    await execute(session, side, { role: 'sample', seed: seedOf(order, 0) })
}

/** The first run of a build pays for caches that the others find: it counts for nothing. */
async function warmUp(session: Session, sides: readonly Side[]): Promise<void> {
  const { order } = session.input
  const seed = seedOf(order, 0)
  for (const side of turns(order, 'warm-up', sides)) await execute(session, side, { role: 'warmup', seed })
}
