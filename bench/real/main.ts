import { cpus, homedir } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { COMMITS, type RealCommit } from './commits.ts'
import { measureCommits, readBuilds } from './measure.ts'
import { readResults } from './results.ts'
import { listRows, renderReport } from './table.ts'

const USAGE = `usage: npm run bench:real -- [--clones <folder>] [--builds <file>] [--only <words>] [--pairs <number>] [--out <file>] [--core <number>] [--any-load]
Without --clones it prints the recorded table. bench/real/README.md says how to record one.`

const RECORDED = 'bench/real/results.json'
const WORKLOADS = resolve('bench/real/workloads')
/** Fewer are for trying the runner. */
const PAIRS = 200

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      clones: { type: 'string' },
      builds: { type: 'string' },
      only: { type: 'string', default: '' },
      pairs: { type: 'string', default: `${PAIRS}` },
      out: { type: 'string', default: RECORDED },
      core: { type: 'string' },
      'any-load': { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(USAGE)
  const commits = COMMITS.filter(entry => describeEntry(entry).includes(values.only))
  const { clones, out, 'any-load': anyLoad } = values
  const pairs = Number(values.pairs)
  if (!Number.isSafeInteger(pairs) || pairs < 1) throw new Error(`--pairs must be a number above 0\n${USAGE}`)
  const core = values.core === undefined ? null : Number(values.core)
  if (core !== null && cpus()[core] === undefined)
    throw new Error(`--core must be the number of a core, from 0 to ${cpus().length - 1}\n${USAGE}`)
  if ((anyLoad || pairs < PAIRS) && resolve(out) === resolve(RECORDED))
    throw new Error(
      `${RECORDED} is for results of an idle machine and ${PAIRS} pairs: give another file with --out`,
    )
  if (clones !== undefined) {
    const missing = await measureCommits(commits, {
      clones: resolve(clones),
      workloads: WORKLOADS,
      out,
      builds: readBuilds(values.builds),
      pairs,
      core,
      home: homedir(),
      anyLoad,
      say: line => console.error(line),
      signal: handleInterrupt(),
    })
    if (missing > 0) console.error(`${missing} of ${commits.length} commits are not measured yet.`)
  }
  printResults(out)
}

function describeEntry({ repository, commit, workload, claim }: RealCommit): string {
  return `${repository} ${commit} ${workload} ${claim}`
}

function printResults(out: string): void {
  const file = readResults(out)
  const rows = file === null ? [] : listRows(file, WORKLOADS)
  if (file === null || rows.length === 0) {
    console.log(`${out} has no results yet. bench/real/README.md says how to record them on an idle machine.`)
    return
  }
  console.log(renderReport(file, rows))
}

function handleInterrupt(): AbortSignal {
  const abort = new AbortController()
  process.once('SIGINT', () => abort.abort(new Error('interrupted: the same command continues')))
  return abort.signal
}

try {
  await main()
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 2
}
