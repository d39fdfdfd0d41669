import { describe, expect, test } from 'vitest'
import { drawTask, type StopRule } from '../../src/model/order.ts'
import type { Execution } from '../../src/model/report.ts'
import { explainForeignReport } from '../../src/plan/reports.ts'
import { laboratory } from './laboratory.ts'

/** Says about each task what its name asks for, in the way that the name asks for. */
const HARNESS = `
case "$WINNOW_TASK" in
  prints) echo '{"eval": 0.8, "critique": 0.6, "gate_rejections": 1, "budget_remaining_pct": 40, "status": "partial"}' ;;
  writes)
    printf '{"status":"complete","eval":{"score":0.8},"critique":{"score":1},"final_budget":{"budget_remaining_pct":100}}' > "$WINNOW_OUT_DIR/run_completion.json"
    printf '{"kind":"metric.gate","verdict":"rejected"}\\n' > "$WINNOW_OUT_DIR/metrics.jsonl" ;;
  nested)
    mkdir "$WINNOW_OUT_DIR/run-1"
    printf '{"status":"failed"}' > "$WINNOW_OUT_DIR/run-1/run_completion.json" ;;
  criticised|gives-up)
    run="$WINNOW_OUT_DIR/workspace/runs/run-1"
    mkdir -p "$run/iterations/001"
    printf '{"status":"partial","eval":{"score":1},"critique":{"score":0.5}}' > "$run/run_completion.json"
    printf '[{"worker_id":"w","defects":[{"category":"missing_data","description":"no source for the second fact","severity":"critical"}]}]' > "$run/iterations/001/critique.json"
    [ "$WINNOW_TASK" = criticised ] || exit 4 ;;
  crashes) echo oops >&2; exit 3 ;;
  hangs) sleep 1000 ;;
  told) printf '{"eval": %s, "critique": 1, "gate_rejections": 0, "budget_remaining_pct": 100, "status": "complete"}' "$1"
    [ "$WINNOW_TASK_TEXT/$WINNOW_TASK_MODEL/$WINNOW_TASK_BUDGET" = 'Say "it"./m1/{"max_loops":6}' ] ;;
  incomplete) echo '{"eval": 1, "status": "complete"}' ;;
esac
`
const PAIRS: StopRule = { rule: 'pairs', metrics: ['loss'], scale: 'linear', pairs: 1, by_task: true }

async function measureTasks(
  tasks: Record<string, unknown>[],
  missing = 'error',
  rest: Record<string, unknown> = {},
): Promise<Execution[]> {
  const lab = await laboratory()
  const suite = { tasks: tasks.map(({ name }) => String(name)), seeds: 1 }
  const experiment = {
    files: { 'bench.sh': HARNESS, 'src/value': '1\n' },
    candidates: { 'base-copy': {} },
    stop: { ...PAIRS, pairs: tasks.length },
    spec: {
      metric: {
        primary: { type: 'loss', name: 'loss', direction: 'minimize' },
        loss: { missing, max_rejections: 2 },
      },
      measurement: { suite: { tasks, seeds: 12 } },
      ...rest,
    },
    order: { suite },
  }
  const { order } = await lab.input(experiment)
  const report = await lab.measure(experiment)
  expect(explainForeignReport(order, report)).toBeNull()
  const base = report.executions.filter(({ side }) => side === 'base')
  expect(base.map(({ task }) => task)).toEqual(tasks.map((_, block) => drawTask(order, block)))
  return base
}

function find(runs: readonly Execution[], task: string): Execution {
  const found = runs.find(run => run.task === task)
  if (found === undefined) throw new Error(`${task} did not run`)
  return found
}

