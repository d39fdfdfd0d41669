import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratch } from '../git/scratch.ts'
import { type Project, project } from './project.ts'

function hasValgrind(): boolean {
  try {
    execFileSync('valgrind', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const SPEC = `winnow: 1
metric: { primary: { name: instructions } }
measurement: { command: sh bench.sh }
gates: [{ name: tests, command: test -s src/loops }]
scope: { mutable: [src/] }
`
/** The work is done by a child of the harness. */
const BENCH =
  'awk -v n="$(cat src/loops)" \'BEGIN { for (i = 0; i < n; i++) s += i; print s > "/dev/null" }\'; true\n'

function loops(files: Record<string, string> = {}): Project {
  const person = project({ '.winnow/loops.yaml': SPEC, 'bench.sh': BENCH, 'src/loops': '9000\n', ...files })
  person.git('checkout', '-qb', 'shorter')
  person.commit('shorter', { 'src/loops': '4000\n' })
  person.git('checkout', '-q', 'main')
  return person
}

describe.runIf(hasValgrind())('instructions', () => {
  it('of a program and its children decide in one execution of each, confirmed by a second', async () => {
    const person = loops()
    const { code, out } = await person.winnow(
      'compare',
      'main',
      'shorter',
      '--metric',
      'instructions',
      '--',
      'sh bench.sh',
    )
    expect(code).toBe(0)
    expect(out).toMatch(
      /^shorter is better than main: instructions \d{6,} -> \d{6,} \(-\d\d\.\d %\); it repeats (exactly|within \S+ %)\.$/m,
    )
    expect(out).toContain(
      '  proxy: instructions stand for time; child processes are counted, and an interpreter with',
    )
    expect(out).toMatch(/^ {2}cost: 10 executions, 6 of them of main with itself/m)
  })

  it('are called a proxy by check, and an idea that changes nothing is no gain', async () => {
    const person = loops()
    const check = await person.winnow('check')
    expect([check.code, check.err]).toEqual([0, expect.any(String)])
    expect(check.out).toContain('  proxy: instructions stand for time;')
    expect(check.out).toMatch(
      /^ {2}repeats exactly: (yes, equal|nearly: counts differ by less than \S+ %, which counts as no difference,) in 6 runs/m,
    )
    person.write('src/notes', 'nothing\n')
    const { out } = await person.winnow('try', '-m', 'A note')
    expect(out).toMatch(/^No gain: instructions /)
    person.write('src/loops', '4000\n')
    const { code } = await person.winnow('try', '-m', 'Fewer')
    expect(code).toBe(0)
    expect((await person.winnow('replay')).code).toBe(0)
  })

  it('of a process that is killed before it is counted are missing, and missing is no gain', async () => {
    const person = loops({
      'bench.sh': `${BENCH}[ "$(cat src/loops)" -gt 5000 ] || { sleep 100 & kill -9 $!; }\n`,
    })
    const { code, out } = await person.winnow(
      'compare',
      'main',
      'shorter',
      '--metric',
      'instructions',
      '--',
      'sh bench.sh',
    )
    expect([code, out]).toEqual([13, expect.stringContaining('missing required metric: instructions')])
  })

  it('have allocations and bytes beside them, with a spec of their own', async () => {
    const { out, code } = await loops().winnow(
      'compare',
      'main',
      'shorter',
      '--metric',
      'allocated_bytes',
      '--',
      'sh bench.sh',
    )
    expect([0, 10]).toContain(code)
    expect(out).toMatch(/allocated_bytes \d{4,}/)
  })
})

describe('where no tool counts', () => {
  it('says what to install, before anything runs', async () => {
    const bin = join(scratch('winnow-path-'), 'bin')
    mkdirSync(bin, { recursive: true })
    for (const name of ['sh', 'git', 'perl', 'node', 'cat', 'test', 'awk', 'touch', 'env'])
      symlinkSync(
        execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
        join(bin, name),
      )
    // Virtual machines have perf without hardware counters.
    writeFileSync(join(bin, 'perf'), '#!/bin/sh\necho "<not supported>,,instructions:u,0,100.00,," >&2\n', {
      mode: 0o755,
    })
    const person = loops({ 'bench.sh': 'touch "$HOME/ran"\n' })
    const { code, err } = await person.winnowWith({ env: { PATH: bin } }, 'check')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('instructions cannot be counted here: it needs valgrind, or perf'),
    ])
    expect(err).toContain('sudo apt-get install -y valgrind')
    expect(() => execFileSync('cat', [join(person.cache, 'ran')], { stdio: 'ignore' })).toThrow()
  })
})
