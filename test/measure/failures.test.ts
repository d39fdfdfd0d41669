import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { buildMachineKey } from '../../src/model/report.ts'
import { readMachineFingerprint } from '../../src/measure/machine.ts'
import { measureOrder } from '../../src/measure/measure.ts'
import { laboratory } from './laboratory.ts'
import { carrying } from './processes.ts'
import { scratch } from './scratch.ts'

const alone = { rule: 'alone' } as const
const harness = (script: string) => ({ 'bench.sh': `${script}\n`, 'src/value': '1\n' })

describe('a harness that fails', () => {
  test('fails by its exit code, also after valid output', async () => {
    const lab = await laboratory()
    const files = harness(`echo '{"bytes": 1}'; echo "no such file" >&2; exit 3`)
    const report = await lab.measure({ files, stop: alone })
    expect(report.executions).toMatchObject([
      {
        status: 'crashed',
        exit_code: 3,
        signal: null,
        metrics: {},
        error: 'ended with exit code 3',
        output: { failing: [], stdout: '{"bytes": 1}', stderr: 'no such file' },
      },
    ])
  })

  test('reports the signal that ended it', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ spec: { measurement: { command: 'kill -SEGV $$' } }, stop: alone })
    expect(report.executions).toMatchObject([{ status: 'crashed', exit_code: null, signal: 'SIGSEGV' }])
  })

  test('reports a timeout', async () => {
    const lab = await laboratory()
    const spec = { measurement: { timeout_seconds: 0.2 } }
    const report = await lab.measure({ files: harness('sleep 60'), spec, stop: alone })
    expect(report.executions).toMatchObject([{ status: 'timeout', error: 'ran longer than 0.2 s' }])
  })

  test('shows the invalid line and a valid example', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ files: harness(`echo '{"bytes": "12kB"}'`), stop: alone })
    const error = report.executions[0]?.error
    expect(error).toContain('"bytes" is neither a number nor a boolean')
    expect(error).toContain('in: {"bytes": "12kB"}')
    expect(error).toContain('valid: {')
  })

  test('has no built-in metrics either', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ files: harness('exit 1'), stop: alone })
    expect(report.executions[0]?.metrics).toEqual({})
  })
})

describe('the built-in metrics', () => {
  test('need no output of the harness', async () => {
    const lab = await laboratory()
    const spec = { metric: { primary: { type: 'hard', name: 'wall_seconds', direction: 'minimize' } } }
    const report = await lab.measure({ files: harness('sleep 0.05'), spec, stop: alone })
    const metrics = report.executions[0]?.metrics
    expect(metrics?.['wall_seconds']).toBeGreaterThan(0.05)
    expect(metrics?.['cpu_seconds']).toBeGreaterThan(0)
    expect(metrics?.['max_rss_mb']).toBeGreaterThan(0.1)
  })
})

describe('a candidate that prints instead of its harness', () => {
  const statusOf = async (candidate: string, harness: string) => {
    const lab = await laboratory()
    const report = await lab.measure({
      files: { 'bench.sh': harness, 'src/run.sh': `echo '{"bytes": 450}'\n` },
      spec: { measurement: { command: 'sh bench.sh' } },
      candidates: { 'exp-001': { 'src/run.sh': candidate } },
    })
    return report.executions.find(run => run.side === 'exp-001')
  }

  test('by a result file beside what the harness prints is broken, with both values', async () => {
    const overwriting = `echo '{"bytes": -5}' > "$WINNOW_RESULT_PATH"\n`
    const run = await statusOf(overwriting, `sh src/run.sh > /dev/null; echo '{"bytes": 450}'\n`)
    expect(run).toMatchObject({
      status: 'bad-output',
      metrics: {},
      error: expect.stringContaining('holds bytes = -5, and stdout says bytes = 450'),
    })
  })

  test('by a boolean instead of the number is broken', async () => {
    const run = await statusOf(`echo '{"bytes": false}'\n`, 'sh src/run.sh\n')
    expect(run).toMatchObject({
      status: 'bad-output',
      metrics: {},
      error: expect.stringContaining('bytes is false, but the spec needs a number'),
    })
  })
})

