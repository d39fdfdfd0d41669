import { z } from 'zod'
import { HarnessError } from '../../errors.ts'
import { toCanonicalJson } from '../../model/canonical-json.ts'
import type { MetricValue, MetricValues } from '../../model/report.ts'
import { toVisibleText } from '../../model/text.ts'
import type { Spec } from '../../spec/schema.ts'
import { type BenchmarkFormat, BUILT_IN_METRICS, isBenchmarkFormat } from '../../spec/schema-values.ts'
import { isJudgedMetric } from '../../spec/spec-facts.ts'
import { type BenchmarkAdapter, computeBenchmarkMetrics } from './benchmarks.ts'
import { getOutputText, type OutputFiles, readCapped } from './capped-file.ts'
import {
  checkText,
  type HarnessOutput,
  type Item,
  ITEMS_EXAMPLE,
  listTextMetrics,
  MetricCollector,
  NO_OUTPUT,
  NO_TEXTS,
  parseJudgedOutput,
  toOutputError,
} from './harness-output.ts'
import { hyperfine, pytestBenchmark, vitestBench } from './json-benchmarks.ts'
import {
  explainAlmostResult,
  findDuplicateKey,
  findJsonObject,
  JSON_EXAMPLE,
  parseResultObject,
} from './result-object.ts'
import { benchmarkJs, cargoBench, goTest, mitata } from './text-benchmarks.ts'

/**
 * The result file, else all of stdout, else metric lines, else nothing. A
 * result file and stdout that disagree are an error.
 */
export function readHarnessOutput(files: OutputFiles, spec: Spec): HarnessOutput {
  const judged = isJudgedMetric(spec)
  try {
    const printed = readOutputChannels(files, spec, judged)
    return judged ? requireItems(printed) : printed
  } catch (error) {
    const isPlain = error instanceof HarnessError && error.detail.example === JSON_EXAMPLE
    if (!isPlain || spec.metric.primary.type !== 'loss') throw error
    throw new HarnessError(error.message, { ...error.detail, example: LOSS_EXAMPLE })
  }
}

/** What a run of a task prints for a loss. */
export const LOSS_EXAMPLE = '{"eval": 0.8, "critique": 0.6, "status": "complete"}'

function readOutputChannels(files: OutputFiles, spec: Spec, judged: boolean): HarnessOutput {
  const { output } = spec.measurement
  if (isBenchmarkFormat(output)) return readBenchmarks(files, output)
  const texts = listTextMetrics(spec)
  const written = getOutputText(readCapped(files.result), 'the result file', JSON_EXAMPLE)
  if (written !== null) {
    const printed = parseResultFile(written, { judged, texts })
    const lines = output === 'metric-lines' ? 'only' : 'too'
    refuseDisagreement(printed, readLog(files.stdout), { lines, texts })
    return printed
  }
  const stdout = getOutputText(readCapped(files.stdout), 'stdout', JSON_EXAMPLE) ?? ''
  const linesOnly = output === 'metric-lines'
  const object = linesOnly ? null : parseResultObject(stdout, { judged, texts })
  if (object !== null) return object
  const printed = parseMetricLines(stdout, texts)
  if (printed !== null) return linesOnly ? printed : refuseOtherObject(printed, stdout, texts)
  const needed = listNeededMetrics(spec)
  if (needed.length === 0) return NO_OUTPUT
  const example = linesOnly
    ? needed.map(name => `METRIC ${name}=12.5`).join('\n')
    : JSON.stringify(Object.fromEntries(needed.map(name => [name, 12.5])))
  const attempt = linesOnly ? null : explainAlmostResult(stdout, example)
  if (attempt !== null) throw attempt
  const are = needed.length === 1 ? 'is' : 'are'
  const what = stdout.trim() === '' ? 'stdout is empty' : 'stdout is not a result'
  throw toOutputError(`${what}, but ${needed.join(', ')} ${are} needed`, getLastLine(stdout), example)
}

