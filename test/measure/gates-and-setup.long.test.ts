import { readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { laboratory } from './laboratory.ts'

const slower = { 'exp-001': { 'src/value': '110\n' } }
const two = { ...slower, 'exp-002': { 'src/value': '120\n' } }

describe('a command gate', () => {
  test('before timing, in a throw-away copy of the candidate with its set-up outputs', async () => {
    const lab = await laboratory()
    const report = await lab.measure({
      candidates: slower,
      spec: {
        measurement: { setup: 'echo ready > built' },
        gates: [
          {
            name: 'tests',
            command: 'grep -q ready built && grep -q 110 src/value && echo spoilt > src/value',
          },
        ],
      },
    })
    expect(report.gates).toMatchObject([
      { side: 'exp-001', name: 'tests', phase: 'pre', passed: true, exit_code: 0 },
    ])
    expect(report.executions.find(run => run.side === 'exp-001')?.metrics['bytes']).toBe(110)
    expect(report.tampered).toBeNull()
  })

  test('says how many tests passed, where its test runner does', async () => {
    const lab = await laboratory()
    const gates = [
      {
        name: 'tests',
        command: "printf '\\033[32mTests:\\033[0m       2 skipped, 131 passed, 133 total\\n'",
      },
      { name: 'types', command: 'true' },
    ]
    const report = await lab.measure({ candidates: slower, spec: { gates } })
    expect(report.gates.map(gate => gate.tests_passed)).toEqual([131, undefined])
  })

  test('that fails ends its candidate before any timing, and no other', async () => {
    const lab = await laboratory()
    const gates = [{ name: 'tests', command: 'echo broken >&2; ! grep -q 110 src/value' }]
    const report = await lab.measure({ candidates: two, spec: { gates } })
    expect(report.gates.find(gate => gate.side === 'exp-001')).toMatchObject({
      passed: false,
      output: { failing: [], stdout: '', stderr: 'broken' },
    })
    expect(report.executions.map(run => run.side).toSorted()).toEqual(['base', 'exp-002'])
  })

  test('that fails is run on the base too, and no other gate is', async () => {
    const lab = await laboratory()
    const gates = [
      { name: 'types', command: 'true' },
      { name: 'tests', command: '! grep -q 110 src/value' },
    ]
    const report = await lab.measure({ candidates: slower, spec: { gates } })
    expect(report.gates.map(({ side, name, passed }) => [side, name, passed])).toEqual([
      ['exp-001', 'types', true],
      ['exp-001', 'tests', false],
      ['base', 'tests', true],
    ])
  })

  test('that fails everywhere leaves nothing to measure', async () => {
    const lab = await laboratory()
    const report = await lab.measure({
      candidates: two,
      spec: { gates: [{ name: 'tests', command: 'false' }] },
    })
    expect(report.executions).toEqual([])
  })

  test('after timing runs last', async () => {
    const lab = await laboratory()
    const gates = [{ name: 'lint', command: 'exit 3', phase: 'post' }]
    const report = await lab.measure({ candidates: slower, spec: { gates } })
    expect(report.executions).toHaveLength(2)
    expect(report.gates).toMatchObject([
      { side: 'exp-001', phase: 'post', passed: false, exit_code: 3 },
      { side: 'base', phase: 'post', passed: false, exit_code: 3 },
    ])
  })

  test('has its own time limit', async () => {
    const lab = await laboratory()
    const gates = [{ name: 'tests', command: 'sleep 60', timeout_seconds: 0.1 }]
    const report = await lab.measure({ candidates: slower, spec: { gates } })
    expect(report.gates[0]).toMatchObject({ side: 'exp-001', passed: false, timed_out: true })
  })

  test('is asked of the base where the base is what is measured', async () => {
    const lab = await laboratory()
    const gates = [{ name: 'tests', command: 'true' }]
    const report = await lab.measure({ spec: { gates }, stop: { rule: 'calibrate', runs: 2 } })
    expect(report.gates.map(gate => gate.side)).toEqual(['base'])
  })
})

describe('the set-up', () => {
  const counting = {
    measurement: { setup: 'echo x >> built; echo side', command: 'echo "{\\"bytes\\": $(wc -l < built)}"' },
  }

  test('starts from the tree alone in every order', async () => {
    const lab = await laboratory()
    for (const _ of [1, 2]) {
      const report = await lab.measure({ candidates: slower, spec: counting })
      expect(report.setups.map(run => run.side).toSorted()).toEqual(['base', 'exp-001'])
      expect(report.executions.map(run => run.metrics['bytes'])).toEqual([1, 1])
    }
  })

  test('with scope once is kept while command and tree are the same', async () => {
    const lab = await laboratory()
    const spec = { measurement: { ...counting.measurement, setup_scope: 'once' } }
    expect((await lab.measure({ candidates: slower, spec })).setups).toHaveLength(2)
    expect((await lab.measure({ candidates: slower, spec })).setups).toHaveLength(0)
    const other = await lab.measure({ candidates: { 'exp-001': { 'src/value': '90\n' } }, spec })
    expect(other.setups.map(run => run.side)).toEqual(['exp-001'])
    expect(other.executions.every(run => run.metrics['bytes'] === 1)).toBe(true)
  })

  test('that fails ends its candidate', async () => {
    const lab = await laboratory()
    const spec = { measurement: { setup: 'echo no compiler >&2; ! grep -q 110 src/value' } }
    const report = await lab.measure({ candidates: two, spec })
    expect(report.setups.find(run => run.side === 'exp-001')).toMatchObject({
      ok: false,
      output: { failing: [], stdout: '', stderr: 'no compiler' },
    })
    expect(report.executions.some(run => run.side === 'exp-001')).toBe(false)
    expect(report.executions.some(run => run.side === 'exp-002')).toBe(true)
  })

  test('that fails for the base leaves nothing to compare with', async () => {
    const lab = await laboratory()
    const report = await lab.measure({
      candidates: slower,
      spec: { measurement: { setup: '! grep -q 100 src/value' } },
    })
    expect(report.executions).toEqual([])
  })
})

describe('the directories of the sides', () => {
  test('are used again: a tree that is there already is not laid out anew', async () => {
    const lab = await laboratory()
    for (const value of ['90', '80', '70']) {
      const report = await lab.measure({ candidates: { 'exp-001': { 'src/value': `${value}\n` } } })
      expect(report.executions.find(run => run.side === 'exp-001')?.metrics['bytes']).toBe(Number(value))
      expect(report.executions.find(run => run.side === 'base')?.metrics['bytes']).toBe(100)
    }
    expect(readdirSync(`${lab.workDir}/slots`)).toEqual(['1', '2'])
  })

  test('one that was changed in between is laid out anew', async () => {
    const lab = await laboratory()
    await lab.measure({ candidates: slower })
    for (const slot of ['1', '2']) writeFileSync(`${lab.workDir}/slots/${slot}/tree/src/value`, '1\n')
    const report = await lab.measure({ candidates: slower })
    expect(new Set(report.executions.map(run => run.metrics['bytes']))).toEqual(new Set([100, 110]))
  })

  test('untracked files of an earlier order are gone', async () => {
    const lab = await laboratory()
    const files = {
      'bench.sh': 'ls | grep -c . | sed "s/.*/{\\"bytes\\": &}/"; echo > left\n',
      'src/value': '100\n',
    }
    const first = await lab.measure({ files, candidates: slower })
    const second = await lab.measure({ files, candidates: slower })
    expect(second.executions.map(run => run.metrics['bytes'])).toEqual(
      first.executions.map(run => run.metrics['bytes']),
    )
  })
})
