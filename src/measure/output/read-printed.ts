import { HarnessError } from '../../errors.ts'
import { BUILT_IN_METRICS } from '../../spec/built-in-metrics.ts'
import type { Spec } from '../../spec/schema.ts'
import { type CappedText, readCapped } from './capped-file.ts'
import { METRIC_EXAMPLE, parseMetricLines } from './metric-lines.ts'
import { badOutput, NOTHING, type Printed } from './printed.ts'
import { JSON_EXAMPLE, parseResultObject } from './result-object.ts'

export interface OutputFiles {
  result: string
  stdout: string
}

/** spec.md, "Output of a harness": the result file, else all of stdout, else metric lines, else nothing. */
export function readPrinted(files: OutputFiles, spec: Spec): Printed {
  const written = textOf(readCapped(files.result), 'the result file')
  if (written !== null) return resultFile(written)
  const stdout = textOf(readCapped(files.stdout), 'stdout') ?? ''
  const linesOnly = spec.measurement.output === 'metric-lines'
  const printed = (linesOnly ? null : parseResultObject(stdout)) ?? parseMetricLines(stdout)
  if (printed !== null) return printed
  const needed = neededMetrics(spec)
  if (needed.length === 0) return NOTHING
  const example = linesOnly ? METRIC_EXAMPLE : JSON_EXAMPLE
  throw badOutput(`${whatWasPrinted(stdout)}, but ${needed.join(', ')} is needed`, lastLine(stdout), example)
}

function whatWasPrinted(stdout: string): string {
  return stdout.trim() === '' ? 'nothing was printed' : 'what was printed is no result'
}

function resultFile(text: string): Printed {
  const printed = parseResultObject(text)
  if (printed !== null) return printed
  throw badOutput('$WINNOW_RESULT_PATH does not hold one JSON object', lastLine(text), JSON_EXAMPLE)
}

export function textOf(read: CappedText, what: string): string | null {
  if (read.kind === 'missing') return null
  if (read.kind === 'text') return read.text
  throw new HarnessError(`${what} is too large to be a result: ${read.bytes} bytes`, {
    example: JSON_EXAMPLE,
  })
}

/** Everything a verdict asks for that winnow does not measure itself. */
export function neededMetrics({ metric }: Spec): string[] {
  const named = [
    ...(metric.primary.type === 'hard' ? [metric.primary.name] : []),
    ...metric.objectives.filter(objective => objective.role !== 'secondary').map(objective => objective.name),
    ...metric.degenerate_gates.map(gate => gate.name),
    ...metric.constraints.map(constraint => constraint.metric),
  ]
  return [...new Set(named)].filter(name => !BUILT_IN_METRICS.has(name))
}

export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
