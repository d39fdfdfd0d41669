import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratch } from '../git/scratch.ts'
import { clonedProject, FILES, project, SHORT, SPEC } from './project.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const page = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Every line of its shell blocks: what somebody copies. */
function commandsOf(path: string): string[] {
  const blocks = [...page(path).matchAll(/```sh\n([\s\S]*?)```/g)]
  return blocks.flatMap(([, block = '']) => block.trim().split('\n'))
}

/** A file of so many bytes. A gain above merge.hold_above would wait for a person. */
function letters(bytes: number): string {
  return `${'a'.repeat(bytes - 1)}\n`
}

/** `winnow` and an agent, as they are installed: programs on PATH. */
function programs(): string {
  const folder = join(scratch(), 'bin')
  mkdirSync(folder)
  const write = (name: string, lines: string[]) => {
    writeFileSync(join(folder, name), `${['#!/bin/sh', ...lines].join('\n')}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  write('winnow', [`exec node ${join(ROOT, 'dist/cli.js')} "$@"`])
  write('claude', ['cat > /dev/null', 'echo $$ > src/notes'])
  return `${folder}:${process.env['PATH'] ?? ''}`
}

function shellIn(dir: string) {
  const env = { PATH: programs(), HOME: scratch(), USER: 'ada' }
  return (line: string) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: dir, env, encoding: 'utf8' })
    return { line, status, stdout, stderr }
  }
}

describe('docs/agents.md', () => {
  it('has only commands that do what it says, in its order', () => {
    const spec = `${SPEC}stopping: { max_iterations: 3 }\nexecution: { mode: serial }\n`
    const person = project({ ...FILES, '.winnow/size.yaml': spec })
    person.git('checkout', '-q', '-b', 'fast-path')
    person.commit('A fast path', { 'src/fast': 'yes\n' })
    person.git('checkout', '-q', 'main')
    person.write('src/value', letters(60))
    person.write('ideas.md', '- [layout] pack it\n- cache the parsed header!\n')
    const run = shellIn(person.dir)
    const answers = commandsOf('docs/agents.md').map(line => {
      if (line.includes('--idea')) person.write('src/value', letters(40))
      return run(line)
    })
    const unexpected = answers.filter(({ status }) => ![0, 10, 14].includes(status ?? -1))
    expect(unexpected).toEqual([])
    const [first, second] = answers
    expect(first?.status).toBe(0)
    const answer = JSON.parse(first?.stdout ?? '')
    const table = page('docs/agents.md').split('| key | |')[1]?.split('\n\n')[0] ?? ''
    const rows = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) => [
      ...cell.matchAll(/`(\w+)`/g),
    ])
    expect(new Set(rows.map(([, key]) => key))).toEqual(new Set(Object.keys(answer)))
    expect(second?.stdout).toMatch(/^Kept \(tried before, as exp-001\): .*\n(?: .*\n)+Next: /)
    expect(answers.find(({ line }) => line.includes('import'))?.stderr).toContain('it is idea-001 already')
  })
})

describe('skills/winnow/SKILL.md', () => {
  const SKILL = page('skills/winnow/SKILL.md')

  it('is short, begins with trying, and has its keys and exit codes right', () => {
    expect(SKILL.split('\n').length).toBeLessThan(60)
    const person = project()
    person.write('src/value', letters(60))
    const run = shellIn(person.dir)
    const commands = commandsOf('skills/winnow/SKILL.md')
    expect(commands).toEqual(['winnow try -m "what changes and why it should help" --json'])
    const tried = run(commands[0] ?? '')
    expect(tried.status).toBe(0)
    const named = SKILL.split('The answer has ')[1]?.split('. Read')[0] ?? ''
    const keys = [...named.matchAll(/`(\w+)`/g)].map(([, key]) => key)
    expect(Object.keys(JSON.parse(tried.stdout))).toEqual(expect.arrayContaining(keys))
    const codes = [...SKILL.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))
    expect(codes).toEqual([0, 10, 11, 12, 13, 14, 15, 2])
    const inline = [...SKILL.matchAll(/`(winnow [^`]+)`/g)].map(([, command = '']) =>
      command.replace('exp-NNN', 'exp-001').replace('<package>', 'left-pad').replace('idea-003', 'idea-001'),
    )
    const add = inline.findIndex(command => command.includes('idea add'))
    const inOrder = [...inline.splice(add, 1), ...inline]
    const failed = inOrder.map(run).filter(({ status }) => status !== 0)
    expect(failed).toEqual([])
  })

  it('works step by step in a clone of a bare remote', () => {
    const person = clonedProject()
    const run = shellIn(person.dir)
    const ok = (line: string, status = 0) => {
      const answer = run(line)
      expect({ ...answer, stdout: '', stderr: answer.status === status ? '' : answer.stderr }).toMatchObject({
        status,
        stderr: '',
      })
      return answer
    }
    const [start = ''] =
      /git fetch origin && git switch --detach \S+(?=\.)/.exec(SKILL.replaceAll('\n  ', '')) ?? []
    expect(start).toBe('git fetch origin && git switch --detach origin/optimize/<spec>')
    const best = start.replace('<spec>', 'size')

    ok('winnow check --no-try')
    expect(ok('winnow status --json', 2).stderr).toContain('no campaign size was started')
    expect(run(best).status).not.toBe(0)
    person.write('src/value', SHORT)
    const first = JSON.parse(ok('winnow try -m "half as long" --json').stdout)
    expect(first).toMatchObject({
      verdict: 'kept',
      effect: 50,
      scale: 'linear',
      base_metrics: { bytes: 100 },
    })
    ok(first.next)
    expect(person.git('show', 'HEAD:src/value')).toBe(SHORT.trim())

    ok(best)
    person.write('src/value', '')
    const broken = JSON.parse(ok('winnow try -m "nothing" --json', 13).stdout)
    expect(broken.failed).toEqual({ what: 'gate tests', output: null })
    person.write('src/value', letters(25))
    const second = JSON.parse(ok('winnow try -m "shorter" --json').stdout)
    expect(second).toMatchObject({ verdict: 'kept', metrics: { bytes: 25 } })
    ok(second.next)
    ok(best)
    expect(person.git('rev-parse', 'HEAD')).toBe(second.landed)
    expect(JSON.parse(ok(`winnow results ${second.id} --json`).stdout)).toMatchObject({ verdict: 'kept' })

    person.git('switch', '-q', 'main')
    person.git('reset', '-q', '--hard', 'origin/main')
    person.git('mv', '.winnow/size.yaml', '.winnow/other.yaml')
    person.git('commit', '-qm', 'another spec')
    const unpushed = ok('winnow try -m "x" --campaign other --json', 2)
    expect(unpushed.stderr).toContain('fix: git push, or run winnow with --remote none')
  })
})
