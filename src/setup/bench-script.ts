import type { FoundBenchmark } from './findings.ts'
import { detectPrintedMetric } from './printed-metric.ts'
import type { ProjectFiles } from './project-files.ts'

const PLACE =
  /^(?:(?:bench|benches|benchmarks?|perf)\/[^/]+|(?:tests?\/)?(?:bench|benchmarks?|perf)\.[cm]?[a-z]+)$/
const AID = /(?:^|[._/-])(?:test|spec|setup|util|utils|helper|helpers|common|fixtures?|config)\.[^.]+$/i

/** `bench/parse.mjs`, `bench.js`, `test/benchmark.js`: one file, started by itself. Of several, the one named like a main. */
export function findBenchScript(
  files: ProjectFiles,
  endings: RegExp,
  interpreter: string,
): { found: FoundBenchmark; others: string[] } | null {
  const scripts = files.paths.filter(path => PLACE.test(path) && endings.test(path) && !AID.test(path))
  const own = scripts
    .filter(path => !/(?:^|\/)(?:test_[^/]*|__init__|[^/]*\.bench)\.[^/]+$/.test(path))
    .filter(path => !isModuleOnly(path, files.text(path)))
  const [first] = own.toSorted((a, b) => rankScript(a) - rankScript(b) || (a < b ? -1 : 1))
  if (first === undefined) return null
  const found = { command: `${interpreter} ${first}`, from: first, ...detectPrintedMetric(files.text(first)) }
  return { found, others: own.filter(path => path !== first) }
}

function rankScript(path: string): number {
  return /(?:^|\/)(?:index|main|all|bench|benchmarks?|run|perf)\.[^/]+$/.test(path) ? 0 : 1
}

const EXPORTS = /^(?:module\.exports\b|exports\.\w|export\s)/m
/** A statement at the top that does something: a call, a loop, a condition, a chain of calls. */
const RUNS =
  /^(?:await\s|new\s|void\s|try\s*\{|[;!+-]?\(|(?!require\(|Object\.define)[A-Za-z_$][\w$]*(?:\??\.[\w$]+)*\s*(?:\(|`)|[A-Za-z_$][\w$.]*[ \t]*\r?\n\s+\.\w)/m
const PYTHON_RUNS = /^(?:if\s|for\s|while\s|with\s|try:|[A-Za-z_][\w.]*\()/m

/** A module of a harness that does nothing when it is run: others import it. */
export function isModuleOnly(path: string, text: string | null): boolean {
  if (text === null || text.trim() === '') return false
  if (/\.[cm]?[jt]s$/.test(path)) return EXPORTS.test(text) && !RUNS.test(text)
  if (path.endsWith('.py')) return /^(?:def|class)\s/m.test(text) && !PYTHON_RUNS.test(text)
  return false
}

export function describeOtherBenchmarks(others: readonly string[]): string[] {
  if (others.length === 0) return []
  return [`other benchmarks: ${others.slice(0, 4).join(', ')}${others.length > 4 ? ', …' : ''}`]
}
