import { z } from 'zod'
import type { Spec } from '../../spec/schema.ts'
import { readCapped } from './capped-file.ts'
import { duplicateKey } from './duplicate-key.ts'
import { METRIC_EXAMPLE, parseMetricLines } from './metric-lines.ts'
import { textOf } from './output-text.ts'
import { badOutput, type Printed } from './printed.ts'
import { lastLine } from './read-printed.ts'
import { JSON_EXAMPLE, parseResultObject } from './result-object.ts'

type Score = NonNullable<Spec['measurement']['score']>
const object = z.record(z.string(), z.unknown())

/** What the scorer printed. `score_field` and `metrics_field` name where a scorer of its own format keeps them. */
export function readScore(stdout: string, { parse }: Score, primary: string): Printed {
  const text = textOf(readCapped(stdout), "the scorer's output", JSON_EXAMPLE) ?? ''
  if (parse.format === 'metric-lines') return parseMetricLines(text) ?? unreadable(text, METRIC_EXAMPLE)
  if (parse.score_field === null && parse.metrics_field === null) {
    return parseResultObject(text) ?? unreadable(text, JSON_EXAMPLE)
  }
  return (
    parseResultObject(JSON.stringify(chosenFields(text, parse, primary))) ?? unreadable(text, JSON_EXAMPLE)
  )
}

function chosenFields(text: string, parse: Score['parse'], primary: string): Record<string, unknown> {
  const printed = parseLoose(text)
  const twice = duplicateKey(text)
  if (twice !== null) throw badOutput(`"${twice}" is given twice`, lastLine(text), JSON_EXAMPLE)
  const { score_field: score, metrics_field: metrics } = parse
  for (const field of [score, metrics]) {
    if (field === null || Object.hasOwn(printed, field)) continue
    throw badOutput(`the scorer did not print "${field}"`, lastLine(text), JSON.stringify({ [field]: 0.93 }))
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
    return unreadable(text, JSON_EXAMPLE)
  }
}

function unreadable(text: string, example: string): never {
  throw badOutput('the scorer did not print a result', lastLine(text), example)
}
