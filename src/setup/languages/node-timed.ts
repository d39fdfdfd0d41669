import { getOverallMetric } from '../benchmark-tools.ts'
import type { FoundBenchmark } from '../findings.ts'

/** The library or tool that a benchmark measures with. */
const IMPORTED =
  /(?:from|require\(|import\()\s*['"](tinybench|mitata|benchmark|benny|cronometro|autocannon)(?:\/[^'"]*)?['"]/
const STARTED = /(?:^|[\s/;&|"'`])(autocannon|wrk2?|k6|bombardier|oha)\s/
const PRINTS_RATES =
  /ops\/s|String\(\s*[\w.]+\.target\b|\.target\.toString\(|\$\{\s*[\w.]+\.target\s*\}|console\.log\(\s*[\w.]+\.target\b/
const PRINTS_TASKS = /JSON\.stringify\([^;]*\.tasks\b/

interface TimedBenchmark {
  bench: FoundBenchmark
  notes: string[]
}

/** `sources`: the benchmark's own text, and that of the workers and files beside it that it starts. */
export function withTimedLibrary(
  found: FoundBenchmark,
  script: string,
  sources: readonly string[],
): TimedBenchmark {
  const all = sources.join('\n')
  const [, library] = IMPORTED.exec(all) ?? STARTED.exec(script) ?? []
  if (library === undefined || found.metric !== null) return { bench: found, notes: [] }
  switch (library) {
    case 'tinybench':
      return readTinybench(found, all)
    case 'benchmark':
      return readPrintedRates(found, all, 'suite.on("cycle", event => console.log(String(event.target)))')
    case 'mitata':
      return { bench: setOutputFormat(found, 'mitata'), notes: [] }
    default:
      return readUnknownLibrary(found, library)
  }
}

function setOutputFormat(found: FoundBenchmark, output: FoundBenchmark['output']): FoundBenchmark {
  const name = getOverallMetric(output)
  return { ...found, output, metric: name === undefined ? null : { name, direction: 'minimize' } }
}

function readTinybench(found: FoundBenchmark, all: string): TimedBenchmark {
  if (/ops\/s/.test(all)) return { bench: setOutputFormat(found, 'benchmark-js'), notes: [] }
  const metric = { name: 'geomean_median_ms', direction: 'minimize' } as const
  const line = 'console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result }))))'
  const notes = PRINTS_TASKS.test(all)
    ? []
    : [`let ${found.from} print nothing but what tinybench measured: ${line}`]
  return { bench: { ...found, output: 'vitest', metric }, notes }
}

function readPrintedRates(found: FoundBenchmark, all: string, line: string): TimedBenchmark {
  const notes = PRINTS_RATES.test(all) ? [] : [`let ${found.from} print every result: ${line}`]
  return { bench: setOutputFormat(found, 'benchmark-js'), notes }
}

/** How long such a tool takes says nothing of the code: only a number that it prints does. */
function readUnknownLibrary(found: FoundBenchmark, library: string): TimedBenchmark {
  const metric = { name: 'ops_per_second', direction: 'maximize' } as const
  const note = `${library} runs for a fixed time, so the time of ${found.from} says nothing: let it print METRIC ops_per_second=<number>; check fails until it does`
  return { bench: { ...found, output: 'metric-lines', metric }, notes: [note] }
}
