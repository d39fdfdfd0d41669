import { z } from 'zod'
import { HarnessError } from '../../errors.ts'
import { toPrintable } from '../../model/text.ts'
import type { Spec } from '../../spec/schema.ts'
import { type BenchmarkFormat, BUILT_IN_METRICS, isBenchmarkFormat } from '../../spec/schema-values.ts'
import { isJudgedMetric } from '../../spec/spec-facts.ts'
import { type BenchmarkAdapter, computeBenchmarkMetrics } from './benchmarks.ts'
import { getOutputText, type OutputFiles, readCapped } from './capped-file.ts'
import { goTest } from './go-benchmarks.ts'
import { type HarnessOutput, ITEMS_EXAMPLE, NO_OUTPUT, toOutputError } from './harness-output.ts'
import { hyperfine, pytestBenchmark, vitestBench } from './json-benchmarks.ts'
import {
  METRIC_EXAMPLE,
  parseMetricLines,
  refuseDisagreement,
  refuseOtherBenchmarks,
} from './result-channels.ts'
import { explainAlmostResult, findDuplicateKey, JSON_EXAMPLE, parseResultObject } from './result-object.ts'
import { benchmarkJs, cargoBench, mitata } from './text-benchmarks.ts'

/**
 * spec.md, "Output of a harness": the result file, else all of stdout, else metric lines, else nothing. A
 * result file and stdout that disagree are an error.
 */
export function readHarnessOutput(files: OutputFiles, spec: Spec): HarnessOutput {
  const judged = isJudgedMetric(spec)
  const printed = readOutputChannels(files, spec, judged)
  if (!judged || printed.items !== undefined) return printed
  throw toOutputError('no items are printed, and a judge scores items', '', ITEMS_EXAMPLE)
}

function readOutputChannels(files: OutputFiles, spec: Spec, judged: boolean): HarnessOutput {
  const { output } = spec.measurement
  if (isBenchmarkFormat(output)) return readBenchmarks(files, output)
  const written = getOutputText(readCapped(files.result), 'the result file', JSON_EXAMPLE)
  if (written !== null) {
    const printed = parseResultFile(written, judged)
    refuseDisagreement(printed, readLog(files.stdout), { lines: output === 'metric-lines' ? 'only' : 'too' })
    return printed
  }
  const stdout = getOutputText(readCapped(files.stdout), 'stdout', JSON_EXAMPLE) ?? ''
  const linesOnly = output === 'metric-lines'
  const printed = (linesOnly ? null : parseResultObject(stdout, { judged })) ?? parseMetricLines(stdout)
  if (printed !== null) return printed
  const needed = listNeededMetrics(spec)
  if (needed.length === 0) return NO_OUTPUT
  const example = linesOnly
    ? needed.map(name => `METRIC ${name}=12.5`).join('\n')
    : JSON.stringify(Object.fromEntries(needed.map(name => [name, 12.5])))
  const attempt = linesOnly ? null : explainAlmostResult(stdout, example)
  if (attempt !== null) throw attempt
  const are = needed.length === 1 ? 'is' : 'are'
  throw toOutputError(
    `${describeStdout(stdout)}, but ${needed.join(', ')} ${are} needed`,
    getLastLine(stdout),
    example,
  )
}

/** Next to a result file, stdout may be a log of any size. Ignores one that is too large to be a result. */
function readLog(path: string): string {
  const read = readCapped(path)
  return read.kind === 'text' ? read.text : ''
}

function describeStdout(stdout: string): string {
  return stdout.trim() === '' ? 'nothing was printed to stdout' : 'what was printed is no result'
}

function parseResultFile(text: string, judged: boolean): HarnessOutput {
  const printed = parseResultObject(text, { judged })
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

/**
 * Reads the scorer's output. `score_field` and `metrics_field` name the fields of a scorer with its own
 * format.
 */
export function readScore(stdout: string, { parse }: ScoreReadingSpec, primary: string): HarnessOutput {
  const text = getOutputText(readCapped(stdout), "the scorer's output", JSON_EXAMPLE) ?? ''
  if (parse.format === 'metric-lines') return parseMetricLines(text) ?? failUnreadable(text, METRIC_EXAMPLE)
  if (parse.score_field === null && parse.metrics_field === null) {
    return parseResultObject(text) ?? failUnreadable(text, JSON_EXAMPLE)
  }
  return (
    parseResultObject(JSON.stringify(selectScoreFields(text, parse, primary))) ??
    failUnreadable(text, JSON_EXAMPLE)
  )
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
    throw toOutputError(
      `the scorer did not print "${field}"`,
      getLastLine(text),
      JSON.stringify({ [field]: 0.93 }),
    )
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
  const written = getOutputText(
    readCapped(files.result, MAX_BENCHMARK_BYTES),
    'the result file',
    adapter.example,
  )
  if (written === null)
    return parseBenchmarks(
      getOutputText(readCapped(files.stdout, MAX_BENCHMARK_BYTES), 'stdout', adapter.example) ?? '',
      adapter,
    )
  const found = parseBenchmarks(written, adapter)
  const printed = readPrintedTable(files.stdout, adapter)
  if (printed !== null) refuseOtherBenchmarks(found, printed)
  return found
}

/**
 * Most tools also print a table for people while they write their file. An unreadable table is no second
 * result.
 */
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
  const plain = toPrintable(text)
  if (plain.trim() === '')
    throw toOutputError(`nothing was printed or written; use: ${adapter.hint}`, '', adapter.example)
  return computeBenchmarkMetrics(adapter.read(plain), adapter)
}
