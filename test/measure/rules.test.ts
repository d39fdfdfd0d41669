import { describe, expect, test } from 'vitest'
import type { StopRule } from '../../src/model/order.ts'
import { laboratory } from './laboratory.ts'

describe('calibration', () => {
  test('runs the base alone, with another seed each time, in two builds', async () => {
    const lab = await laboratory()
    const files = { 'bench.sh': 'echo "{\\"bytes\\": $WINNOW_SEED}"\n', 'src/value': '1\n' }
    const spec = { measurement: { setup: 'test ! -e built && touch built' } }
    const report = await lab.measure({ files, spec, stop: { rule: 'calibrate', runs: 3 } })
    expect(report.executions.map(run => [run.side, run.build])).toEqual([
      ['base', 0],
      ['base', 0],
      ['base', 1],
    ])
    expect(report.setups.map(run => [run.build, run.ok])).toEqual([
      [0, true],
      [1, true],
    ])
    const seeds = report.executions.map(run => run.seed)
    expect(new Set(seeds).size).toBe(3)
    expect(report.executions.map(run => run.metrics['bytes'])).toEqual(seeds)
  })

  test('ends with the second run that fails: every run does, or some do', async () => {
    const lab = await laboratory()
    const files = { 'bench.sh': 'exit 2\n', 'src/value': '1\n' }
    const report = await lab.measure({ files, stop: { rule: 'calibrate', runs: 3 } })
    const failed = { status: 'crashed', exit_code: 2 }
    expect(report.executions).toMatchObject([failed, failed])
  })
})

describe('a side alone', () => {
  test('is the candidate where there is one; the base is not even laid out', async () => {
    const lab = await laboratory()
    const report = await lab.measure({
      candidates: { sync: { 'src/value': '90\n' } },
      stop: { rule: 'alone' },
    })
    expect(report.executions.map(run => run.side)).toEqual(['sync'])
    expect(Object.keys(report.trees)).toEqual(['sync'])
  })

  test('is the base otherwise, with as many samples as the mode needs to believe', async () => {
    const lab = await laboratory()
    const stability = { mode: 'repeat', repeat_count: 3 }
    const report = await lab.measure({
      rules: 'ce',
      spec: { measurement: { stability } },
      stop: { rule: 'alone' },
    })
    expect(report.executions.map(run => [run.side, run.role])).toEqual(Array(3).fill(['base', 'sample']))
  })
})

describe('the rules of ce', () => {
  const stored = { metrics: { bytes: { aggregate: 100, samples: [100] } }, sample_count: 1 }
  const measured = async (
    value: string,
    stability: Record<string, unknown>,
    baseline: object | null = stored,
  ) => {
    const lab = await laboratory()
    const stop: StopRule = { rule: 'stability', baseline }
    const candidates = { 'exp-001': { 'src/value': `${value}\n` } }
    return lab.measure({ rules: 'ce', spec: { measurement: { stability } }, candidates, stop })
  }
  const ladder = (rest: Record<string, unknown> = {}) => ({
    mode: 'ladder',
    ladder: { exploratory_pairs: 1, confirmation_repeats: 3, ...rest },
  })

  test('stable takes one sample of the candidate and none of a stored base', async () => {
    const report = await measured('90', { mode: 'stable' })
    expect(report.executions.map(run => run.side)).toEqual(['exp-001'])
  })

  test('repeat takes repeat_count', async () => {
    const report = await measured('90', { mode: 'repeat', repeat_count: 4 })
    expect(report.executions).toHaveLength(4)
  })

  test('without a stored base both sides are measured alike', async () => {
    const report = await measured('90', { mode: 'repeat', repeat_count: 2 }, null)
    expect(report.executions.map(run => run.side).toSorted()).toEqual(['base', 'base', 'exp-001', 'exp-001'])
  })

  test('a ladder stops at the first rung for what is worse', async () => {
    expect((await measured('150', ladder())).executions).toHaveLength(1)
  })

  test('a ladder confirms what seems better', async () => {
    expect((await measured('50', ladder())).executions).toHaveLength(3)
  })

  test('a ladder adds one sample to what is undecided', async () => {
    expect((await measured('100', ladder())).executions).toHaveLength(2)
  })

  test('the smoke command comes first, and ends what fails it', async () => {
    const report = await measured('50', ladder({ smoke_command: 'grep -q 60 src/value' }))
    expect(report.executions).toMatchObject([{ role: 'smoke', status: 'smoke-failed' }])
  })

  test('what passes it climbs on', async () => {
    const report = await measured('50', ladder({ smoke_command: 'grep -q 50 src/value' }))
    expect(report.executions.map(run => run.role)).toEqual(['smoke', 'sample', 'sample', 'sample'])
  })
})
