import {
  type FoundBenchmark,
  type FoundCommand,
  getNestedValue,
  isTable,
  type OutputFormat,
  type PrintedMetric,
  type ProjectFiles,
  readYamlManifest,
} from './project.ts'

const SCRIPT =
  /^(?:(?:bench|benches|benchmarks?|perf)\/[^/]+|(?:tests?\/)?(?:bench|benchmarks?|perf)\.[cm]?[a-z]+)$/
const HELPER = /(?:^|[._/-])(?:test|spec|setup|util|utils|helper|helpers|common|fixtures?|config)\.[^.]+$/i

/** Finds a script that can be started by itself, or else a target of make, just or task. */
export function findBenchmark(
  files: ProjectFiles,
  endings: RegExp,
  interpreter = 'sh',
): { bench: FoundBenchmark | null; notes: string[] } {
  const script = findBenchScript(files, endings, interpreter)
  if (script !== null) return { bench: script.found, notes: describeOtherBenchmarks(script.others) }
  const target = findTarget(files, BENCH_NAMES)
  return { bench: target === null ? null : { ...target, output: 'json', metric: null }, notes: [] }
}

/**
 * Finds one script that can be started by itself, such as `bench/parse.mjs`, `bench.js` or
 * `test/benchmark.js`. Prefers names such as main or index.
 */
export function findBenchScript(
  files: ProjectFiles,
  endings: RegExp,
  interpreter: string,
): { found: FoundBenchmark; others: string[] } | null {
  const scripts = files.paths.filter(path => SCRIPT.test(path) && endings.test(path) && !HELPER.test(path))
  const own = scripts
    .filter(path => !/(?:^|\/)(?:test_[^/]*|__init__|[^/]*\.bench)\.[^/]+$/.test(path))
    .filter(path => !isModuleOnly(path, files.text(path)))
  const [first] = own.toSorted((a, b) => rankScript(a) - rankScript(b) || (a < b ? -1 : 1))
  if (first === undefined) return null
  const command = `${first.endsWith('.sh') ? 'sh' : interpreter} ${first}`
  const found = { command, from: first, ...detectPrintedMetric(files.text(first)) }
  return { found, others: own.filter(path => path !== first) }
}

function rankScript(path: string): number {
  return /(?:^|\/)(?:index|main|all|bench|benchmarks?|run|perf)\.[^/]+$/.test(path) ? 0 : 1
}

