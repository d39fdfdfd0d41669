import { describe, expect, test } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { laboratory } from './laboratory.ts'

const TESTS = { name: 'tests', command: 'sh src/lib; [ -s src/exit ] && exit 0; cat report' }
const FILES = { 'bench.sh': 'echo "{\\"bytes\\": $(cat src/value)}"\n', 'src/value': '100\n', 'src/lib': '' }
const RAN_ALL = '# pass 133\n'

/** Measures and judges a candidate whose gate prints `report`, with `changes` of its own. */
async function judge(report: string, changes: Record<string, string>, gates = [TESTS]) {
  const lab = await laboratory()
  const experiment = {
    files: { ...FILES, report },
    candidates: { 'exp-001': changes },
    spec: { gates },
  }
  const input = await lab.input(experiment)
  const measured = await lab.measure(experiment)
  const { spec, order } = input
  const verdict = assessCandidate({ spec, order, report: measured, label: 'exp-001', baseline: null })
  return { verdict, gates: measured.gates.map(({ side, name }) => `${side} ${name}`) }
}

const FASTER = { 'src/value': '50\n' }
const EXITS = { ...FASTER, 'src/exit': 'yes\n' }

describe('a gate that passes because it ended early', () => {
  test('is broken where a test runner counts', async () => {
    const { verdict } = await judge(RAN_ALL, EXITS)
    expect(verdict).toMatchObject({ outcome: 'degenerate', violated_objectives: ['tests'] })
    expect(verdict.reason).toContain("gate tests succeeded, but only 0 of the base's 133 tests passed")
  })

  test('is broken where it prints nothing, or too little', async () => {
    const lines = Array.from({ length: 133 }, (_, at) => `checked part ${at}`).join('\n')
    expect((await judge(`${lines}\n`, EXITS)).verdict.reason).toContain(
      'gate tests succeeded, but printed only 0 of the 133 lines that the base prints',
    )
    const most = 'head -c 1500 report; [ -s src/exit ] && exit 0; tail -c +1501 report'
    const { verdict } = await judge(`${lines}\nall 133 parts hold\n`, EXITS, [
      { name: 'tests', command: most },
    ])
    expect(verdict.reason).toContain(
      'gate tests succeeded, but did not print the base\'s last line: "all # parts hold" (# stands for any number)',
    )
  })

  test('is not held against an idea whose base varies as well', async () => {
    const command = 'echo start; date +%N | tr 0-9 a-j'
    const { verdict, gates } = await judge('', FASTER, [{ name: 'random', command }])
    expect(verdict.outcome).toBe('eligible')
    expect(gates).toEqual(['exp-001 random', 'base random', 'base random'])
  })
})

describe('the base runs the gates', () => {
  test('once where the candidate would be kept and printed as much', async () => {
    const { verdict, gates } = await judge(RAN_ALL, FASTER)
    expect([verdict.outcome, gates]).toEqual(['eligible', ['exp-001 tests', 'base tests']])
  })

  test('not at all for a candidate that is not kept', async () => {
    const { gates } = await judge(RAN_ALL, { 'src/value': '150\n' })
    expect(gates).toEqual(['exp-001 tests'])
  })
})
