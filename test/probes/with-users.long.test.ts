import { describe, expect, test } from 'vitest'
import { buildUserWorkspace } from '../../src/measure/session.ts'
import { laboratory } from '../measure/laboratory.ts'
import { isRoot, throwAwayUsers } from '../measure/throw-away-users.ts'
import { attack } from './attack.ts'
import { PROGRAMS, writeGuardedHarness } from './programs.ts'

describe.skipIf(!isRoot)('probes on sides with users of their own', () => {
  test('find no mark, and nothing that a harness with a child does not notice', {
    timeout: 600_000,
  }, async () => {
    const program = PROGRAMS['commonjs']
    if (program === undefined) throw new Error('no such program')
    const lab = await laboratory()
    const { open, untried, results, report } = await attack(
      lab,
      program,
      {
        command: 'node bench/guarded.mjs',
        metric: 'ms',
        files: { 'bench/guarded.mjs': writeGuardedHarness(program) },
      },
      buildUserWorkspace(throwAwayUsers(), lab.workDir),
    )
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(report.flags).not.toContain('unisolated')
    expect([open, untried], JSON.stringify(results, null, 1)).toEqual([[], []])
    expect(results).toHaveLength(9)
    expect(results.find(({ name }) => name === 'remember')).toMatchObject({
      caught_by: 'the same start every time',
    })
  })

  test('are never winnow, the base or the scorer', { timeout: 600_000 }, async () => {
    const program = {
      files: { 'bench.sh': 'echo "{\\"ms\\": $(id -u)}"\n', 'src/lib.sh': 'work() {\n  :\n}\n' },
      setup: null,
      run: 'sh bench.sh',
      count: 1,
    }
    const lab = await laboratory()
    const users = throwAwayUsers()
    const { report } = await attack(
      lab,
      program,
      { command: program.run, metric: 'ms' },
      buildUserWorkspace(users, lab.workDir),
    )
    const owners = new Set(users.owners.map(({ uid }) => uid))
    const base = report.executions.find(({ side }) => side === 'base')?.metrics['ms']
    const others = report.executions.filter(({ side }) => side !== 'base').map(({ metrics }) => metrics['ms'])
    expect(others.length).toBeGreaterThan(6)
    expect(others).not.toContain(base)
    expect(others.filter(uid => !owners.has(Number(uid)))).toEqual([])
  })
})
