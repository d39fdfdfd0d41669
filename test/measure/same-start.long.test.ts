import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chooseSupervisor } from '../../src/measure/process/supervisor.ts'
import type { StopRule } from '../../src/model/order.ts'
import { laboratory } from './laboratory.ts'

const FASTER = { 'exp-001': { 'src/value': '90\n' } }
const PAIRS: StopRule = { rule: 'pairs', metrics: ['bytes'], scale: 'linear', pairs: 3 }

/** Prints as `bytes` how many bytes a run finds in the places where an earlier one could have left them. */
function countsBytesIn(...files: string[]): string {
  const names = files.join(' ')
  return [
    `bytes=$(cat ${names} 2> /dev/null | wc -c)`,
    'echo "{\\"bytes\\": $((bytes + 0))}"',
    `for file in ${names}; do mkdir -p "$(dirname "$file")"; echo remembered >> "$file"; done`,
  ].join('\n')
}

async function measureBytes(
  harness: string,
  measurement: Record<string, unknown> = {},
  input: { workDir?: string } = {},
): Promise<unknown[]> {
  const lab = await laboratory()
  const report = await lab.measure({
    files: { 'bench.sh': harness, 'src/value': '100\n' },
    candidates: FASTER,
    stop: PAIRS,
    spec: { measurement },
    input,
  })
  expect([report.runner_error, report.tampered]).toEqual([null, null])
  return [...new Set(report.executions.map(({ metrics }) => metrics['bytes']))]
}

describe('every execution starts from what the set-up left', () => {
  test.each([
    ['a new file in the tree', 'cache/answers'],
    ['a new file beside tracked ones', 'src/answers'],
    ['the folder for checkpoints', '"$WINNOW_CHECKPOINT_DIR"/answers'],
    ['the folder for temporary files', '"$TMPDIR"/answers'],
    ['the folder for outputs', '"$WINNOW_OUT_DIR"/answers'],
    ['a file beside the tree', '../answers'],
    ['a new file in HOME', '"$HOME"/.cache/answers'],
  ])('without %s', async (_, file) => {
    const setup = 'printf 12345 > "$WINNOW_CHECKPOINT_DIR"/setup'
    expect(await measureBytes(countsBytesIn(file, '"$WINNOW_CHECKPOINT_DIR"/setup'), { setup })).toEqual([5])
  })

  test('without shared memory that an earlier one made', async () => {
    const key = 0x77_00_00 + Math.floor(Math.random() * 0xff_ff)
    const harness = [
      `segments=$(perl -e 'print defined shmget(${key}, 8, 0) ? 1 : 0')`,
      `files=$(ls /dev/shm | grep -c winnow-${key})`,
      'echo "{\\"bytes\\": $((10 * segments + files))}"',
      `perl -e 'shmget(${key}, 8, 01600)'; : > /dev/shm/winnow-${key}`,
    ].join('\n')
    const { strategy } = await chooseSupervisor({ owner: null, monotonic: () => performance.now() })
    onTestFinished(() => {
      spawnSync('sh', ['-c', `ipcrm -M ${key}`])
      rmSync(`/dev/shm/winnow-${key}`, { force: true })
    })
    // The sides of other tests may lie in /dev/shm themselves.
    const workDir = mkdtempSync('/var/tmp/winnow-')
    onTestFinished(() => rmSync(workDir, { recursive: true }))
    const found = await measureBytes(harness, {}, { workDir })
    expect(found).toEqual(strategy === 'pid-namespace' ? [0] : expect.any(Array))
  })

  test('with files of the set-up as they were: added to, removed, replaced by a link or a folder', async () => {
    const setup =
      'mkdir -p built/deep; for f in a b c deep/d; do printf 12345 > built/$f; done; chmod 755 built/a'
    const harness = [
      'bytes=$(cat built/a built/b built/c built/deep/d | wc -c); test -x built/a || bytes=1000',
      'test -L built/b && bytes=2000',
      'echo "{\\"bytes\\": $((bytes + 0))}"',
      'echo more >> built/a; chmod 644 built/a; rm built/b; ln -s a built/b; rm built/c; mkdir built/c; rm -r built/deep',
    ].join('\n')
    expect(await measureBytes(harness, { setup })).toEqual([20])
  })

  test('with the permissions of its folders', async () => {
    const harness = 'echo "{\\"bytes\\": $(stat -c %a src)}"; chmod 700 src'
    expect(await measureBytes(harness)).toHaveLength(1)
  })

  test('with the files of a folder whose permissions changed as well', async () => {
    const setup =
      'mkdir -p built/closed; printf 12345 > built/a; printf 123 > built/closed/b; chmod 555 built/closed'
    const harness = [
      'echo "{\\"bytes\\": $(cat built/a built/closed/* | wc -c)}"',
      'chmod 755 built/closed; echo more >> built/a; rm built/closed/b; echo more > built/closed/c',
      'chmod 500 built/closed; chmod 700 built',
    ].join('\n')
    expect(await measureBytes(harness, { setup })).toEqual([8])
  })

  test('with the empty folders that were there', async () => {
    const harness = [
      'echo "{\\"bytes\\": $(ls -d "$WINNOW_CHECKPOINT_DIR" empty/deep | wc -l)}"',
      'rm -r "$WINNOW_CHECKPOINT_DIR" empty',
    ].join('\n')
    expect(await measureBytes(harness, { setup: 'mkdir -p empty/deep' })).toEqual([2])
  })

  test.each([
    ['after a run that failed', 'exit 1', {}],
    ['after a run that was cut off', 'exit 0', { onExecution: () => Promise.reject(new Error('cut off')) }],
  ])('in a later order that keeps the set-up, %s', async (_, end, input) => {
    const lab = await laboratory()
    const experiment = {
      files: { 'bench.sh': `echo '{"bytes": 1}'; echo more >> built; ${end}`, 'src/value': '100\n' },
      spec: { measurement: { setup: 'printf 12345 > built', setup_scope: 'once' } },
      stop: { rule: 'alone' } as const,
    }
    expect((await lab.measure({ ...experiment, input })).setups).toHaveLength(1)
    expect((await lab.measure(experiment)).setups).toHaveLength(1)
  })

  test('with its checkpoint where the spec keeps it', async () => {
    const found = await measureBytes(countsBytesIn('"$WINNOW_CHECKPOINT_DIR"/answers'), {
      keep_checkpoint: true,
    })
    expect(found.length).toBeGreaterThan(1)
  })
})

describe('gates and harness', () => {
  test('get the same environment, and each gate a copy of its own', async () => {
    const lab = await laboratory()
    const gates = [
      { name: 'spoils', command: 'echo "exit 1" > check.sh; env | sort > "$WINNOW_OUT_DIR"/env' },
      { name: 'checks', command: 'sh check.sh' },
      { name: 'environment', command: 'test "$(env | cut -d= -f1 | sort)" = "$(cat names)"' },
    ]
    const report = await lab.measure({
      files: {
        'bench.sh': 'test "$(env | cut -d= -f1 | sort)" = "$(cat names)" && echo "{\\"bytes\\": 1}"',
        'src/value': '100\n',
        'check.sh': 'exit 0\n',
      },
      candidates: FASTER,
      spec: { gates, measurement: { setup: 'sh -c "env | cut -d= -f1 | sort" > names' } },
    })
    expect(report.gates.map(({ name, passed }) => [name, passed])).toEqual([
      ['spoils', true],
      ['checks', true],
      ['environment', true],
    ])
    expect(report.executions.map(({ status }) => status)).toEqual(['ok', 'ok'])
  })
})
