import { printedOrder } from '../../src/judge/judging-task.ts'
import type { Order } from '../../src/model/order.ts'
import type { Execution, Report } from '../../src/model/report.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { MACHINE } from '../model/a-machine.ts'
import { anOrder } from '../model/an-order.ts'

const SPEC = `winnow: 1
metric:
  primary: { type: judge, name: quality, direction: maximize }
  degenerate_gates: [{ name: answers, check: '>= 4' }]
  judge:
    rubric: Score 1 to 5.
    scoring: { primary: quality, secondary: [length] }
    sample_size: 4
    confirmation_seed: 7
measurement: { command: x }
scope: { mutable: [src/] }
`

export const { spec } = parseSpec(SPEC, { file: '.winnow/a.yaml' })
/** The same with epochs, and a sample of 40 items. */
export const { spec: learningSpec } = parseSpec(
  `${SPEC.replace('sample_size: 4', 'sample_size: 40')}epochs: { count: 1 }\n`,
  { file: '.winnow/a.yaml' },
)

export function order(changes: Partial<Order> = {}): Order {
  return anOrder({ stop: { rule: 'pairs', metrics: ['quality'], scale: 'linear', pairs: 4 }, ...changes })
}

export function run(side: Execution['side'], changes: Partial<Execution> = {}): Execution {
  const numbers = { build: 0, seed: 1, exit_code: 0, signal: null, wall_seconds: 4 }
  return { side, role: 'sample', status: 'ok', ...numbers, metrics: { answers: 4 }, ...changes }
}

export function printed(base: number, candidate: number, changes: Partial<Report> = {}) {
  const items = (count: number, word: string) =>
    Array.from({ length: count }, (_, at) => ({ id: `q${at}`, bucket: null, content: `${word} ${at}` }))
  const report: Report = {
    order: 'a'.repeat(64),
    run_id: 'run-1',
    started_at: '2026-01-01T00:00:00Z',
    finished_at: '2026-01-01T00:00:09Z',
    harness: 'c'.repeat(64),
    trees: { base: '3'.repeat(40), 'exp-001': '4'.repeat(40) },
    machine: MACHINE,
    flags: [],
    setups: [],
    gates: [],
    executions: [run('base'), run('exp-001')],
    tampered: null,
    runner_error: null,
    ...changes,
  }
  return printedOrder.parse({
    report,
    items: { base: items(base, 'old'), 'exp-001': items(candidate, 'new') },
  })
}
