import { z } from 'zod'
import type { Spec } from '../../spec/schema.ts'
import { readCapped } from './capped-file.ts'
import { findDuplicateKey } from './duplicate-key.ts'
import { METRIC_EXAMPLE, parseMetricLines } from './metric-lines.ts'
import { getOutputText } from './output-text.ts'
import { toOutputError, type HarnessOutput } from './printed.ts'
import { getLastLine } from './read-printed.ts'
import { JSON_EXAMPLE, parseResultObject } from './result-object.ts'

type ScoreReadingSpec = NonNullable<Spec['measurement']['score']>
const object = z.record(z.string(), z.unknown())

/** What the scorer printed. `score_field` and `metrics_field` name where a scorer of its own format keeps them. */
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
