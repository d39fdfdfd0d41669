import type { FoundBenchmark } from '../findings.ts'

const TINYBENCH = /(?:from|require\()\s*['"]tinybench['"]/
const OTHERS = /(?:from|require\()\s*['"](mitata|benchmark|benny|cronometro)['"]/

/**
 * Libraries that run for a fixed time, however fast the code is: timing them from outside says nothing, so
 * what they measured has to be printed.
 */
export function withTimedLibrary(
  found: FoundBenchmark,
  source: string | null,
): { bench: FoundBenchmark; notes: string[] } {
  if (source === null || found.metric !== null) return { bench: found, notes: [] }
  if (TINYBENCH.test(source)) {
    const metric = { name: 'geomean_median_ms', direction: 'minimize' } as const
    const line = 'console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result }))))'
    const prints = /JSON\.stringify\([^;]*\.tasks\b/.test(source)
    const notes = prints ? [] : [`let ${found.from} print nothing but what tinybench measured: ${line}`]
    return { bench: { ...found, output: 'vitest', metric }, notes }
  }
  const [, library] = OTHERS.exec(source) ?? []
  if (library === undefined) return { bench: found, notes: [] }
  const note = `${library} runs for a fixed time, so the time of ${found.from} says nothing: let it print METRIC <name>=<number>, and name that in metric.primary`
  return { bench: found, notes: [note] }
}
