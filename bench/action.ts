import { spawnSync } from 'node:child_process'
import { row } from './table.ts'

const BUDGET_MS = 250
const TIMES = 15

/** From the start of the process to where its own work begins: until what it was asked for is known, or refused. */
export function actionStart(): void {
  for (const [what, ...argv] of [
    ['node alone', '-e', ''],
    ['action', bundle('action')],
    ['measure', bundle('measure')],
  ]) {
    const took = milliseconds(argv)
    row(`start of ${what} (budget ${BUDGET_MS} ms)`, `${took.toFixed(0)} ms`, took / BUDGET_MS, 1)
  }
}

/** Seen from bench/out, where this is built to. */
function bundle(entry: string): string {
  return new URL(`../../dist/${entry}.js`, import.meta.url).pathname
}

function milliseconds(argv: string[]): number {
  const env = { PATH: process.env['PATH'] ?? '' }
  const took = Array.from({ length: TIMES }, () => {
    const began = performance.now()
    spawnSync(process.execPath, argv, { env })
    return performance.now() - began
  })
  return took.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)] ?? NaN
}
