import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chooseJobWorkspace, retryDryRun } from '../../src/engine/jobs/measure-job.ts'
import { runDryRun } from '../../src/measure/isolation/dry-run.ts'
import { UnfitMachine } from '../../src/measure/isolation/side-users.ts'
import { measureOrder } from '../../src/measure/measure.ts'
import { buildUserWorkspace } from '../../src/measure/session.ts'
import { type Experiment, laboratory } from './laboratory.ts'
import { scratch } from './scratch.ts'
import { isRoot, throwAwayUsers } from './throw-away-users.ts'

/** Fails where it is said, if a user of a side runs it. */
const FILES = {
  'bench.sh': 'echo "{\\"bytes\\": $(cat src/value)}"\n',
  'needs-root.sh': 'test "$(id -u)" = 0 || { echo "cargo: not found" >&2; exit 1; }\n',
  'src/value': '7\n',
}

async function rehearsed(experiment: Experiment) {
  const lab = await laboratory()
  const input = await lab.input({ files: FILES, ...experiment })
  return { input: { ...input, ...buildUserWorkspace(throwAwayUsers(), lab.workDir) } }
}

describe.skipIf(!isRoot)('a rehearsal as a user of a side', () => {
  test.each<[string, Record<string, unknown>, string | null]>([
    ['works where everything does', { measurement: { setup: 'true' } }, null],
    [
      'tells of a set-up',
      { measurement: { setup: 'sh needs-root.sh' } },
      'as a separate user, the set-up fails: cargo: not found',
    ],
    [
      'tells of a gate',
      { gates: [{ name: 'tests', command: 'sh needs-root.sh' }] },
      'as a separate user, gate tests fails: cargo: not found',
    ],
    [
      'tells of the harness',
      { measurement: { command: 'sh needs-root.sh' } },
      'as a separate user, the harness fails: cargo: not found',
    ],
    [
      'tells of one that says nothing',
      { measurement: { command: 'exit 4' } },
      'as a separate user, the harness fails: ended with exit code 4',
    ],
  ])('%s', async (_what, spec, expected) => {
    const { input } = await rehearsed({ spec })
    expect(await runDryRun(input)).toBe(expected)
  })

  test('tells of a machine on which such a user could change the programs of others, and what to do', async () => {
    const open = scratch()
    chmodSync(open, 0o777)
    const env = { PATH: `${open}:${process.env['PATH'] ?? ''}` }
    const { input } = await rehearsed({ input: { env } })
    const found = `can replace programs on PATH in ${open} (chmod -R o-w ${open}, or take it off PATH)`
    expect(await retryDryRun(input)).toContain(found)
  })

  test('runs nothing of an experiment, and the pinned commit once', async () => {
    const log = `${scratch()}/log`
    const files = { ...FILES, 'bench.sh': `cat src/value >> "$LOG"; ${FILES['bench.sh']}` }

    writeFileSync(log, '')
    chmodSync(log, 0o666)
    chmodSync(dirname(log), 0o755)
    const spec = { measurement: { env: ['LOG'] } }
    const candidates = { 'exp-001': { 'src/value': '666\n' } }
    const env = { PATH: process.env['PATH'] ?? '', LOG: log }
    const { input } = await rehearsed({
      files,
      spec,
      candidates,
      base: { 'src/value': '8\n' },
      input: { env },
    })
    expect(await runDryRun(input)).toBeNull()
    expect(readFileSync(log, 'utf8')).toBe('7\n')
  })

  test('is tried once more where it fails', async () => {
    const room = scratch()

    chmodSync(room, 0o777)
    const files = { ...FILES, 'bench.sh': `mkdir "$ROOM/first" 2>/dev/null && exit 3; ${FILES['bench.sh']}` }
    const env = { PATH: process.env['PATH'] ?? '', ROOM: room }
    const { input } = await rehearsed({ files, spec: { measurement: { env: ['ROOM'] } }, input: { env } })
    expect(await retryDryRun(input)).toBeNull()
  })
})

describe('users of sides that nobody here can become', () => {
  /** There is no such number: -1 says that it stays as it is. */
  const NOBODY = 2 ** 32 - 1
  const unbecomable = () => {
    const { dir } = throwAwayUsers()
    return { dir, owners: Array.from({ length: 6 }, () => ({ uid: NOBODY, gid: NOBODY })) }
  }
  const why = `commands cannot be run as user ${NOBODY}: `

  async function asked(isolation: 'auto' | 'uid', isolatedBefore: boolean | null = null) {
    const lab = await laboratory()
    const stop = { rule: 'alone' } as const
    const input = await lab.input({ files: FILES, stop, spec: { measurement: { isolation } } })
    const lodging = await chooseJobWorkspace(lab.workDir, {
      users: unbecomable(),
      before: isolatedBefore,
      spec: input.spec,
      runDryRun: lodged => retryDryRun({ ...input, ...lodged }),
    })
    return { lodging, measured: () => measureOrder({ ...input, ...lodging }) }
  }

  test('auto goes on without them, says why, and measures', async () => {
    const { lodging, measured } = await asked('auto')
    expect(lodging).not.toHaveProperty('users')
    expect(lodging).toHaveProperty('unisolatedBecause', expect.stringContaining(why))
    const report = await measured()
    expect(report).toMatchObject({ runner_error: null, unisolated_because: expect.stringContaining(why) })
    expect(report.executions.map(({ status }) => status)).toEqual(['ok'])
  })

  test('uid refuses, and so does auto where what it is compared with was isolated', async () => {
    for (const { lodging, measured } of [await asked('uid'), await asked('auto', true)]) {
      expect(lodging).toHaveProperty('users')
      await expect(measured()).rejects.toThrow(UnfitMachine)
      await expect(measured()).rejects.toThrow(why)
    }
  })
})
