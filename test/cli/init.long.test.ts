import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scratch, userRepository } from '../git/scratch.ts'
import { clonedProject, type Project, project, projectIn } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

/** A harness that repeats exactly and starts at once: checking it takes no time. */
const FILES = {
  'src/value': 'aaaaaaaaa\n',
  'bench/size.sh': 'echo "{\\"bytes\\": $(wc -c < src/value)}"\n',
  'test.sh': 'test -s src/value\n',
}
const NODE = {
  'package.json':
    '{"name":"n","type":"module","scripts":{"test":"node --test","bench":"node bench/size.mjs"}}\n',
  'src/value.js': 'export const value = 1\n',
  'bench/size.mjs':
    "import { statSync } from 'node:fs'\nconsole.log(JSON.stringify({ bytes: statSync('src/value.js').size }))\n",
  'test/value.test.js': '',
}

function read(person: Project, path: string): string {
  return readFileSync(join(person.dir, path), 'utf8')
}

function untracked(person: Project): string {
  return person.git('status', '--porcelain', '-uall')
}

describe('winnow init', () => {
  releaseTest('finds out, writes, checks, and says what is next', async () => {
    const person = project(NODE)
    const { code, out } = await person.winnow('init')
    expect(code).toBe(0)
    expect(out).toMatch(/^language {3}node with npm$/m)
    expect(out).toMatch(/^benchmark {2}node bench\/size\.mjs {2}\(scripts\.bench of package\.json\)$/m)
    expect(out).toContain('Wrote .winnow/speed.yaml; nothing is committed.')
    expect(out).toMatch(/^ {2}tried: bytes 23 in .*; passed tests$/m)
    expect(out).toContain('git add .winnow/speed.yaml && git commit -m "winnow: speed"\n  winnow run\n')
    expect(untracked(person)).toBe('?? .winnow/speed.yaml')
    person.commit('as it said')
    expect((await person.winnow('run')).code).toBe(14)
  })

  it('warns of a printed number that never changes and may be no cost', async () => {
    const bench =
      "import { value } from '../src/value.js'\nconsole.log(JSON.stringify({ total: 41 + value }))\n"
    const { code, out } = await project({ ...NODE, 'bench/size.mjs': bench }).winnow('init')
    expect(code).toBe(0)
    expect(out).toContain('warning: total repeats exactly in every build: if it is a checksum and not a cost')
  })

  it('shows with --dry-run what it would write, and writes nothing', async () => {
    const person = project(FILES)
    const { code, out } = await person.winnow('init', '--dry-run', '--agent', '--name', 'small')
    expect(code).toBe(0)
    expect(out).toContain('--- .winnow/small.yaml\n# yaml-language-server:')
    expect(out).toContain('--- AGENTS.md\n<!-- winnow:small -->')
    expect(untracked(person)).toBe('')
  })

  it('overwrites nothing: a spec, or a file where the harness would go', async () => {
    const person = project(FILES)
    await person.winnow('init', '--no-check')
    const before = read(person, '.winnow/speed.yaml')
    const again = await person.winnow('init')
    expect([again.code, again.err]).toEqual([
      2,
      'error: .winnow/speed.yaml: this spec exists already, and init does not overwrite it\n' +
        '  fix: winnow check .winnow/speed.yaml; or write another spec: winnow init --name <other>\n',
    ])
    expect(read(person, '.winnow/speed.yaml')).toBe(before)
    expect((await person.winnow('init', '--name', 'other', '--no-check')).code).toBe(0)

    const taken = project({ 'greet.sh': 'echo hi\n' })
    taken.write('bench/speed.sh', 'mine\n')
    expect((await taken.winnow('init')).err).toContain(
      'bench/speed.sh exists already, and init does not overwrite it',
    )
    expect(existsSync(join(taken.dir, '.winnow'))).toBe(false)
  })

  releaseTest(
    'brings a harness where there is none, which check and run refuse until it is replaced',
    async () => {
      const person = project({ 'greet.sh': 'echo hi\n' })
      const { code, out } = await person.winnow('init')
      expect(code).toBe(2)
      expect(out).toContain(
        'bench/speed.sh is a harness to begin with: it measures the program, started as: sh greet.sh --help.\n' +
          'To do: add your measurement to bench/speed.sh, at the marked place.',
      )
      const line =
        read(person, 'bench/speed.sh')
          .split('\n')
          .findIndex(each => each.includes('WINNOW-TODO')) + 1
      expect(out).toContain(
        `  to do: bench/speed.sh:${line}: the workload is a placeholder; replace it with your own`,
      )
      expect(out).toContain('This spec cannot be run: its harness measures a placeholder.')
      expect(untracked(person)).toBe('?? .winnow/speed.yaml\n?? bench/speed.sh')

      person.commit('as it said')
      expect((await person.winnow('check')).code).toBe(2)
      const before = person.refs()
      for (const verb of ['run', 'try']) {
        const refused = await person.winnow(verb)
        expect([refused.code, refused.err]).toEqual([
          2,
          expect.stringContaining(`error: bench/speed.sh:${line}: `),
        ])
      }
      expect(person.refs()).toBe(before)

      const own = read(person, 'bench/speed.sh')
        .split('\n')
        .filter(each => !each.includes('WINNOW-TODO'))
      person.commit('own workload', { 'bench/speed.sh': own.join('\n') })
      const checked = await person.winnow('check')
      expect([checked.code, checked.out]).toEqual([
        0,
        expect.stringMatching(/^ {2}tried: milliseconds [\d.]+/m),
      ])
    },
  )

  releaseTest('passes on what check finds, with the files written and the next step said', async () => {
    const person = project({ ...FILES, 'bench/size.sh': 'echo hello; exit 3\n' })
    const { code, out, err } = await person.winnow('init')
    expect(code).toBe(13)
    expect(err).toMatch(/^error: the default branch does not pass: /m)
    expect(out).toContain(
      'Next, after you have done what is marked above:\n  git add .winnow/speed.yaml && git commit -m "winnow: speed"\n  winnow check .winnow/speed.yaml',
    )
  })

  releaseTest('says which program this machine does not have', async () => {
    const person = project({ ...NODE, 'pnpm-lock.yaml': '' })
    const { out } = await person.winnowWith({ env: { PATH: '/usr/bin:/bin' } }, 'init', '--no-check')
    expect(out).toContain('note: pnpm is not on the PATH of this machine')
  })

  releaseTest('takes a prefix that nobody else uses', async () => {
    const person = project(FILES)
    person.git('branch', 'optimize')
    const { out } = await person.winnow('init')
    expect(out).toContain('branches   winnow/…, because optimize is a branch that winnow did not make')
    expect(read(person, '.winnow/speed.yaml')).toContain('branches: { prefix: winnow }')
    person.commit('spec')
    expect((await person.winnow('run')).code).toBe(14)
    expect(person.refs()).toContain('refs/heads/winnow-state/speed')
  })

  it('reads what the remote has, and says that a push is needed', async () => {
    const person = clonedProject(FILES)
    person.git('checkout', '-q', '-b', 'feature')
    person.commit('gone', { 'bench/size.sh': 'exit 1' })
    const { code, out } = await person.winnow('init')
    expect(code).toBe(0)
    expect(out).toContain(
      'Next, on main:\n  git add .winnow/speed.yaml && git commit -m "winnow: speed" && git push',
    )
  })
})

