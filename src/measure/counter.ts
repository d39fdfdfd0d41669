import { spawnSync } from 'node:child_process'
import { accessSync, constants, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { UserError } from '../errors.ts'
import { quoteShell } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import { listCountedMetrics } from '../spec/spec-facts.ts'
import { removeAll } from './file-system.ts'
import { changeOwner } from './isolation/side-users.ts'
import type { Owner } from './process/reaper.ts'

/** A tool that counts what a command and its children do, and writes the counts to files of winnow. */
interface Counter {
  wrap(command: string, dir: string): string
  /** Null for a file without a whole count: a process that was killed has none. */
  read(text: string): Record<string, number> | null
}

const TRACE = '--trace-children=yes --log-file='

const CALLGRIND: Counter = {
  wrap: (command, dir) =>
    `valgrind --tool=callgrind --callgrind-out-file=/dev/null ${TRACE}${quoteShell(join(dir, '%p'))} /bin/sh -c ${quoteShell(command)}`,
  read(text) {
    const found = /^==\d+== Collected : (\d+)$/m.exec(text)?.[1]
    return found === undefined ? null : { instructions: Number(found) }
  },
}

const MEMCHECK: Counter = {
  wrap: (command, dir) =>
    `valgrind --tool=memcheck --undef-value-errors=no --leak-check=no ${TRACE}${quoteShell(join(dir, '%p'))} /bin/sh -c ${quoteShell(command)}`,
  read(text) {
    const [, allocations, bytes] =
      /total heap usage: ([\d,]+) allocs, [\d,]+ frees, ([\d,]+) bytes allocated/.exec(text) ?? []
    if (allocations === undefined || bytes === undefined) return null
    return { allocations: parseCount(allocations), allocated_bytes: parseCount(bytes) }
  },
}

const PERF: Counter = {
  wrap: (command, dir) =>
    `perf stat -x, -e instructions:u -o ${quoteShell(join(dir, 'perf'))} -- /bin/sh -c ${quoteShell(command)}`,
  read(text) {
    const lines = [...text.matchAll(/^(\d+|<[^>]*>),[^,]*,[^,]*instructions[^,]*,/gm)].map(
      ([, count]) => count,
    )
    if (lines.length === 0 || lines.some(count => !/^\d+$/.test(count ?? ''))) return null
    return { instructions: lines.reduce((sum, count) => sum + Number(count), 0) }
  },
}

function parseCount(text: string): number {
  return Number(text.replaceAll(',', ''))
}

/** Null where the spec counts nothing. Fails before anything runs if no tool can count it here. */
export function chooseCounter(spec: Spec, env: Readonly<Record<string, string>>): Counter | null {
  const names = listCountedMetrics(spec)
  const [first] = names
  if (first === undefined) return null
  const path = env['PATH'] ?? '/usr/bin:/bin'
  const hasValgrind = isInstalled('valgrind', path)
  if (!names.includes('instructions') && hasValgrind) return MEMCHECK
  if (hasValgrind) return CALLGRIND
  if (names.includes('instructions') && isPerfCounting(path)) return PERF
  const tools = first === 'instructions' ? 'valgrind, or perf with hardware counters' : 'valgrind'
  throw new UserError(`${first} cannot be counted here: it needs ${tools}, and there is none on PATH`, {
    place: { path: 'metric' },
    fix: 'install it (Debian, Ubuntu and their GitHub runners: sudo apt-get install -y valgrind), or compare cpu_seconds',
  })
}

function isInstalled(program: string, path: string): boolean {
  return path.split(delimiter).some(dir => {
    try {
      accessSync(join(dir, program), constants.X_OK)
      return dir !== ''
    } catch {
      return false
    }
  })
}

const PROBE_MS = 10_000

/** Virtual machines often have perf, but no hardware counters. */
function isPerfCounting(path: string): boolean {
  if (!isInstalled('perf', path)) return false
  const args = ['stat', '-x,', '-e', 'instructions:u', '--', 'true']
  const { stderr, status } = spawnSync('perf', args, {
    env: { PATH: path, LC_ALL: 'C' },
    timeout: PROBE_MS,
    encoding: 'utf8',
  })
  return status === 0 && PERF.read(stderr) !== null
}

/** Beside the place where all sides run, like their output: no variable names it, and each execution starts it empty. */
export async function prepareCounts(root: string, owner: Owner | null): Promise<string> {
  const dir = join(dirname(root), 'counts')
  await removeAll(dir)
  mkdirSync(dir, { mode: 0o700 })
  if (owner !== null) await changeOwner(dir, owner)
  return dir
}

const MAX_PROCESSES = 10_000
const MAX_BYTES = 1_000_000

/** The sum over all processes. Without the count of every one of them there is no count (invariant 5). */
export function readCounts(counter: Counter, dir: string): Record<string, number> {
  const names = readdirSync(dir)
  if (names.length === 0 || names.length > MAX_PROCESSES) return {}
  const totals: Record<string, number> = {}
  for (const name of names) {
    const path = join(dir, name)
    const file = lstatSync(path)
    const isReadable = file.isFile() && file.size <= MAX_BYTES
    const counts = isReadable ? counter.read(readFileSync(path, 'utf8')) : null
    if (counts === null) return {}
    for (const [metric, count] of Object.entries(counts)) totals[metric] = (totals[metric] ?? 0) + count
  }
  return totals
}
