import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  drawSeed,
  drawTurns,
  isFollowingCoins,
  type PairedTerms,
  type StopRule,
  toPairRequest,
} from '../../src/model/order.ts'
import { buildPairJob, toMeasuredRun } from '../../src/model/pairs.ts'
import type { Execution, Report, Side } from '../../src/model/report.ts'
import { aJob, aRule, gainsOf, someTerms } from '../decide/paired/a-case.ts'
import { type Experiment, laboratory } from './laboratory.ts'
import { scratch } from './scratch.ts'

/**
 * Prints the number in src/value, a little more or less with each run of it, and notes who ran. A number in
 * src/fails says from which run on it crashes.
 */
function harness(notes: string): string {
  return `value=$(cat src/value)
echo $value >> ${notes}/order
echo run >> ${notes}/$value
runs=$(wc -l < ${notes}/$value)
[ -e src/fails ] && [ "$runs" -ge "$(cat src/fails)" ] && exit 3
echo "{\\"bytes\\": $value.$(( runs * 7 % 10 ))$(( runs * 3 % 10 ))}"
`
}

const PAIRS: StopRule = { rule: 'pairs', metrics: ['bytes'], scale: 'log', pairs: 3 }

function pairedFor(...labels: string[]): Extract<StopRule, { rule: 'paired' }> {
  const terms: Record<string, PairedTerms> = Object.fromEntries(labels.map(label => [label, someTerms()]))
  return aRule({ terms })
}

interface Measured {
  report: Report
  /** Values in the order in which they were run, warm-ups too. */
  ran: string[]
  order: Parameters<typeof isFollowingCoins>[0]
}

async function measured(
  candidates: Record<string, { value: string; fails?: number }>,
  stop: StopRule,
  rest: Partial<Experiment> & { baseFails?: number } = {},
): Promise<Measured> {
  const lab = await laboratory()
  const notes = scratch()
  const { baseFails, ...experiment } = rest
  const failing = (from: number | undefined) => (from === undefined ? {} : { 'src/fails': `${from}\n` })
  const given: Experiment = {
    files: { 'bench.sh': harness(notes), 'src/value': '1000\n', ...failing(baseFails) },
    candidates: Object.fromEntries(
      Object.entries(candidates).map(([label, { value, fails }]) => [
        label,
        { 'src/value': `${value}\n`, ...failing(fails ?? (baseFails === undefined ? undefined : 99)) },
      ]),
    ),
    stop,
    ...experiment,
  }
  const { order } = await lab.input(given)
  const report = await lab.measure(given)
  const file = join(notes, 'order')
  return { report, order, ran: existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [] }
}

function samples({ executions }: Report): Execution[] {
  return executions.filter(({ role }) => role === 'sample')
}

function count(report: Report, side: Side): number {
  return samples(report).filter(run => run.side === side).length
}

describe('pairs', () => {
  test('take turns by the coins of the order, which the report shows', async () => {
    const { report, order, ran } = await measured({ 'exp-001': { value: '900' } }, PAIRS)
    const values: Record<string, string> = { base: '1000', 'exp-001': '900' }
    const drawn = ['warm-up' as const, 0, 1, 2].flatMap(block => drawTurns(order, block, ['base', 'exp-001']))
    expect(ran).toEqual(drawn.map(side => values[side]))
    expect(report.executions.map(({ side }) => side)).toEqual(drawn)
    expect(isFollowingCoins(order, report)).toBe(true)
    const first = buildPairJob(toPairRequest(order), toMeasuredRun(report), 'exp-001').pairs.map(
      pair => pair.first,
    )
    expect(first).toEqual(
      [0, 1, 2].map(block =>
        drawTurns(order, block, ['base', 'exp-001'])[0] === 'base' ? 'base' : 'candidate',
      ),
    )
  })

  test('go the other way round with other coins', async () => {
    const one = await measured({ 'exp-001': { value: '900' } }, PAIRS, { order: { coins: '0'.repeat(64) } })
    const other = await measured({ 'exp-001': { value: '900' } }, PAIRS, { order: { coins: '7'.repeat(64) } })
    expect(one.ran).not.toEqual(other.ran)
    expect(isFollowingCoins(one.order, { ...other.report, order: one.order.id })).toBe(false)
  })

  test('come after a warm-up of each side, which is recorded and counts for nothing', async () => {
    const { report, order } = await measured({ 'exp-001': { value: '900' } }, PAIRS)
    expect(report.executions.slice(0, 2).map(({ role }) => role)).toEqual(['warmup', 'warmup'])
    expect(
      report.executions
        .filter(({ role }) => role === 'warmup')
        .map(({ side }) => side)
        .toSorted(),
    ).toEqual(['base', 'exp-001'])
    const { pairs, complete } = buildPairJob(toPairRequest(order), toMeasuredRun(report), 'exp-001')
    expect([pairs.length, complete]).toEqual([3, true])
  })

  test('have the same seed on both sides and another in each block', async () => {
    const { report, order } = await measured({ 'exp-001': { value: '900' } }, PAIRS)
    for (const side of ['base', 'exp-001'] as const) {
      const seeds = samples(report).flatMap(run => (run.side === side ? [run.seed] : []))
      expect(seeds).toEqual([0, 1, 2].map(block => drawSeed(order, block)))
      expect(new Set(seeds).size).toBe(3)
    }
  })

  test('keep raw values, exit codes and the boot id of the machine', async () => {
    const { report, order } = await measured({ 'exp-001': { value: '900' } }, PAIRS)
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    expect(report.machine.boot_id).toBe(boot)
    const { runner, pairs, order: id } = buildPairJob(toPairRequest(order), toMeasuredRun(report), 'exp-001')
    expect([runner, id]).toEqual([boot, order.id])
    const base = samples(report).filter(({ side }) => side === 'base')
    expect(pairs.map(pair => pair.base)).toEqual(base.map(({ metrics }) => ({ bytes: metrics['bytes'] })))
    expect(base.map(run => [run.exit_code, run.status, run.wall_seconds > 0])).toEqual(
      Array(3).fill([0, 'ok', true]),
    )
    expect(new Set(base.map(({ metrics }) => metrics['bytes'])).size).toBe(3)
  })
})

