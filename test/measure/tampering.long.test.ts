import { describe, expect, test } from 'vitest'
import { type Experiment, laboratory } from './laboratory.ts'

/** A harness that does what src/act.sh says before it answers. */
const ACTING = {
  'bench.sh': '. src/act.sh\necho "{\\"bytes\\": $(cat src/value)}"\n',
  'src/act.sh': ':\n',
  'src/value': '100\n',
}

async function acting(script: string, rest: Partial<Experiment> = {}) {
  const lab = await laboratory()
  const candidates = { 'exp-001': { 'src/act.sh': `${script}\n`, 'src/value': '50\n' } }
  return lab.measure({ files: ACTING, candidates, ...rest })
}

/** Whatever lies beside the stage: the other sides, wherever they are parked. */
const OTHERS = '"$(dirname "$PWD")/../slots"/*/'

describe('experiment code that changes what it must not', () => {
  test.each([
    ['the harness', 'echo "echo 1" >> bench.sh', 'bench.sh'],
    ['its own tracked files', 'echo 1 > src/value', 'src/value'],
    [
      'a file, and puts its time back',
      'touch -r bench.sh ref; echo "# x" >> bench.sh; touch -r ref bench.sh',
      'bench.sh',
    ],
    ['the type of a file', 'cp bench.sh c; rm bench.sh; ln -s c bench.sh', 'bench.sh'],
    ['a mode', 'chmod +x bench.sh', 'bench.sh'],
    ['a file that it removes', 'rm src/value; printf 1 > other; ln -s ../other src/value', 'src/value'],
    ['the other side', `for f in ${OTHERS}tree/src/value; do echo 900 > $f; done`, 'src/value'],
    ['what the other side left', `for d in ${OTHERS}tree; do echo 1 > $d/node_cache; done`, 'tree'],
  ])('%s is caught', async (_, script, path) => {
    const report = await acting(script)
    expect(report.tampered).toEqual({ during: 'exp-001', path })
    expect(report.runner_error).toBeNull()
  })

  test('a tracked file that it makes unreadable, or unreachable, is not what it was', async () => {
    const lab = await laboratory()
    const measured = (script: string) =>
      lab.measure({ files: ACTING, candidates: { 'exp-001': { 'src/act.sh': `${script}\n` } } })
    for (const script of ['chmod 000 src', 'rm -rf src; mkdir src; chmod 000 src']) {
      const report = await measured(`trap "${script}" EXIT`)
      expect(report.runner_error).toBeNull()
      expect(report.tampered?.path).toMatch(/^src/)
    }
    const after = await measured('true')
    expect(after).toMatchObject({ tampered: null, runner_error: null })
    expect(after.executions).toHaveLength(2)
  })

  test('a folder of tracked files that it replaces by a link, their content untouched, and later orders are measured', async () => {
    const lab = await laboratory()
    const measured = (script: string) =>
      lab.measure({ files: ACTING, candidates: { 'exp-001': { 'src/act.sh': `${script}\n` } } })
    const linked = await measured('cp -a src elsewhere; rm -r src; ln -s elsewhere src')
    expect(linked).toMatchObject({ tampered: { during: 'exp-001', path: 'src' }, runner_error: null })
    expect(await measured('true')).toMatchObject({ tampered: null, runner_error: null })
  })

  test('what a set-up made for the other side is protected too', async () => {
    const report = await acting(`for f in ${OTHERS}tree/built; do echo 2 > $f; done`, {
      spec: { measurement: { setup: 'echo 1 > built' } },
    })
    expect(report.tampered).toEqual({ during: 'exp-001', path: 'built' })
  })

  test('a set-up may not change tracked files either', async () => {
    const report = await acting(':', { spec: { measurement: { setup: 'echo 1 >> bench.sh' } } })
    expect(report.tampered?.path).toBe('bench.sh')
    expect(report.executions).toEqual([])
  })

  test('a gate may not reach the sides from its throw-away copy', async () => {
    const report = await acting(':', {
      spec: { gates: [{ name: 'tests', command: `for f in ${OTHERS}tree/src/value; do echo 9 > $f; done` }] },
    })
    expect(report.tampered).toEqual({ during: 'exp-001', path: 'src/value' })
  })
})

describe('what experiment code may do', () => {
  test.each([
    ['touch a tracked file', 'touch bench.sh'],
    ['write the same bytes again', 'cat bench.sh > copy; cat copy > bench.sh'],
    ['leave caches of its own', 'mkdir -p .cache; date > .cache/now'],
    [
      'write where it is told to',
      'echo 1 > "$WINNOW_OUT_DIR/a"; echo 1 > "$TMPDIR/b"; echo 1 > "$WINNOW_CHECKPOINT_DIR/c"',
    ],
    ['lock itself out', 'mkdir -p locked/in; chmod 000 locked'],
  ])('%s', async (_, script) => {
    const report = await acting(script)
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(report.executions).toHaveLength(4)
  })

  test('change what its own set-up made', async () => {
    const report = await acting('echo 2 > built', { spec: { measurement: { setup: 'echo 1 > built' } } })
    expect(report).toMatchObject({ tampered: null, runner_error: null })
  })
})

describe('a tree that is not the pin outside scope.mutable', () => {
  test('is refused before any of its code runs, naming the path', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ candidates: { 'exp-001': { 'bench.sh': 'echo 1\n' } } })
    expect(report).toMatchObject({ setups: [], gates: [], executions: [], tampered: null })
    expect(report.runner_error).toBe(
      'exp-001: bench.sh is outside scope.mutable and differs from the pinned commit',
    )
  })

  test('so is a base that has drifted', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ base: { 'other.sh': '1\n' }, candidates: { 'exp-001': {} } })
    expect(report.runner_error).toContain('base: other.sh')
  })

  test('so is a harness that is not the one ordered', async () => {
    const lab = await laboratory()
    const report = await lab.measure({ order: { harness: 'c'.repeat(64) } })
    expect(report).toMatchObject({ executions: [], runner_error: expect.stringContaining('harness') })
  })
})
