import type { FoundBenchmark } from './findings.ts'
import { printedBy } from './printed-metric.ts'
import type { ProjectFiles } from './project-files.ts'

const PLACE = /^(?:bench|benches|benchmarks?|perf)\/([^/]+)$/
const AID = /(?:^|[._/-])(?:test|spec|setup|util|utils|helper|helpers|common|fixtures?|config)\.[^.]+$/i

/** `bench/parse.mjs` and its like: one file, started by itself. Of several, the one named like a main. */
export function benchScript(
  files: ProjectFiles,
  endings: RegExp,
  interpreter: string,
): { found: FoundBenchmark; others: string[] } | null {
  const scripts = files.paths.filter(path => PLACE.test(path) && endings.test(path) && !AID.test(path))
  const own = scripts.filter(path => !/(?:^|\/)(?:test_[^/]*|__init__|[^/]*\.bench)\.[^/]+$/.test(path))
  const [first] = own.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  if (first === undefined) return null
  const found = { command: `${interpreter} ${first}`, from: first, ...printedBy(files.text(first)) }
  return { found, others: own.filter(path => path !== first) }
}

function rank(path: string): number {
  return /\/(?:index|main|all|bench|benchmark|run|perf)\.[^/]+$/.test(path) ? 0 : 1
}

export function othersNote(others: readonly string[]): string[] {
  if (others.length === 0) return []
  return [`other benchmarks: ${others.slice(0, 4).join(', ')}${others.length > 4 ? ', …' : ''}`]
}