/** Next to a result file, stdout may be a log of any size. Ignores one that is too large to be a result. */
function readLog(path: string): string {
  const read = readCapped(path)
  return read.kind === 'text' ? read.text : ''
}

function parseResultFile(
  text: string,
  options: { judged: boolean; texts: ReadonlySet<string> },
): HarnessOutput {
  const printed = parseResultObject(text, options)
  if (printed !== null) return printed
  throw toOutputError('$WINNOW_RESULT_PATH does not hold one JSON object', getLastLine(text), JSON_EXAMPLE)
}

/** The metrics that a verdict needs and winnow does not measure itself. */
export function listNeededMetrics({ metric }: Spec): string[] {
  const named = [
    ...(metric.primary.type === 'hard' ? [metric.primary.name] : []),
    ...metric.objectives.filter(objective => objective.role !== 'secondary').map(objective => objective.name),
    ...metric.degenerate_gates.map(gate => gate.name),
    ...metric.constraints.map(constraint => constraint.metric),
  ]
  return [...new Set(named)].filter(name => !BUILT_IN_METRICS.has(name))
}

function getLastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

// Scorer output

type ScoreReadingSpec = NonNullable<Spec['measurement']['score']>
const object = z.record(z.string(), z.unknown())

/** `score_field` and `metrics_field` name the fields of a scorer with its own format. */
export function readScore(
  stdout: string,
  { parse }: ScoreReadingSpec,
  primary: string,
  { texts = NO_TEXTS, judged = false }: { texts?: ReadonlySet<string>; judged?: boolean } = {},
): HarnessOutput {
  const text = getOutputText(readCapped(stdout), "the scorer's output", JSON_EXAMPLE) ?? ''
  if (parse.format === 'metric-lines')
    return parseMetricLines(text, texts) ?? failUnreadable(text, METRIC_EXAMPLE)
  if (parse.score_field === null && parse.metrics_field === null) {
    const printed = parseResultObject(text, { texts, judged }) ?? failUnreadable(text, JSON_EXAMPLE)
    return judged ? requireItems(printed) : printed
  }
  const selected = JSON.stringify(selectScoreFields(text, parse, primary))
  const printed = parseResultObject(selected, { texts }) ?? failUnreadable(text, JSON_EXAMPLE)
  return judged
    ? requireItems({ ...printed, ...toItemsMember(parseJudgedOutput(parseLoose(text))) })
    : printed
}

function toItemsMember(items: Item[] | undefined): Pick<HarnessOutput, 'items'> {
  return items === undefined ? {} : { items }
}

function requireItems(printed: HarnessOutput): HarnessOutput {
  if (printed.items !== undefined) return printed
  throw toOutputError('no items are printed, and a judge scores items', '', ITEMS_EXAMPLE)
}

function selectScoreFields(
  text: string,
  parse: ScoreReadingSpec['parse'],
  primary: string,
): Record<string, unknown> {
  const printed = parseLoose(text)
  const twice = findDuplicateKey(text)
  if (twice !== null) throw toOutputError(`"${twice}" is given twice`, getLastLine(text), JSON_EXAMPLE)
  const { score_field: score, metrics_field: metrics } = parse
  for (const field of [score, metrics]) {
    if (field === null || Object.hasOwn(printed, field)) continue
    const example = JSON.stringify({ [field]: 0.93 })
    throw toOutputError(`the scorer did not print "${field}"`, getLastLine(text), example)
  }
  return {
    ...(score === null ? {} : { [primary]: printed[score] }),
    ...(metrics === null ? {} : { metrics: printed[metrics] }),
  }
}

function parseLoose(text: string): Record<string, unknown> {
  try {
    return object.parse(JSON.parse(text))
  } catch {
    return failUnreadable(text, JSON_EXAMPLE)
  }
}

function failUnreadable(text: string, example: string): never {
  throw toOutputError('the scorer did not print a result', getLastLine(text), example)
}

// Benchmark output

