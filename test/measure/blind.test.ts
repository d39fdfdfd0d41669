import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { laboratory } from './laboratory.ts'
import { scratch } from './scratch.ts'

/** Writes all that it can see of itself to a file outside, and answers. */
function spying(into: string) {
  return {
    'bench.sh': `{ pwd; env | sort; ls -a ..; } > ${into}/$(cat src/value); echo "{\\"bytes\\": $(cat src/value)}"\n`,
    'src/value': '100\n',
  }
}

describe('the code under test', () => {
  test('sees the same path, environment and surroundings on both sides', async () => {
    const lab = await laboratory()
    const seen = scratch()
    await lab.measure({ files: spying(seen), candidates: { 'exp-001': { 'src/value': '110\n' } } })
    const [base = '', candidate = ''] = ['100', '110'].map(name => readFileSync(join(seen, name), 'utf8'))
    expect(candidate).toBe(base)
    expect(base).toContain(`${join(lab.workDir, 'at', 'tree')}\n`)
    // The clone may have any name.
    expect(base.replace(/^PATH=.*$/m, '')).not.toMatch(/base|exp-001|candidate/)
  })

  test('sees of the environment only what is let through', async () => {
    const lab = await laboratory()
    const seen = scratch()
    await lab.measure({
      files: spying(seen),
      candidates: { 'exp-001': { 'src/value': '110\n' } },
      spec: { measurement: { env: ['LET_THROUGH'] } },
      input: {
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: '/h',
          SECRET_TOKEN: 's3cret',
          LET_THROUGH: 'yes',
          GITHUB_TOKEN: 's3cret',
        },
      },
    })
    const text = readFileSync(join(seen, '100'), 'utf8')
    expect(text).toContain('LET_THROUGH=yes\n')
    expect(text).toContain(`HOME=${join(lab.workDir, 'at', 'home')}\n`)
    expect(text).not.toContain('s3cret')
    const names = [...text.matchAll(/^([A-Z_]+)=/gm)].map(match => match[1])
    const own = names.filter(name => !/^(?:WINNOW|EVO)_/.test(name ?? ''))
    expect(new Set(own)).toEqual(new Set(['HOME', 'LET_THROUGH', 'PATH', 'PWD', 'TMPDIR']))
  })

  test('finds its directories inside its own side, empty at every run', async () => {
    const lab = await laboratory()
    const report = await lab.measure({
      files: {
        'bench.sh':
          'for v in TMPDIR WINNOW_OUT_DIR; do eval d=\\$$v; case $d in "$(dirname "$PWD")"/*) ;; *) exit 9;; esac; ' +
          'test -z "$(find "$d" -type f)" || exit 8; echo 1 > "$d/left"; done; echo "{\\"bytes\\": $(cat src/value)}"\n',
        'src/value': '100\n',
      },
      candidates: { 'exp-001': { 'src/value': '90\n' } },
    })
    expect(report.executions.map(run => run.exit_code)).toEqual([0, 0, 0, 0])
  })

  test('cannot read the environment of winnow, though it runs as the same user', async () => {
    const lab = await laboratory()
    const seen = scratch()
    await lab.measure({
      files: {
        'bench.sh': `cat /proc/[0-9]*/environ > ${seen}/all 2>/dev/null; echo '{"bytes": 1}'\n`,
        'src/value': '1\n',
      },
      candidates: { 'exp-001': { 'src/value': '2\n' } },
    })
    // Every test process has VITEST set; the harness has not.
    expect(readFileSync(join(seen, 'all'), 'utf8')).not.toContain('VITEST')
  })

  test('gets the port that is its own', async () => {
    const lab = await laboratory()
    const files = { 'bench.sh': 'echo "{\\"bytes\\": $APP_PORT}"\n', 'src/value': '1\n' }
    const spec = { parallel: { port_strategy: 'parameterized', port_env_var: 'APP_PORT', port_base: 4000 } }
    const stop = { rule: 'alone' } as const
    expect((await lab.measure({ files, spec, stop })).executions[0]?.metrics['bytes']).toBe(4000)
    const report = await lab.measure({ files, spec, stop, input: { portBase: 4100 } })
    expect(report.executions[0]?.metrics['bytes']).toBe(4100)
  })
})
