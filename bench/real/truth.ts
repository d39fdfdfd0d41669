import { execFile } from 'node:child_process'
import { cpus } from 'node:os'
import { promisify } from 'node:util'
import { seeded } from '../decide/random.ts'
import { median } from '../decide/statistics.ts'
import type { Program } from './sides.ts'

const run = promisify(execFile)

/** Shares of the base's time, or of its count: .05 is 5 % less. */
export interface Gain {
  estimate: number
  low: number
  high: number
}

export interface Truth {
  pairs: number
  gain: Gain
  base_seconds: number
  /** What both sides were counted by besides, and how much less of it the head needs. */
  counted: { by: 'instructions' | 'CPU time'; gain: number } | null
  same_answers: boolean
  /** The share of the processors that other programs used meanwhile. */
  others_share: number
}

export interface TruthRequest {
  program: Program
  base: string
  head: string
  pairs: number
  /** A number that the workload prints; null for the wall time. */
  metric: string | null
  watch: () => LoadWatch
  signal: AbortSignal
}

interface Execution {
  wallSeconds: number
  cpuSeconds: number
  /** With that of the shell that started it. */
  allCpuSeconds: number
  /** What the program printed. */
  answer: string
}

/** Runs both sides in turns: base first in even pairs, head first in odd ones. */
export async function measureTruth(request: TruthRequest): Promise<Truth> {
  const { program, base, head, pairs, metric, watch, signal } = request
  const load = watch()
  const executions: { base: Execution; head: Execution }[] = []
  for (let at = 0; at < pairs; at++) {
    const first = await execute(program, at % 2 === 0 ? base : head, signal)
    const second = await execute(program, at % 2 === 0 ? head : base, signal)
    executions.push(at % 2 === 0 ? { base: first, head: second } : { base: second, head: first })
  }
  const all = executions.flatMap(pair => [pair.base, pair.head])
  const others_share = load.computeOthersShare(all.reduce((sum, each) => sum + each.allCpuSeconds, 0))
  const read = (execution: Execution) =>
    metric === null ? execution.wallSeconds : readMetric(execution.answer, metric)
  const ratios = executions.map(pair => Math.log(read(pair.head) / read(pair.base)))
  return {
    pairs,
    gain: estimateGain(ratios),
    base_seconds: median(executions.map(pair => pair.base.wallSeconds)),
    counted: metric === null ? await countBoth(request, executions) : null,
    same_answers: new Set(all.map(({ answer }) => removeMetric(answer, metric))).size === 1,
    others_share,
  }
}

const TIMEOUT_MS = 600_000

const TIMED = 'TIMEFORMAT="%R %U %S"; time "$@" 2>/dev/null; times >&2'

/** bash measures the program itself, without the start of bash. */
async function execute({ pinned }: Program, folder: string, signal: AbortSignal): Promise<Execution> {
  const options = { cwd: folder, env: { ...process.env, LC_ALL: 'C' }, signal, timeout: TIMEOUT_MS }
  const { stdout, stderr } = await run('bash', ['-c', TIMED, 'workload', ...pinned], options)
  const [timed = '', ...shell] = stderr.trim().split('\n')
  const [wallSeconds = 0, user = 0, system = 0] = timed.split(' ').map(Number)
  const allCpuSeconds = [...shell.join(' ').matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds),
    0,
  )
  return { wallSeconds, cpuSeconds: user + system, allCpuSeconds, answer: stdout }
}

function readMetric(answer: string, metric: string): number {
  const value: unknown = JSON.parse(answer)[metric]
  if (typeof value !== 'number') throw new Error(`the workload does not print ${metric}: ${answer}`)
  return value
}

function removeMetric(answer: string, metric: string | null): string {
  return metric === null ? answer : JSON.stringify({ ...JSON.parse(answer), [metric]: null })
}

const RESAMPLES = 2000
const LOW = 0.025

/** The median of the paired ratios, and its 95 % interval from resampled pairs. */
export function estimateGain(ratios: readonly number[]): Gain {
  const { fraction } = seeded('bootstrap', ratios.length)
  const draw = () => ratios[Math.floor(fraction() * ratios.length)] ?? 0
  const medians = Array.from({ length: RESAMPLES }, () => median(ratios.map(draw))).toSorted((a, b) => a - b)
  const toGain = (ratio: number) => 1 - Math.exp(ratio)
  const quantile = (share: number) => medians[Math.round(share * (RESAMPLES - 1))] ?? Number.NaN
  return { estimate: toGain(median(ratios)), low: toGain(quantile(1 - LOW)), high: toGain(quantile(LOW)) }
}

async function countBoth(
  { program, base, head, signal }: TruthRequest,
  executions: readonly { base: Execution; head: Execution }[],
): Promise<Truth['counted']> {
  if (program.language.native) {
    const [before, after] = [
      await countInstructions(program, base, signal),
      await countInstructions(program, head, signal),
    ]
    if (before !== null && after !== null) return { by: 'instructions', gain: 1 - after / before }
  }
  const ratios = executions.map(pair => pair.head.cpuSeconds / pair.base.cpuSeconds)
  return { by: 'CPU time', gain: 1 - median(ratios) }
}

/** Returns null where valgrind is missing. */
async function countInstructions(
  { command }: Program,
  folder: string,
  signal: AbortSignal,
): Promise<number | null> {
  const options = ['--tool=callgrind', '--callgrind-out-file=/dev/null']
  try {
    const { stderr } = await run('valgrind', [...options, ...command], {
      cwd: folder,
      signal,
      timeout: TIMEOUT_MS,
    })
    // A process that it starts prints its own count, and ends before it.
    const count = [...stderr.matchAll(/Collected : (\d+)/g)].at(-1)?.[1]
    return count === undefined ? null : Number(count)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

// The load of the machine

export interface LoadWatch {
  computeOthersShare(ownSeconds: number): number
}

/** `ownSeconds` is the processor time of the measured programs. The time of this process is subtracted too. */
export function watchLoad(core: number | null): LoadWatch {
  const [start, own] = [readProcessors(core), process.cpuUsage()]
  return {
    computeOthersShare(ownSeconds) {
      const end = readProcessors(core)
      const { user, system } = process.cpuUsage(own)
      // This process keeps away from a core that the workloads have for themselves.
      const runner = core === null ? (user + system) / 1e6 : 0
      const others = (end.busy - start.busy) / 1e3 - ownSeconds - runner
      return Math.max(0, others / ((end.all - start.all) / 1e3 || 1))
    },
  }
}

function readProcessors(core: number | null): { busy: number; all: number } {
  const times = cpus().flatMap(({ times }, at) => (core === null || core === at ? [times] : []))
  const idle = times.reduce((sum, time) => sum + time.idle, 0)
  const all = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle)
  return { busy: all - idle, all }
}
