import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { RealCommit } from './commits.ts'
import {
  describeMachine,
  digestWorkload,
  findResult,
  readResults,
  type Result,
  type ResultFile,
  writeResults,
} from './results.ts'
import { describeProgram, findClone, findLanguage, hasCommits, listSides, prepareSide } from './sides.ts'
import { type LoadWatch, measureTruth, watchLoad } from './truth.ts'
import { askWinnow } from './verdict.ts'

export interface MeasureOptions {
  /** The folder of the clones. */
  clones: string
  workloads: string
  /** The file to which each result is added as soon as it is there. */
  out: string
  /** Build commands by repository. */
  builds: Readonly<Record<string, string>>
  pairs: number
  home: string
  /** The core that the workloads have for themselves; null if they use every core. */
  core: number | null
  /** Measure although other programs are running. */
  anyLoad: boolean
  /** How the load of the machine is read; the default samples it for five seconds at a time. */
  load?: LoadReader
  say: (line: string) => void
  signal: AbortSignal
}

/** Measures what the result file does not have yet. Returns how many commits are still missing. */
export async function measureCommits(
  commits: readonly RealCommit[],
  options: MeasureOptions,
): Promise<number> {
  const file = openResults(options)
  let missing = 0
  for (const commit of commits) {
    const digest = digestWorkload(join(options.workloads, commit.workload))
    if (findResult(file, commit, digest) !== undefined) continue
    const result = await tryToMeasure(commit, digest, options)
    if (result === null) missing++
    else {
      file.results.push(result)
      writeResults(options.out, file)
    }
  }
  return missing
}

function openResults({ out, anyLoad, core }: MeasureOptions): ResultFile {
  const machine = describeMachine(core)
  const file = readResults(out) ?? { machine, any_load: anyLoad, results: [] }
  if (JSON.stringify(file.machine) !== JSON.stringify(machine))
    throw new Error(
      `${out} has results of another machine, or of other cores: ${file.machine.processor}. Use another --out.`,
    )
  if (file.any_load !== anyLoad)
    throw new Error(`${out} was ${anyLoad ? 'not ' : ''}measured with --any-load. Use another --out.`)
  return file
}

/** A commit that fails does not end the run. */
async function tryToMeasure(
  entry: RealCommit,
  digest: string,
  options: MeasureOptions,
): Promise<Result | null> {
  options.signal.throwIfAborted()
  try {
    return await measureCommit(entry, digest, options)
  } catch (error) {
    options.signal.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    options.say(`${formatName(entry)}: not measured: ${reason}`)
    return null
  }
}

function formatName({ repository, commit, backwards }: RealCommit): string {
  return `${repository} ${commit.slice(0, 10)}${backwards === true ? ' backwards' : ''}`
}

async function measureCommit(
  entry: RealCommit,
  workload_digest: string,
  options: MeasureOptions,
): Promise<Result | null> {
  const { repository, parent, commit, backwards = false, workload } = entry
  const { builds, pairs, home, core, anyLoad, say, signal } = options
  const name = formatName(entry)
  const clone = findClone(options.clones, repository)
  const obstacle = await findObstacle(entry, clone, builds)
  if (clone === null || obstacle !== null) {
    say(`${name}: not measured: ${obstacle}`)
    return null
  }
  say(`${name}: ${entry.change}`)
  const scratch = mkdtempSync(join(tmpdir(), 'winnow-real-'))
  try {
    const program = describeProgram(join(options.workloads, workload), {
      build: builds[repository] ?? null,
      core,
    })
    const sides = listSides(entry)
    const [base, head] = [join(scratch, 'base'), join(scratch, 'head')]
    await prepareSide(clone, sides.base, base, program)
    await prepareSide(clone, sides.head, head, program)
    if (!anyLoad && !(await waitUntilQuiet(options))) return null
    const { metric = null } = entry
    const watch = () => (options.load ?? LOAD).watch(core)
    const truth = await measureTruth({ program, base, head, pairs, metric, watch, signal })
    const winnow = await askWinnow({ clone, ...sides, program, metric, scratch, home, say, signal })
    const others = Math.max(truth.others_share, anyLoad ? 0 : await sampleLoad(options))
    if (!anyLoad && others > getLargestOthersShare(options)) {
      say(`${name}: not recorded: other programs used ${toPercent(others)} of the processors`)
      return null
    }
    const date = new Date().toISOString().slice(0, 10)
    return { repository, parent, commit, backwards, workload, workload_digest, date, ...truth, winnow }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function findObstacle(
  { repository, parent, commit, workload }: RealCommit,
  clone: string | null,
  builds: Readonly<Record<string, string>>,
): Promise<string | null> {
  const { name, interpreter } = findLanguage(workload)
  if (clone === null) return `there is no clone of ${repository}`
  if (!(await hasCommits(clone, [parent, commit]))) return `${clone} does not have the commit and its parent`
  if (interpreter === null && builds[repository] === undefined)
    return `${name} needs a build command (--builds)`
  return null
}

const Builds = z.record(z.string(), z.string())

/** Reads build commands by repository from a JSON file. */
export function readBuilds(file: string | undefined): Readonly<Record<string, string>> {
  return file === undefined ? {} : Builds.parse(JSON.parse(readFileSync(file, 'utf8')))
}

// The load of the machine

interface LoadReader {
  watch: (core: number | null) => LoadWatch
  sampleMs: number
}

const LOAD: LoadReader = { watch: watchLoad, sampleMs: 5_000 }
/** A twentieth of the processors, or a tenth of one: the system itself needs a part of that. */
function getLargestOthersShare({ core }: MeasureOptions): number {
  return Math.max(0.05, 0.1 / (core === null ? cpus().length : 1))
}
const SAMPLES = 60

/** Returns false if other programs are still running after all samples. */
async function waitUntilQuiet(options: MeasureOptions): Promise<boolean> {
  let share = 0
  for (let at = 0; at < SAMPLES; at++) {
    share = await sampleLoad(options)
    if (share <= getLargestOthersShare(options)) return true
    if (at === 0) options.say(`waiting: other programs use ${toPercent(share)} of the processors`)
  }
  options.say(`not measured: other programs use ${toPercent(share)} of the processors`)
  return false
}

async function sampleLoad({ load = LOAD, core, signal }: MeasureOptions): Promise<number> {
  const watched = load.watch(core)
  await wait(load.sampleMs, undefined, { signal })
  return watched.computeOthersShare(0)
}

function toPercent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}
