import { describe, expect, it } from 'vitest'
import { runDryRun } from '../../src/measure/isolation/dry-run.ts'
import type { Item } from '../../src/measure/output/harness-output.ts'
import type { StopRule } from '../../src/model/order.ts'
import { laboratory } from './laboratory.ts'

const METRIC = {
  primary: { type: 'judge', name: 'quality', direction: 'maximize' },
  degenerate_gates: [{ name: 'answers', check: '>= 1' }],
  judge: { rubric: 'Score 1 to 5.', scoring: { primary: 'quality' } },
}
const STOP: StopRule = { rule: 'pairs', metrics: ['quality'], scale: 'linear', pairs: 10 }
const FILES = {
  'bench.sh': 'cat src/out\n',
  'src/out': '{"answers": 1, "items": [{"id": "a", "content": "old"}]}\n',
}
const NEW = { 'src/out': '{"answers": 1, "items": [{"id": "a", "content": {"n": 1}}]}\n' }

function asking(out: Record<string, string> = NEW) {
  const printed: Record<string, readonly Item[]> = {}
  return {
    printed,
    files: FILES,
    candidates: { 'exp-001': out },
    spec: { metric: METRIC },
    stop: STOP,
    input: { onItems: (side: string, items: readonly Item[]) => void (printed[side] = items) },
  }
}

describe('items for a judge', () => {
  it('are printed once by each side, and passed beside the report', async () => {
    const experiment = asking()
    const { executions } = await (await laboratory()).measure(experiment)
    expect(executions.map(({ role, status }) => [role, status])).toEqual([
      ['sample', 'ok'],
      ['sample', 'ok'],
    ])
    expect(experiment.printed).toEqual({
      base: [{ id: 'a', bucket: null, content: 'old' }],
      'exp-001': [{ id: 'a', bucket: null, content: '{"n":1}' }],
    })
    expect(JSON.stringify(executions)).not.toContain('old')
  })

  it.each([
    ['{"answers": 1}', 'no items are printed, and a judge scores items'],
    ['{"answers": 1, "items": [{"id": "a"}]}', '"items.0.content"'],
    [
      '{"answers": 1, "items": [{"id": "a", "content": 1}, {"id": "a", "content": 2}]}',
      'has the id "a" twice',
    ],
  ])('is an error of the harness where it is %s', async (out, error) => {
    const { executions } = await (await laboratory()).measure(asking({ 'src/out': `${out}\n` }))
    expect(executions.find(({ side }) => side === 'exp-001')).toMatchObject({
      status: 'bad-output',
      error: expect.stringContaining(error),
    })
  })

  it('are printed in a dry run, which asks no judge', async () => {
    const { input, ...experiment } = asking()
    const lab = await laboratory()
    const dry = await lab.input({ ...experiment, input: { ...input, onItems: () => expect.fail('asked') } })
    expect(await runDryRun(dry)).toBeNull()
  })

  it('are printed by a scorer where the spec has one, with singletons and summaries', async () => {
    const scored = asking({ 'src/out': 'new\n' })
    const printed =
      '{"answers": 1, "items": [{"id": "a", "content": "%s"}], "singletons": [{"id": "s", "content": "t"}], "summaries": ["u"]}'
    const { executions } = await (await laboratory()).measure({
      ...scored,
      files: {
        ...FILES,
        'bench.sh': 'cp src/out "$WINNOW_OUT_DIR/answer"\n',
        'score.sh': `printf '${printed}' "$(cat "$WINNOW_OUT_DIR/answer")"\n`,
        'src/out': 'old\n',
      },
      spec: { metric: METRIC, measurement: { command: 'sh bench.sh', score: { command: 'sh score.sh' } } },
    })
    expect(executions.map(({ status, error }) => error ?? status)).toEqual(['ok', 'ok'])
    expect(scored.printed['exp-001']).toEqual([
      { id: 'a', bucket: null, content: 'new' },
      { id: 's', bucket: null, content: 't', kind: 'singleton' },
      { id: 'summaries', bucket: null, content: '["u"]', kind: 'summary' },
    ])
    expect(executions[0]?.metrics).toMatchObject({ answers: 1 })
  })

  it('are refused if no model scores them', async () => {
    const { input: _, ...experiment } = asking()
    await expect((await laboratory()).measure(experiment)).rejects.toThrow(
      'this runner has no model to score',
    )
  })
})
