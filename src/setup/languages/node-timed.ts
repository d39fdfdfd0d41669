import { overallMetric } from '../benchmark-tools.ts'
import type { FoundBenchmark } from '../findings.ts'

/** The library or tool that a benchmark measures with. */
const IMPORTED =
  /(?:from|require\(|import\()\s*['"](tinybench|mitata|benchmark|benny|cronometro|autocannon)(?:\/[^'"]*)?['"]/
const STARTED = /(?:^|[\s/;&|"'`])(autocannon|wrk2?|k6|bombardier|oha)\s/
const PRINTS_RATES =
  /ops\/s|String\(\s*[\w.]+\.target\b|\.target\.toString\(|\$\{\s*[\w.]+\.target\s*\}|console\.log\(\s*[\w.]+\.target\b/
const PRINTS_TASKS = /JSON\.stringify\([^;]*\.tasks\b/

interface Found {
  bench: FoundBenchmark
  notes: string[]
}

/** `sources`: the benchmark's own text, and that of the workers and files beside it that it starts. */
export function withTimedLibrary(found: FoundBenchmark, script: string, sources: readonly string[]): Found {
  const all = sources.join('\n')
  const [, library] = IMPORTED.exec(all) ?? STARTED.exec(script) ?? []
  if (library === undefined || found.metric !== null) return { bench: found, notes: [] }
  switch (library) {
    case 'tinybench':
      return ofTinybench(found, all)
    case 'benchmark':
      return printing(found, all, 'suite.on("cycle", event => console.log(String(event.target)))')
    case 'mitata':
      return { bench: readAs(found, 'mitata'), notes: [] }
    default:
      return ofUnknown(found, library)
  }
}

function readAs(found: FoundBenchmark, output: FoundBenchmark['output']): FoundBenchmark {
  const name = overallMetric(output)
  return { ...found, output, metric: name === undefined ? null : { name, direction: 'minimize' } }
}

function ofTinybench(found: FoundBenchmark, all: string): Found {
  if (/ops\/s/.test(all)) return { bench: readAs(found, 'benchmark-js'), notes: [] }
  const metric = { name: 'geomean_median_ms', direction: 'minimize' } as const
  const line = 'console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result }))))'
  const notes = PRINTS_TASKS.test(all)
    ? []
    : [`let ${found.from} print nothing but what tinybench measured: ${line}`]
  return { bench: { ...found, output: 'vitest', metric }, notes }
}

function printing(found: FoundBenchmark, all: string, line: string): Found {
  const notes = PRINTS_RATES.test(all) ? [] : [`let ${found.from} print every result: ${line}`]
  return { bench: readAs(found, 'benchmark-js'), notes }
}

/** How long such a tool takes says nothing of the code: only a number that it prints does. */
function ofUnknown(found: FoundBenchmark, library: string): Found {
  const metric = { name: 'ops_per_second', direction: 'maximize' } as const
  const note = `${library} runs for a fixed time, so the time of ${found.from} says nothing: let it print METRIC ops_per_second=<number>; check fails until it does`
  return { bench: { ...found, output: 'metric-lines', metric }, notes: [note] }
}