describe('winnow init in a repository with several packages', () => {
  const MANY = {
    'package.json': '{"workspaces":["packages/*"]}',
    ...Object.fromEntries(
      Object.entries(NODE).flatMap(([path, text]) => [
        [`packages/a/${path}`, text],
        [`packages/b/${path}`, text],
      ]),
    ),
  }

  it('lists them and says how to choose', async () => {
    const person = project(MANY)
    const { code, err } = await person.winnow('init')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('has 2 packages: packages/a (n), packages/b (n)'),
    ])
    expect(untracked(person)).toBe('')
  })

  it('measures the one that is named, from wherever it is named', async () => {
    const person = project({ ...MANY, 'package-lock.json': '{}' })
    const directory = join(person.dir, 'packages')
    const { code, out } = await person.winnowWith({ directory }, 'init', '--package', './b', '--no-check')
    expect(code).toBe(0)
    expect(out).toContain('Wrote .winnow/b-speed.yaml')
    expect(read(person, '.winnow/b-speed.yaml')).toContain('working_directory: packages/b')
    expect(out).toContain('  git add ../.winnow/b-speed.yaml')
  })
})

describe('winnow init --goal', () => {
  it('drafts what the words say', async () => {
    const person = project(FILES)
    const { code, out } = await person.winnow('init', '--goal', 'use less memory in value', '--no-check')
    expect(code).toBe(0)
    expect(out).toContain('understood: memory: minimize max_rss_mb')
    expect(out).toContain('understood: it concerns src/value')
    expect(read(person, '.winnow/memory.yaml')).toContain('name: max_rss_mb')
  })

  releaseTest('drafts a judged one, and says what the harness has to print', async () => {
    const person = project(FILES)
    const { code, out, err } = await person.winnow('init', '--goal', 'friendlier error messages')
    expect([code, err]).toEqual([2, ''])
    expect(out).toContain('a model scores the items that the harness prints')
    expect(out).toContain('to do: bench/quality.mjs:8: the workload is a placeholder')
    expect(existsSync(join(person.dir, '.winnow/quality.yaml'))).toBe(true)
  })
})

describe('winnow init --goal that names nothing measurable', () => {
  it('says what it looks like and what is missing, and writes nothing', async () => {
    const person = project(FILES)
    const { code, err } = await person.winnow('init', '--goal', 'make it good')
    expect([code, err]).toEqual([2, expect.stringContaining('the goal "make it good" names no quality')])
    expect(err).toContain('It looks hard or judged, or both.')
    expect(untracked(person)).toBe('')
  })
})