describe('a separate scorer', () => {
  const spec = { measurement: { score: { command: 'sh score.sh' }, command: 'sh src/run.sh' } }
  const files = {
    'score.sh': 'echo "{\\"bytes\\": $(wc -c < "$WINNOW_OUT_DIR/answer")}"\n',
    'src/run.sh': 'printf abc > "$WINNOW_OUT_DIR/answer"\n',
  }

  test("runs from the trusted tree, reads the out directory, and ignores the run's stdout", async () => {
    const lab = await laboratory()
    const candidates = {
      'exp-001': {
        'src/run.sh': `printf a > "$WINNOW_OUT_DIR/answer"; echo '{"bytes": 0}'; echo '{"bytes": 0}' > "$WINNOW_RESULT_PATH"\n`,
      },
    }
    const report = await lab.measure({ files, spec, candidates })
    const bytesOf = (side: string) =>
      report.executions.filter(run => run.side === side).map(run => run.metrics['bytes'])
    expect(bytesOf('base')).toEqual([3, 3])
    expect(bytesOf('exp-001')).toEqual([1, 1])
  })

  test('cannot be changed by the execution', async () => {
    const lab = await laboratory()
    const candidates = {
      'exp-001': {
        'src/run.sh': 'printf a > "$WINNOW_OUT_DIR/answer"; echo "echo 1" > ../../trusted/tree/score.sh\n',
      },
    }
    const report = await lab.measure({ files, spec, candidates })
    expect(report.tampered).toEqual({ during: 'exp-001', path: 'tree/score.sh' })
  })

  test('that fails is a failure of the run', async () => {
    const lab = await laboratory()
    const broken = { ...files, 'score.sh': 'echo lost >&2; exit 1\n' }
    const report = await lab.measure({ files: broken, spec, stop: alone })
    expect(report.executions).toMatchObject([
      {
        status: 'score-failed',
        error: 'the scorer ended with 1',
        output: { failing: [], stdout: '', stderr: 'lost' },
      },
    ])
  })
})

describe('a failure of the runner', () => {
  test('gives no verdict', async () => {
    const lab = await laboratory()
    const input = await lab.input({ candidates: { 'exp-001': {} } })
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    const repository = { ...input.repository, materialize: () => Promise.reject(full) }
    const report = await measureOrder({ ...input, repository })
    expect(report).toMatchObject({
      executions: [],
      tampered: null,
      runner_error: 'this machine failed, not your code: the disk is full (ENOSPC: no space left on device)',
    })
  })

  test('includes a deadline that has passed', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ stop: alone, order: { deadline: '2020-01-01T00:00:00Z' } })
    expect(report).toMatchObject({ executions: [], runner_error: expect.stringContaining('deadline') })
  })

  test('sets the flags of the report', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ stop: alone })
    expect(report.flags).toEqual(['unisolated'])
  })
})

describe('cancelling', () => {
  test('ends all processes and returns no report', async () => {
    const lab = await laboratory()
    const cancel = new AbortController()
    const mark = join(scratch(), 'mark')
    const files = harness(`echo > ${mark}; sleep 1000; : ${mark}`)
    const input = await lab.input({ files, stop: alone, input: { signal: cancel.signal } })
    const running = measureOrder(input)
    await vi.waitFor(() => readFileSync(mark), 10_000)
    cancel.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    expect(carrying(mark)).toEqual([])
  })
})