const EXPORTS = /^(?:module\.exports\b|exports\.\w|export\s)/m
/** Matches a top-level statement that does work: a call, a loop, a condition or a chain of calls. */
const RUNS =
  /^(?:await\s|new\s|void\s|try\s*\{|[;!+-]?\(|(?!require\(|Object\.define)[A-Za-z_$][\w$]*(?:\??\.[\w$]+)*\s*(?:\(|`)|[A-Za-z_$][\w$.]*[ \t]*\r?\n\s+\.\w)/m
const PYTHON_RUNS = /^(?:if\s|for\s|while\s|with\s|try:|[A-Za-z_][\w.]*\()/m

/** Detects modules that only define functions for other files. Running them measures an empty program. */
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

// Metrics

/** The mean over all benchmarks of a tool (docs/adapters.md). */
const OVERALL: Partial<Readonly<Record<OutputFormat, string>>> = {
  go: 'geomean_ns_per_op',
  cargo: 'geomean_ns_per_iter',
  'pytest-benchmark': 'geomean_median_seconds',
  hyperfine: 'geomean_median_seconds',
  vitest: 'geomean_mean_ms',
  'benchmark-js': 'geomean_ns_per_op',
  mitata: 'geomean_ns_per_iter',
}

export function getOverallMetric(output: OutputFormat): string | undefined {
  return OVERALL[output]
}

export function createToolBenchmark(command: string, from: string, output: OutputFormat): FoundBenchmark {
  const name = getOverallMetric(output)
  return { command, from, output, metric: name === undefined ? null : { name, direction: 'minimize' } }
}

const METRIC_LINE = /METRIC ([A-Za-z_][\w.-]*)=/
const PRINTED = [
  /JSON\.stringify\(\s*\{\s*["']?([A-Za-z_]\w*)["']?\s*[:,}]/,
  /json\.dumps?\(\s*\{\s*["']([A-Za-z_]\w*)["']\s*:/,
  /\{\\?"([A-Za-z_]\w*)\\?"\s*:\s*(?:[$%#"'+]|\\?\()/,
  /JSON\.generate\(\s*\{?\s*["']?([A-Za-z_]\w*)["']?\s*(?::|=>)/,
]
const MORE_IS_BETTER =
  /(?:^|_)(?:ops|hz|rps|qps|throughput|per_s(?:ec(?:ond)?)?|score|accuracy|coverage|hits?|hit_rate|f1|recall|precision)(?:_|$)|perSec|opsPer|[a-z]Per[A-Z]/i

/** Printed to prevent dead-code elimination or to show that the result is right, so not a goal. */
const NO_GOAL = /^(?:check(?:_?sum)?|crc\d*|hash|digest|sink|dummy|guard|ok|sanity|seed)$/i

const ITEMS = /\{\s*\\?["']?items\\?["']?\s*[:,}]/

/**
 * Detects by patterns what the source of a benchmark prints. Where none matches, winnow times the command.
 */
export function detectPrintedMetric(
  source: string | null,
): Pick<FoundBenchmark, 'output' | 'metric' | 'printsItems'> {
  if (ITEMS.test(source ?? '')) return { output: 'json', metric: null, printsItems: true }
  const line = METRIC_LINE.exec(source ?? '')?.[1]
  if (line !== undefined) return { output: 'metric-lines', metric: toPrintedMetric(line) }
  for (const pattern of PRINTED) {
    const name = pattern.exec(source ?? '')?.[1]
    if (name !== undefined)
      return { output: 'json', metric: NO_GOAL.test(name) ? null : toPrintedMetric(name) }
  }
  return { output: 'json', metric: null }
}

function toPrintedMetric(name: string): PrintedMetric {
  return { name, direction: MORE_IS_BETTER.test(name) ? 'maximize' : 'minimize' }
}

// Targets of make, just and task

interface TaskFile {
  file: string
  run: string
  names: string[]
}

/** Reads Makefile, justfile and Taskfile. Only the names of targets count. */
function listTaskFiles(files: ProjectFiles): TaskFile[] {
  const found: TaskFile[] = []
  for (const file of ['Makefile', 'makefile', 'justfile', 'Justfile', 'Taskfile.yml', 'Taskfile.yaml']) {
    const text = files.text(file)
    if (text === null) continue
    if (/^t/i.test(file)) {
      const tasks = getNestedValue(readYamlManifest(files, file), 'tasks')
      found.push({ file, run: 'task', names: Object.keys(isTable(tasks) ? tasks : {}) })
    } else found.push({ file, run: /^m/i.test(file) ? 'make' : 'just', names: parseRuleNames(text) })
  }
  return found
}

function parseRuleNames(text: string): string[] {
  const names = [...text.matchAll(/^@?([A-Za-z][\w-]*)(?:[ \t]+(?![=?+:])[^:\n]*)?:(?![:=])/gm)]
  return names.map(match => match[1] ?? '')
}

function findTarget(files: ProjectFiles, wanted: readonly string[]): FoundCommand | null {
  for (const { file, run, names } of listTaskFiles(files)) {
    const name = wanted.find(each => names.includes(each))
    if (name !== undefined) return { command: `${run} ${name}`, from: `target ${name} of ${file}` }
  }
  return null
}

export function findTestTarget(files: ProjectFiles): FoundCommand | null {
  return findTarget(files, ['test', 'tests', 'check'])
}

export const BENCH_NAMES = ['bench', 'benchmark', 'benchmarks', 'perf'] as const

/** Lists the prerequisites of the bench target that are targets of the Makefile too. */
export function listBenchNeeds(files: ProjectFiles): string[] {
  const text = files.text('Makefile') ?? files.text('makefile') ?? ''
  const names = parseRuleNames(text)
  const name = BENCH_NAMES.find(each => names.includes(each))
  const needs =
    name === undefined ? '' : (new RegExp(`^${name}[ \\t]*:(?!=)([^\\n#;]*)`, 'm').exec(text)?.[1] ?? '')
  return needs.split(/\s+/).filter(each => names.includes(each))
}
