import { hashSha256 } from './canonical.ts'
import type { Order, OrderTerms } from './order.ts'
import type { PartialReport } from './interruption.ts'
import type { Execution, Report, Side } from './report.ts'

type CoinTerms = Pick<OrderTerms, 'coins'>

/**
 * Invariant 10: in which order the sides are built (`build`), given users (`users`), warmed up and take their turn in
 * each block, by the order's own coins, so that a report that does not follow them can be rejected. Every block has coins of
 * its own, however many there are, since evidence rests on each being independent of the others.
 */
export function drawTurns<T>(
  order: CoinTerms,
  block: number | 'build' | 'warm-up' | 'users',
  sides: readonly T[],
): T[] {
  let number = drawNumber(order, block)
  const rest = [...sides]
  const result: T[] = []
  while (rest.length > 0) {
    result.push(...rest.splice(number % rest.length, 1))
    number = Math.floor(number / (rest.length + 1))
  }
  return result
}

function drawNumber({ coins }: CoinTerms, region: number | string): number {
  return Number.parseInt(hashSha256(`${coins}:turns:${region}`).slice(0, 12), 16)
}

/** The same for both sides of a block, another one for the next. */
export function drawSeed(order: CoinTerms, block: number): number {
  return Number.parseInt(hashSha256(`${order.coins}:${block}`).slice(0, 8), 16) % 2 ** 31
}

/** Whether a report's builds and executions took the turns and seeds that were drawn for them. */
export function isFollowingCoins(order: Order, report: Report): boolean {
  const sides = listSides(order)
  return areBuildsFollowingCoins(order, report, sides) && areExecutionsFollowingCoins(order, report, sides)
}

/** The same of a run that was interrupted: its last block, or its warm-up, may end after any of its sides. */
export function isPartialFollowingCoins(order: Order, { report, begun }: PartialReport): boolean {
  const sides = listSides(order)
  if (!areBuildsFollowingCoins(order, report, sides)) return false
  const { executions } = report
  const blocks = begun?.block ?? listSideSamples(executions, 'base').length
  const seen = new Map<Side, number>()
  const whole: Execution[] = []
  const last: Execution[] = []
  for (const run of executions) {
    if (run.role === 'warmup') continue
    const block = seen.get(run.side) ?? 0
    seen.set(run.side, block + 1)
    ;(block < blocks ? whole : last).push(run)
  }
  if (!areExecutionsFollowingCoins(order, { executions: whole }, sides)) return false
  if (last.length === 0) return true
  if (begun === null) return false
  const drawn = drawTurns(order, getFirstBlock(order) + begun.block, begun.sides).slice(0, last.length)
  const seed = drawSeed(order, getFirstBlock(order) + begun.block)
  const took = last.map(({ side }) => side)
  return isSameSequence(took, drawn) && last.every(run => run.role === 'sample' && run.seed === seed)
}

/** Where the blocks of an order begin among its coins: an order that continues another leaves out those that had begun. */
export function getFirstBlock({ resumes }: Pick<Order, 'resumes'>): number {
  return resumes?.block ?? 0
}

function listSides({ candidates }: Order): Side[] {
  return ['base', ...candidates.map(({ label }) => label)]
}

function listSideSamples(executions: readonly Execution[], side: Side): Execution[] {
  return executions.filter(run => run.side === side && run.role === 'sample')
}

function areBuildsFollowingCoins(order: Order, report: Report, sides: readonly Side[]): boolean {
  const built = report.setups.filter(({ build }) => build === 0).map(({ side }) => side)
  return isSameSequence(
    built,
    drawTurns(order, 'build', sides).filter(side => built.includes(side)),
  )
}

interface ExecutionBlock {
  coins: number | 'warm-up'
  seed: number
  runs: Execution[]
}

function areExecutionsFollowingCoins(
  order: Order,
  report: Pick<Report, 'executions'>,
  sides: readonly Side[],
): boolean {
  const blocks = groupBlocks(report.executions, getFirstBlock(order))
  const follow = blocks.every(({ coins, seed, runs }) => {
    const took = runs.map(({ side }) => side)
    const present = sides.filter(side => took.includes(side))
    return (
      isSameSequence(took, drawTurns(order, coins, present)) &&
      runs.every(run => run.seed === drawSeed(order, seed))
    )
  })
  return follow && areBlocksConsecutive(report.executions, blocks)
}

/** One block after the other: runs of a pair that lie far apart share neither the hour nor the neighbours. */
function areBlocksConsecutive(executions: readonly Execution[], blocks: readonly ExecutionBlock[]): boolean {
  const drawn = blocks.flatMap(({ runs }) => runs)
  return executions.filter(({ role }) => role !== 'smoke').every((run, index) => run === drawn[index])
}

/** A side's n-th sample belongs to block n; a repeat has the seed of what it repeats and turns of its own. */
function groupBlocks(executions: readonly Execution[], from: number): ExecutionBlock[] {
  const blocks = new Map<string, ExecutionBlock>()
  const taken = new Map<string, number>()
  for (const run of executions) {
    if (run.role === 'smoke') continue
    const count = taken.get(`${run.role} ${run.side}`) ?? 0
    taken.set(`${run.role} ${run.side}`, count + 1)
    const key = `${run.role} ${count}`
    const warmup = run.role === 'warmup'
    const coins = warmup ? 'warm-up' : from + count + (run.role === 'repeat' ? 1 : 0)
    const block = blocks.get(key) ?? { coins, seed: warmup ? count : from + count, runs: [] }
    blocks.set(key, block)
    block.runs.push(run)
  }
  return [...blocks.values()]
}

function isSameSequence(a: readonly Side[], b: readonly Side[]): boolean {
  return a.length === b.length && a.every((side, index) => side === b[index])
}