describe('settings that this runner does not support', () => {
  test.each([
    ['isolation', { measurement: { isolation: 'bwrap' } }],
    ['isolation', { measurement: { isolation: { container: { image: 'x' } } } }],
    ['isolation', { measurement: { isolation: 'uid' } }],
    ['network', { measurement: { network: 'off' } }],
    ['shared_files', { parallel: { shared_files: ['data.csv'] } }],
    ['env_file', { measurement: { env_file: { path: '.env', keys: ['A'] } } }],
    ['port_base', { parallel: { port_strategy: 'parameterized' } }],
  ])('%s is refused before anything runs', async (key, spec) => {
    const lab = await laboratory()
    const refused = expect.objectContaining({ name: 'UserError', place: expect.anything() })
    await expect(lab.measure({ spec, stop: alone }), key).rejects.toEqual(refused)
  })
})

describe('uncommitted shared files', () => {
  test('are copied into both sides and watched', async () => {
    const lab = await laboratory()
    const root = scratch()
    mkdirSync(join(root, 'data'))
    writeFileSync(join(root, 'data/rows.csv'), '12345')
    const files = {
      'bench.sh': 'echo "{\\"bytes\\": $(wc -c < data/rows.csv)}"; sh src/act.sh\n',
      'src/act.sh': ':\n',
    }
    const spec = { parallel: { shared_files: ['data/'] } }
    const input = { sharedRoot: root }
    const good = await lab.measure({
      files,
      spec,
      input,
      candidates: { 'exp-001': { 'src/act.sh': 'true\n' } },
    })
    expect(good.executions.map(run => run.metrics['bytes'])).toEqual([5, 5])
    const bad = await lab.measure({
      files,
      spec,
      input,
      candidates: { 'exp-001': { 'src/act.sh': 'echo > data/rows.csv\n' } },
    })
    expect(bad.tampered).toEqual({ during: 'exp-001', path: 'data/rows.csv' })
  })

  test('one that is missing, or lies outside, is an error', async () => {
    const lab = await laboratory()
    const input = { sharedRoot: scratch() }
    for (const path of ['data.csv', '../x', '/etc/passwd']) {
      await expect(
        lab.measure({ stop: alone, spec: { parallel: { shared_files: [path] } }, input }),
      ).rejects.toThrow(path)
    }
  })

  test('of an env file only the named keys pass', async () => {
    const lab = await laboratory()
    const root = scratch()
    writeFileSync(join(root, '.env'), 'export SIZE="7" # seven\nOTHER=9\nEMPTY=\n')
    const files = harness('echo "{\\"bytes\\": $SIZE, \\"other\\": ${OTHER:-0}}"')
    const spec = { measurement: { env_file: { path: '.env', keys: ['SIZE', 'EMPTY'] } } }
    const report = await lab.measure({ files, spec, stop: alone, input: { sharedRoot: root } })
    expect(report.executions[0]?.metrics).toMatchObject({ bytes: 7, other: 0 })
    const missing = { measurement: { env_file: { path: '.env', keys: ['ABSENT'] } } }
    await expect(lab.measure({ spec: missing, stop: alone, input: { sharedRoot: root } })).rejects.toThrow(
      'ABSENT',
    )
  })
})

describe('working_directory', () => {
  test('is where the commands run', async () => {
    const lab = await laboratory()
    const files = {
      'app/bench.sh': 'echo "{\\"bytes\\": $(cat size)}"\n',
      'app/size': '6\n',
      'src/value': '1\n',
    }
    const report = await lab.measure({
      files,
      stop: alone,
      spec: { measurement: { working_directory: 'app' } },
    })
    expect(report.executions[0]?.metrics['bytes']).toBe(6)
  })
})

describe('the machine', () => {
  test('is described by the facts that make two measurements comparable', () => {
    const plain = readMachineFingerprint({})
    const runner = readMachineFingerprint({ ImageOS: 'ubuntu24', ImageVersion: '20260101.1' })
    expect(plain.image).toBeNull()
    expect(runner.image).toBe('ubuntu24 20260101.1')
    expect(buildMachineKey(plain)).not.toBe(buildMachineKey(runner))
    expect(plain.boot_id).toBe(runner.boot_id)
    expect(plain.cores).toBeGreaterThan(0)
  })
})