describe('a block', () => {
  test('runs the base once for all its candidates, in turns of its own', async () => {
    const candidates = { 'exp-001': { value: '900' }, 'exp-002': { value: '910' } }
    const { report, order } = await measured(candidates, PAIRS)
    const sides = ['base', 'exp-001', 'exp-002'] as const
    expect(samples(report).map(({ side }) => side)).toEqual(
      [0, 1, 2].flatMap(block => drawTurns(order, block, sides)),
    )
    const [one, two] = ['exp-001', 'exp-002'].map(
      label => buildPairJob(toPairRequest(order), toMeasuredRun(report), label).pairs,
    )
    expect(one?.map(({ base }) => base)).toEqual(two?.map(({ base }) => base))
  })

  test('goes on without a candidate that is done, and ends when all are', async () => {
    const candidates = { 'exp-001': { value: '900' }, 'exp-002': { value: '1100' } }
    const { report, order } = await measured(candidates, pairedFor('exp-001', 'exp-002'))
    // Harm is shown after five to seven pairs, and a gain screens after five or six.
    const counts = [count(report, 'exp-001'), count(report, 'exp-002')]
    expect(Math.max(...counts)).toBeLessThan(8)
    expect(count(report, 'base')).toBe(Math.max(...counts))
    expect(isFollowingCoins(order, report)).toBe(true)
    const jobs = ['exp-001', 'exp-002'].map(label =>
      buildPairJob(toPairRequest(order), toMeasuredRun(report), label),
    )
    expect(jobs.map(({ complete }) => complete)).toEqual([false, false])
    expect(jobs.map(({ pairs }) => pairs.length)).toEqual([
      count(report, 'exp-001'),
      count(report, 'exp-002'),
    ])
  })

  test('goes on from what earlier jobs showed', async () => {
    const screened = aJob('1', gainsOf('bytes', 0.05, 6))
    const earlier_jobs = { 'exp-001': [screened] }
    const { report } = await measured({ 'exp-001': { value: '900' } }, pairedFor('exp-001'), {
      order: { earlier_jobs },
    })
    const anew = await measured({ 'exp-001': { value: '900' } }, pairedFor('exp-001'))
    expect(count(report, 'exp-001')).toBeLessThan(count(anew.report, 'exp-001'))
  })
})

describe('an execution that fails among pairs', () => {
  test('of the candidate is a lost pair, and the second ends it while the others go on', async () => {
    const candidates = { 'exp-001': { value: '900', fails: 3 }, 'exp-002': { value: '950' } }
    const { report, order } = await measured(candidates, PAIRS)
    const failed = buildPairJob(toPairRequest(order), toMeasuredRun(report), 'exp-001').pairs
    expect(failed.map(({ base, candidate }) => [base !== null, candidate !== null])).toEqual([
      [true, true],
      [true, false],
      [true, false],
    ])
    const longer = await measured(candidates, { ...PAIRS, pairs: 5 })
    expect(count(longer.report, 'exp-001')).toBe(3)
    expect(count(longer.report, 'exp-002')).toBe(5)
    expect(isFollowingCoins(longer.order, longer.report)).toBe(true)
  })

  test('of the base voids the pair, and the second ends the job', async () => {
    const { report, order } = await measured(
      { 'exp-001': { value: '900' } },
      { ...PAIRS, pairs: 6 },
      { baseFails: 3 },
    )
    expect(count(report, 'base')).toBe(3)
    const { pairs, complete } = buildPairJob(toPairRequest(order), toMeasuredRun(report), 'exp-001')
    expect(pairs.map(({ base }) => base === null)).toEqual([false, true, true].slice(0, pairs.length))
    expect(complete).toBe(false)
  })

  test('as a warm-up counts as one of two', async () => {
    const { report } = await measured({ 'exp-001': { value: '900', fails: 1 } }, PAIRS)
    expect(report.executions.filter(({ side }) => side === 'exp-001').map(({ role }) => role)).toEqual([
      'warmup',
      'sample',
    ])
  })
})

describe('a machine that fails within a block of pairs', () => {
  test('leaves which pair had begun, so that it counts as lost', async () => {
    let samples = 0
    const { report, order } = await measured({ 'exp-001': { value: '900' } }, pairedFor('exp-001'), {
      input: {
        onExecution: async ([...runs]) => {
          samples = runs.filter(({ role }) => role === 'sample').length
          if (samples === 3) throw Object.assign(new Error('write'), { code: 'ENOSPC' })
        },
      },
    })
    expect(report.runner_error).toContain('the disk is full')
    expect(report.begun).toEqual({ block: 1, sides: ['base', 'exp-001'] })
    const { pairs } = buildPairJob(toPairRequest(order), toMeasuredRun(report), 'exp-001')
    expect(pairs.map(({ lost = false }) => lost)).toEqual([false, true])
    expect(isFollowingCoins(order, report)).toBe(true)
  })
})
