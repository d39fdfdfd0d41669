import { expect, test } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { laboratory } from './laboratory.ts'

/** The code under test prints a line for each part, and may end the harness before the rest. */
const FILES = {
  'bench.sh':
    '. src/lib.sh\necho "{\\"bytes\\": $(cat src/value), \\"parts\\": 20}" > "$WINNOW_RESULT_PATH"\n',
  'src/lib.sh': 'for part in $(seq 20); do echo "part $part"; done\n',
  'src/value': '100\n',
}

async function judge(changes: Record<string, string>) {
  const lab = await laboratory()
  const experiment = {
    files: FILES,
    candidates: { 'exp-001': { 'src/value': '50\n', ...changes } },
    spec: { measurement: { command: 'sh bench.sh' } },
  }
  const { spec, order } = await lab.input(experiment)
  const report = await lab.measure(experiment)
  return assessCandidate({ spec, order, report, label: 'exp-001', baseline: null })
}

test('a harness that ended early is broken, although it left its metric', async () => {
  const exits = 'echo "{\\"bytes\\": 1, \\"parts\\": 20}" > "$WINNOW_RESULT_PATH"; exit 0\n'
  expect((await judge({ 'src/lib.sh': exits })).reason).toBe(
    'the harness printed 0 of the 20 lines that the base prints',
  )
  const forges = `seq 20; ${exits.replace(', \\"parts\\": 20', '')}`
  expect((await judge({ 'src/lib.sh': forges })).reason).toBe(
    'the harness did not print parts, which the base always prints',
  )
})

test('a harness that prints as much is judged by its numbers', async () => {
  expect((await judge({})).outcome).toBe('eligible')
})
