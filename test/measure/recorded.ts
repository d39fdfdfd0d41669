import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HarnessError } from '../../src/errors.ts'
import type { HarnessOutput } from '../../src/measure/output/harness-output.ts'
import { readHarnessOutput } from '../../src/measure/output/read-output.ts'
import type { BenchmarkFormat } from '../../src/spec/schema-values.ts'
import { aSpec } from '../decide/a-spec.ts'
import { scratch } from './scratch.ts'

export const RECORDED = join(import.meta.dirname, '../../fixtures/benchmarks')

export function recording(name: string): string {
  return readFileSync(join(RECORDED, name), 'utf8')
}

/** The metrics in an output, as a harness leaves it: on stdout, or where $WINNOW_RESULT_PATH points. */
export function metricsIn(
  output: BenchmarkFormat,
  text: string,
  at: 'stdout' | 'result' = 'stdout',
): HarnessOutput['metrics'] {
  const dir = scratch()
  const paths = { result: join(dir, 'result.json'), stdout: join(dir, 'stdout') }
  writeFileSync(paths[at], text)
  return readHarnessOutput(paths, aSpec({ measurement: { output } })).metrics
}

/** What a person is told of an output that is no result. */
export function refusalOf(output: BenchmarkFormat, text: string): HarnessError {
  try {
    metricsIn(output, text)
  } catch (error) {
    if (error instanceof HarnessError) return error
    throw error
  }
  throw new Error('it was read as a result')
}
