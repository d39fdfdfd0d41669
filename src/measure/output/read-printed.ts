import { BUILT_IN_METRICS } from '../../spec/built-in-metrics.ts'
import { isBenchmarkFormat } from '../../spec/benchmark-formats.ts'
import { isJudgedMetric } from '../../spec/judged.ts'
import type { Spec } from '../../spec/schema.ts'
import { explainAlmostResult } from './almost-result.ts'
import { readCapped } from './capped-file.ts'
import { ITEMS_EXAMPLE } from './items.ts'
import { parseMetricLines } from './metric-lines.ts'
import { type OutputFiles, getOutputText } from './output-text.ts'
import { toOutputError, NO_OUTPUT, type HarnessOutput } from './printed.ts'
import { readBenchmarks } from './read-benchmarks.ts'
import { refuseDisagreement } from './result-channels.ts'
import { JSON_EXAMPLE, parseResultObject } from './result-object.ts'

/** spec.md, "Output of a harness": the result file, else all of stdout, else metric lines, else nothing.
 * A file and a stdout that disagree are no result. */
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
  const meant = linesOnly ? null : explainAlmostResult(stdout, example)
  if (meant !== null) throw meant
  const are = needed.length === 1 ? 'is' : 'are'
  throw toOutputError(
    `${describeStdout(stdout)}, but ${needed.join(', ')} ${are} needed`,
    getLastLine(stdout),
    example,
  )
}

/** Beside a result file stdout may be a log of any size; what is too large to be a result states none. */
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

/** Everything a verdict asks for that winnow does not measure itself. */
export function listNeededMetrics({ metric }: Spec): string[] {
  const named = [
    ...(metric.primary.type === 'hard' ? [metric.primary.name] : []),
    ...metric.objectives.filter(objective => objective.role !== 'secondary').map(objective => objective.name),
    ...metric.degenerate_gates.map(gate => gate.name),
    ...metric.constraints.map(constraint => constraint.metric),
  ]
  return [...new Set(named)].filter(name => !BUILT_IN_METRICS.has(name))
}

export function getLastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