const ADAPTERS = {
  go: goTest,
  cargo: cargoBench,
  'pytest-benchmark': pytestBenchmark,
  hyperfine,
  vitest: vitestBench,
  'benchmark-js': benchmarkJs,
  mitata,
} as const satisfies Record<BenchmarkFormat, BenchmarkAdapter>

/** Large because pytest-benchmark writes every single timing. */
const MAX_BENCHMARK_BYTES = 64 * 2 ** 20

/** A tool's own output: $WINNOW_RESULT_PATH, else all of stdout. */
function readBenchmarks(files: OutputFiles, format: BenchmarkFormat): HarnessOutput {
  const adapter = ADAPTERS[format]
  const read = (path: string, what: string) =>
    getOutputText(readCapped(path, MAX_BENCHMARK_BYTES), what, adapter.example)
  const written = read(files.result, 'the result file')
  if (written === null) return parseBenchmarks(read(files.stdout, 'stdout') ?? '', adapter)
  const found = parseBenchmarks(written, adapter)
  const printed = readPrintedTable(files.stdout, adapter)
  if (printed !== null) refuseOtherBenchmarks(found, printed)
  return found
}

/** Most tools also print a table for people. One that is unreadable is no second result. */
function readPrintedTable(path: string, adapter: BenchmarkAdapter): HarnessOutput | null {
  const read = readCapped(path, MAX_BENCHMARK_BYTES)
  if (read.kind !== 'text') return null
  try {
    return parseBenchmarks(read.text, adapter)
  } catch (error) {
    if (error instanceof HarnessError) return null
    throw error
  }
}

/** Removes colours, CRLF line ends and a byte order mark. */
function parseBenchmarks(text: string, adapter: BenchmarkAdapter): HarnessOutput {
  const plain = toVisibleText(text)
  if (plain.trim() === '')
    throw toOutputError(`nothing was printed or written; use: ${adapter.hint}`, '', adapter.example)
  return computeBenchmarkMetrics(adapter.read(plain), adapter)
}

// Result channels

type StatedMetric = { name: string; value: MetricValue }

/**
 * A result written to $WINNOW_RESULT_PATH and printed to stdout must be equal in both: code under measurement
 * can overwrite the file after the harness has printed. Stdout that is only a log states no result.
 */
function refuseDisagreement(
  written: HarnessOutput,
  stdout: string,
  { lines, texts = NO_TEXTS }: { lines: 'only' | 'too'; texts?: ReadonlySet<string> },
): void {
  const object = lines === 'only' ? null : findJsonObject(stdout)
  const stated = [
    ...(object === null ? [] : collectStatedMetrics(object, texts)),
    ...collectMetricLines(stdout, texts),
  ]
  compareMetrics(written.metrics, stated)
  const items = written.items !== undefined && object !== null ? parseJudgedOutput(object) : undefined
  if (written.items !== undefined && items !== undefined) compareItems(written.items, items)
}

/**
 * METRIC lines count where stdout is not one JSON object. Code under measurement could print such a line beside the
 * object of the harness.
 */
function refuseOtherObject(
  printed: HarnessOutput,
  stdout: string,
  texts: ReadonlySet<string>,
): HarnessOutput {
  const object = findJsonObject(stdout)
  for (const { name, value } of object === null ? [] : collectStatedMetrics(object, texts)) {
    if (!Object.hasOwn(printed.metrics, name) || printed.metrics[name] === value) continue
    const [held, said] = [printed.metrics[name] ?? null, value].map(formatMetricValue)
    throw toOutputError(
      `a METRIC line says ${name} = ${held}, and a JSON object ${name} = ${said}: ${REPORT_ONCE}`,
      JSON.stringify({ [name]: value }),
      METRIC_EXAMPLE,
    )
  }
  return printed
}

function refuseOtherBenchmarks(written: HarnessOutput, printed: HarnessOutput): void {
  const stated = Object.entries(printed.metrics).map(([name, value]) => ({ name, value }))
  compareMetrics(written.metrics, stated)
}