describe('a pass of a suite', () => {
  test('runs every task once on each side, and reads its loss where the task left it', async () => {
    const runs = await measureTasks([
      { name: 'prints', task: 't' },
      { name: 'writes', task: 't' },
      { name: 'told', args: ['0.5'], task: 'Say "it".', model: 'm1', budget: { max_loops: 6 } },
    ])
    expect(runs.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
    expect(find(runs, 'prints')).toMatchObject({
      tasks: { prints: expect.closeTo(0.355, 9) },
      metrics: {
        loss: expect.closeTo(0.355, 9),
        'loss.eval': expect.closeTo(0.08, 9),
        'loss.gate_rejections': expect.closeTo(0.075, 9),
      },
    })
    expect(find(runs, 'writes').metrics['loss']).toBeCloseTo(0.4 * 0.2 + 0.15 * 0.5, 9)
    expect(find(runs, 'told').metrics['loss']).toBeCloseTo(0.2, 9)
  })

  test('counts a run that failed as the worst, and the others as what they are', async () => {
    const runs = await measureTasks(
      [
        { name: 'prints', task: 't' },
        { name: 'nested', task: 't' },
        { name: 'crashes', task: 't' },
        { name: 'hangs', task: 't', timeout_seconds: 0.5 },
        { name: 'silent', task: 't' },
        { name: 'incomplete', task: 't' },
      ],
      'neutral',
    )
    expect(find(runs, 'nested').metrics['loss']).toBeCloseTo(1, 9)
    expect(find(runs, 'crashes')).toMatchObject({
      status: 'ok',
      exit_code: 3,
      error: 'ended with exit code 3',
      metrics: { loss: expect.closeTo(1, 9) },
      tasks: { crashes: expect.closeTo(1, 9) },
      output: { stderr: expect.stringContaining('oops') },
    })
    expect(find(runs, 'hangs')).toMatchObject({ error: 'ran longer than 0.5 s', status: 'ok' })
    expect(find(runs, 'silent').metrics['loss']).toBeCloseTo(1, 9)
    expect(find(runs, 'incomplete').metrics['loss']).toBeCloseTo(0.3 * 0.5 + 0.15 * 0.5 + 0.05 * 0.5, 9)
  })

  test('tells epochs what the critique of the run found, also where the run failed', async () => {
    const tasks = [
      { name: 'criticised', task: 't' },
      { name: 'gives-up', task: 't' },
    ]
    const runs = await measureTasks(tasks, 'neutral', { epochs: { count: 2 } })
    const found = 'critical missing_data: no source for the second fact'
    expect(find(runs, 'criticised').feedback).toEqual({ criticised: found })
    expect(find(runs, 'criticised').metrics['loss.critique']).toBeCloseTo(0.15, 9)
    expect(find(runs, 'gives-up')).toMatchObject({
      error: 'ended with exit code 4',
      metrics: { loss: expect.closeTo(1, 9) },
      feedback: { 'gives-up': found },
    })
    const [unread] = await measureTasks(tasks.slice(0, 1), 'neutral')
    expect(unread).not.toHaveProperty('feedback')
  })

  test('a missing component is an error, unless it counts as neutral', async () => {
    const runs = await measureTasks([{ name: 'incomplete', task: 't' }])
    expect(find(runs, 'incomplete')).toMatchObject({
      status: 'bad-output',
      error: expect.stringContaining('critique, gate_rejections, budget are missing'),
    })
  })
})

test('each task of one execution is a pair of its own', async () => {
  const lab = await laboratory()
  const report = await lab.measure({
    files: {
      'bench.sh':
        'echo \'{"score": 0.5, "tasks": {"a": 0.25, "b": 0.75}, "tasks_meta": {"a": {"direction": "max"}}}\'\n',
      'src/value': '1\n',
    },
    candidates: { 'base-copy': {} },
    stop: { rule: 'pairs', metrics: ['score'], scale: 'linear', pairs: 3, by_task: true },
    spec: {
      metric: { primary: { name: 'score', direction: 'maximize' } },
      measurement: { per_case: true },
    },
  })
  const samples = report.executions.filter(({ role, side }) => role === 'sample' && side === 'base')
  expect(samples).toHaveLength(2)
  expect(samples[0]).toMatchObject({
    tasks: { a: 0.25, b: 0.75 },
    tasks_meta: { a: { direction: 'maximize' } },
  })
})