describe('winnow init in a repository of prompts', () => {
  it('drafts a judged campaign that only lacks a model', async () => {
    const person = project({ 'README.md': 'x\n', 'skills/a/SKILL.md': '# A\n\n## Steps\n\nbe brief\n' })
    const { code, out, err } = await person.winnow('init')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('language   text')
    expect(out).toContain('warning: WINNOW_MODEL_URL is not set')
    expect(read(person, '.winnow/quality.yaml')).toContain('mutable: [skills/a/SKILL.md]')
    expect(read(person, 'bench/quality.mjs')).toContain('["Steps"]')
  })

  it('says that a command is missing if there are only texts about the project', async () => {
    const person = project({ 'README.md': 'x\n', LICENSE: 'x\n' })
    const { code, err } = await person.winnow('init')
    expect([code, err]).toEqual([2, expect.stringContaining('a text is committed here, but no program.')])
    expect(err).toContain('bench/outputs.sh')
    expect(untracked(person)).toBe('')
  })

  releaseTest('drafts a judged spec once there is one', async () => {
    const person = project({
      'README.md': 'x\n',
      'skills/a/SKILL.md': 'be brief\n',
      'bench/outputs.sh': 'echo \'{"items": [{"id": "a", "content": "b"}]}\'\n',
    })
    const { code } = await person.winnow('init', '--goal', 'clearer answers', '--no-check')
    expect(code).toBe(0)
    expect(read(person, '.winnow/quality.yaml')).toContain('command: sh bench/outputs.sh')
    expect(read(person, '.winnow/quality.yaml')).toContain('mutable: [README.md, skills/]')
  })
})

describe('winnow init --agent', () => {
  it('adds its lines once, and leaves the rest of the file alone', async () => {
    const person = project({ ...FILES, 'AGENTS.md': '# Mine\n\nBe kind.\n' })
    await person.winnow('init', '--agent', '--no-check')
    const once = read(person, 'AGENTS.md')
    expect(once).toMatch(
      /^# Mine\n\nBe kind\.\n\n<!-- winnow:speed -->\n(?:.+\n){6}<!-- \/winnow:speed -->\n$/,
    )
    const again = await person.winnow('init', '--agent')
    expect([again.code, again.out]).toEqual([0, 'AGENTS.md is up to date.\n'])
    expect(read(person, 'AGENTS.md')).toBe(once)
    await person.winnow('init', '--agent', '--name', 'other', '--no-check')
    const both = read(person, 'AGENTS.md')
    expect(both).toContain(`${once}\n<!-- winnow:other -->`)
    const unclear = await person.winnow('init', '--agent')
    expect([unclear.code, unclear.err]).toEqual([2, expect.stringContaining('several specs: other, speed')])
    expect((await person.winnow('init', '--agent', '--name', 'speed')).out).toBe('AGENTS.md is up to date.\n')
    expect(read(person, 'AGENTS.md')).toBe(both)
  })

  releaseTest('brings a changed block back, in its place', async () => {
    const person = project(FILES)
    await person.winnow('init', '--agent', '--no-check')
    const whole = read(person, 'AGENTS.md')
    person.write('AGENTS.md', `${whole.replace('winnow try', 'something')}\nAfter.\n`)
    await person.winnow('init', '--agent')
    expect(read(person, 'AGENTS.md')).toBe(`${whole}\nAfter.\n`)
  })
})

describe('winnow init where it cannot', () => {
  it.each(
    selectCases(
      [
        ['nothing is committed', () => projectIn(userRepository({ empty: true })), 'main has no commits'],
        [
          'there is no project',
          () => project({ 'photo.svg': 'x\n' }),
          'init found no committed project in a language that it knows',
        ],
      ],
      2,
    ),
  )('%s says so, and writes nothing', async (_, make, message) => {
    const person = make()
    const { code, err } = await person.winnow('init')
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
    expect(untracked(person)).toBe('')
  })

  it('is a bare repository', async () => {
    const person = project(FILES)
    const bare = join(scratch(), 'bare.git')
    person.git('clone', '-q', '--bare', person.dir, bare)
    const { code, err } = await person.winnowWith({ directory: bare }, 'init', '--remote', 'none')
    expect([code, err]).toEqual([2, expect.stringContaining('this is a bare repository')])
  })

  it.each(
    selectCases(
      [
        [['--name', 'Not Kebab'], 'cannot be a spec’s name'.replace('’', "'")],
        [['--language', 'rust'], 'no rust project was found here; found: shell'],
        [['--package', 'nope'], 'there is no package nope'],
      ],
      2,
    ),
  )('is told %j', async (options, message) => {
    const { code, err } = await project(FILES).winnow('init', ...options)
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  })
})