function compareMetrics(written: MetricValues, stated: readonly StatedMetric[]): void {
  for (const { name, value } of stated) {
    if (!Object.hasOwn(written, name) || written[name] === value) continue
    const [held, said] = [written[name] ?? null, value].map(formatMetricValue)
    const printed = JSON.stringify({ [name]: value })
    throw toOutputError(
      `$WINNOW_RESULT_PATH holds ${name} = ${held}, and stdout says ${name} = ${said}: ${REPORT_ONCE}`,
      printed,
      printed,
    )
  }
}

const REPORT_ONCE = 'report it in one of them, or the same in both'

function compareItems(written: readonly Item[], printed: readonly Item[]): void {
  if (toSortedJson(written) === toSortedJson(printed)) return
  throw toOutputError(
    `$WINNOW_RESULT_PATH holds ${written.length} items, and stdout has other items (${printed.length}): report them in one of them, or the same in both`,
    '',
    '{"items": [{"id": "1", "content": "text"}]}',
  )
}

function toSortedJson(items: readonly unknown[]): string {
  return JSON.stringify(items.map(item => toCanonicalJson(item)).toSorted())
}

function formatMetricValue(value: MetricValue): string {
  return value === null ? 'no finite number' : String(value)
}

function collectStatedMetrics(object: Record<string, unknown>, texts: ReadonlySet<string>): StatedMetric[] {
  const { metrics } = object
  const inner = typeof metrics === 'object' && metrics !== null ? Object.entries(metrics) : []
  return [...Object.entries(object), ...inner].flatMap(([name, value]) => {
    if (typeof value === 'number') return [{ name, value: Number.isFinite(value) ? value : null }]
    if (typeof value === 'string') return texts.has(name) ? [{ name, value }] : []
    return typeof value === 'boolean' || value === null ? [{ name, value }] : []
  })
}

/** Lines that are no complete metric (with a unit, without a value) are part of a log. */
function collectMetricLines(text: string, texts: ReadonlySet<string>): StatedMetric[] {
  return text.split(/\r?\n/).flatMap(line => {
    const [, name, written] = METRIC_LINE.exec(line) ?? []
    const isText = name !== undefined && texts.has(name)
    const value =
      written === undefined ? undefined : (parseMetricValue(written) ?? (isText ? written : undefined))
    return name === undefined || value === undefined ? [] : [{ name, value }]
  })
}

// Metric lines

const METRIC_EXAMPLE = 'METRIC latency_ms=12.5'
const START = /^METRIC\s/
const METRIC_LINE = /^METRIC\s+([^\s=]+)\s*=\s*(\S+)\s*$/
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const NOT_FINITE = /^[-+]?(?:nan|inf|infinity)$/i

/** `METRIC name=value` lines between other output. Null if there are none. */
export function parseMetricLines(text: string, texts: ReadonlySet<string> = NO_TEXTS): HarnessOutput | null {
  const lines = text.split(/\r?\n/).filter(line => START.test(line))
  if (lines.length === 0) return null
  const metrics = new MetricCollector()
  for (const line of lines) {
    const [, name, value] = METRIC_LINE.exec(line) ?? []
    if (name === undefined || value === undefined) {
      throw toOutputError('a METRIC line that is not name=value', line, METRIC_EXAMPLE)
    }
    const read = texts.has(name) ? readAnswer(name, value, line) : requireMetricValue(value, line)
    metrics.add(name, read, line, METRIC_EXAMPLE)
  }
  return { metrics: metrics.all() }
}

function readAnswer(name: string, text: string, line: string): MetricValue {
  const value = parseMetricValue(text)
  return value === undefined ? checkText(name, text, line) : value
}

function requireMetricValue(text: string, line: string): MetricValue {
  const value = parseMetricValue(text)
  if (value === undefined)
    throw toOutputError(`${JSON.stringify(text)} is not a number`, line, METRIC_EXAMPLE)
  return value
}

/** Undefined if the text is neither a number nor a boolean. */
function parseMetricValue(text: string): MetricValue | undefined {
  if (NUMBER.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return NOT_FINITE.test(text) ? null : undefined
}
