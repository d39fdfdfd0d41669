import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/run-command-line.ts'
import { getProgramCommand } from '../../src/cli/environment.ts'
import { describeFactCardRule } from '../../src/judge/fact-card-rule.ts'
import { describeSkillRule, listShownQualities } from '../../src/judge/skill-rule.ts'
import { scratch } from '../git/scratch.ts'
import { type Answer, project, type Project } from './project.ts'
import { releaseTest } from '../support/cases.ts'

const OUTCOMES = {
  'exp-001': 'kept',
  'exp-002': 'not_selected',
  'exp-003': 'runner_up_kept',
  'exp-004': 'runner_up_dropped',
  'exp-005': 'kept',
  'exp-006': 'dropped',
  'exp-007': 'degenerate',
  'exp-008': 'timeout',
  'exp-009': 'refused',
  'exp-010': null,
  'exp-011': null,
}

/** Lines that can be typed, below the last heading of that name; what follows # is for people. */
function commandsAfter({ out }: Answer, heading: string): string[] {
  const lines = out.slice(out.lastIndexOf(heading)).split('\n').slice(1)
  const end = lines.findIndex(line => !line.startsWith('  '))
  return lines.slice(0, end).map(line => line.replace(/ +#.*$/, '').trim())
}

/** What no two runs have in common. */
function masked(text: string): string {
  return (
    text
      .replace(/\b[0-9a-f]{12}\b/g, '<oid>')
      .replace(/winnow --cache-dir \S+/g, 'winnow')
      .replace(/^ {2}(cd|rm -rf) .*$/gm, '  $1')
      .replace(/ +(#.*)$/gm, ' $1')
      // What one execution can leave for the next depends on the machine.
      .replace(/^ {2}remember .*$/gm, '  remember')
      .replaceAll(', remember', '')
  )
}

/** Every line of output that a page shows. */
function shownIn(page: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/^```text\n([\s\S]*?)^```/gm)].map(([, block]) => masked(block ?? ''))
  return blocks
    .join('')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('$ '))
}

/** As a shell would call it, in that directory. */
function typed(person: Project, directory: string, command: string): Promise<Answer> {
  const [called = '', option, , ...argv] = command.split(' ')
  expect([called, option]).toEqual(['winnow', '--cache-dir'])
  return person.winnowWith({ directory, registries }, ...argv)
}

/** As the public ones answer: they have no package of the demo's name with its hash. */
const registries = { publishedAt: async () => null }

async function outcomesIn(person: Project, directory: string): Promise<Record<string, unknown>> {
  const { out } = await person.winnowWith({ directory }, 'status', '--json')
  const { experiments } = JSON.parse(out) as { experiments: { id: string; outcome: string | null }[] }
  return Object.fromEntries(experiments.map(({ id, outcome }) => [id, outcome]))
}

describe('the demo', () => {
  releaseTest(
    'runs a real campaign that comes to every outcome, and says what can be typed next',
    async () => {
      const person = project()
      const before = person.refs()
      const TMPDIR = scratch('winnow demo ')
      const shown = await person.winnowWith({ env: { TMPDIR }, registries }, 'demo')
      expect(shown.code, shown.err).toBe(0)
      expect(shown.err).toContain('exp-001 Kept: bytes 2995 -> 2013 (-32.8 %)')
      expect(shown.out).toContain('Since the baseline: bytes 2995 -> 1282 (-57.2 %).')
      expect(shown.out).toContain('Waiting for approval of static-huffman 2.1.0 (npm)')
      expect(person.refs()).toBe(before)

      const [cd = '', ...next] = commandsAfter(shown, 'Next:')
      const directory = cd.replace(/^cd '(.*)'$/, '$1')
      expect(directory.startsWith(TMPDIR)).toBe(true)
      expect(await outcomesIn(person, directory)).toEqual(OUTCOMES)
      const replayed = await person.winnowWith({ directory }, 'replay')
      expect([replayed.code, replayed.out]).toEqual([0, expect.stringContaining('no difference')])

      const answers: Answer[] = []
      for (const command of next) answers.push(await typed(person, directory, command))
      expect(next.map(command => command.split(' ').slice(3).join(' '))).toEqual([
        'show exp-004',
        'audit',
        'approve',
        'approve exp-010',
        'run',
      ])
      // exp-011 still waits for a person.
      expect(answers.map(({ code }) => code)).toEqual([0, 0, 0, 0, 14])
      expect(answers[0]?.out).toMatch(/^exp-004 Promising alone, harmful in combination/)
      expect(answers[1]?.out).toContain('no problem')
      expect(answers[2]?.out).toContain('static-huffman')
      expect(answers[4]?.out).toContain('Since the baseline: bytes 2995 -> 1045 (-65.1 %).')

      const [remove = ''] = commandsAfter({ ...shown, out: `${shown.out}\n` }, 'To remove all of it:')
      execFileSync('sh', ['-c', remove])
      expect(existsSync(directory)).toBe(false)

      const real = new Set(masked(`${shown.err}${shown.out}${answers[2]?.out}`).split('\n'))
      for (const page of ['demo.md', 'dependencies.md'])
        expect([page, shownIn(page).filter(line => !real.has(line))]).toEqual([page, []])
    },
    120_000,
  )

  it('is put where it is wanted, but over nothing', async () => {
    const person = project()
    const full = scratch('winnow-demo-')
    writeFileSync(join(full, 'mine.txt'), 'mine\n')
    const { code, err } = await person.winnow('demo', full)
    expect([code, err]).toEqual([2, expect.stringContaining(`${full} is not empty`)])
    expect(readFileSync(join(full, 'mine.txt'), 'utf8')).toBe('mine\n')
    const file = join(full, 'mine.txt')
    for (const [env, argv] of [
      [{}, [file]],
      [{ TMPDIR: join(full, 'nowhere') }, []],
    ] as const) {
      const refused = await person.winnowWith({ env }, 'demo', ...argv)
      expect([refused.code, refused.err]).toEqual([
        2,
        expect.stringContaining('winnow cannot create the demo there'),
      ])
    }
  })

  it('comes with the package', () => {
    const root = new URL('../..', import.meta.url).pathname
    const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }]
    const paths = new Set(files.map(({ path }) => path))
    const wanted = execFileSync(
      'git',
      ['-C', root, 'ls-files', 'fixtures/demo', 'fixtures/fact-cards', 'fixtures/skill'],
      {
        encoding: 'utf8',
      },
    )
    expect(
      wanted
        .trim()
        .split('\n')
        .filter(path => !paths.has(path)),
    ).toEqual([])
    const bundle = readdirSync(join(root, 'dist')).map(name => readFileSync(join(root, 'dist', name), 'utf8'))
    expect(bundle.some(text => text.includes('../fixtures/demo'))).toBe(true)
  })
})

describe('the demo of a skill', () => {
  it('keeps what earns its score, refuses the attempt to deceive the judge, and shows the cost', async () => {
    const person = project()
    const TMPDIR = scratch('winnow demo ')
    const shown = await person.winnowWith({ env: { TMPDIR } }, 'demo', '--skill')
    expect(shown.code, shown.err).toBe(0)
    expect(shown.out).toContain(describeSkillRule().join('\n'))
    expect(shown.out).toContain('Campaign skill (the harness is guarded)')
    const [cd = '', ...next] = commandsAfter(shown, 'Next:')
    const directory = cd.replace(/^cd '(.*)'$/, '$1')
    expect(await outcomesIn(person, directory)).toEqual({
      'exp-001': 'degenerate',
      'exp-002': 'kept',
      'exp-003': 'kept',
      'exp-004': 'kept',
    })
    expect(shown.out).toMatch(/\d USD for models\n/)
    expect(shown.out).toMatch(/The local model answered \d+ questions: .*\$0\.\d+ at .*Nothing was paid\./)
    const skill = execFileSync(
      'git',
      ['-C', directory, 'show', 'optimize/skill:skills/bug-reports/SKILL.md'],
      { encoding: 'utf8' },
    )
    expect(listShownQualities(skill)).toEqual(['steps', 'questions', 'example'])
    for (const command of next) expect((await typed(person, directory, command)).code, command).toBe(0)
    const replayed = await person.winnowWith({ directory }, 'replay')
    expect([replayed.code, replayed.out]).toEqual([0, expect.stringContaining('no difference')])
    const real = new Set(masked(`${shown.err}${shown.out}`).split('\n'))
    expect(shownIn('skills.md').filter(line => !real.has(line))).toEqual([])
  }, 400_000)
})

describe('the demo of the outer loop', () => {
  it('lowers the loss by what prompts earn, refuses keywords, and rolls back the update that harms', async () => {
    const person = project()
    const TMPDIR = scratch('winnow demo ')
    const shown = await person.winnowWith({ env: { TMPDIR } }, 'demo', '--outer-loop')
    expect(shown.code, shown.err).toBe(0)
    expect(shown.out).toContain(describeFactCardRule().join('\n'))
    expect(shown.out).toContain('Campaign fact-cards (the harness is guarded)')
    const [cd = '', ...next] = commandsAfter(shown, 'Next:')
    const directory = cd.replace(/^cd '(.*)'$/, '$1')
    expect(await outcomesIn(person, directory)).toMatchObject({
      'exp-001': 'kept',
      'exp-002': 'kept',
      'exp-003': 'degenerate',
      'exp-004': 'kept',
    })
    const { out } = await person.winnowWith({ directory }, 'inspect', '--json')
    const { epochs, artifacts } = JSON.parse(out) as {
      epochs: { mean: number; regressed: boolean; learning_rate: number; events: { type: string }[] }[]
      artifacts: { name: string; current: number; versions: unknown[] }[]
    }
    expect(epochs).toHaveLength(7)
    const means = epochs.map(({ mean }) => mean)
    const kept = means.filter((_, at) => epochs[at]?.regressed === false)
    expect(kept).toEqual(kept.toSorted((a, b) => b - a))
    expect(means.at(-1)).toBeLessThan((means[0] ?? 0) / 4)
    expect(epochs.map(({ regressed }) => regressed)).toEqual([false, false, false, false, true, false, false])
    expect(epochs.map(({ learning_rate: rate }) => rate)).toEqual([0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25])
    const rollbacks = epochs.flatMap(({ events }) => events).filter(({ type }) => type === 'rollback')
    expect(rollbacks).toMatchObject([
      { artifact: 'manager_planning_preamble', from_version: 2, to_version: 1 },
    ])
    expect(artifacts).toMatchObject([
      { name: 'worker_pitfalls', current: 2 },
      { name: 'manager_planning_preamble', current: 1 },
    ])
    expect(artifacts.map(({ versions }) => versions.length)).toEqual([3, 3])
    expect(shown.out).toMatch(/The local model answered \d+ questions: .*Nothing was paid\./)
    for (const command of next) expect((await typed(person, directory, command)).code, command).toBe(0)
    const replayed = await person.winnowWith({ directory }, 'replay')
    expect([replayed.code, replayed.out]).toEqual([0, expect.stringContaining('no difference')])
    const real = new Set(masked(`${shown.err}${shown.out}`).split('\n'))
    expect(shownIn('epochs.md').filter(line => !real.has(line))).toEqual([])
  }, 400_000)
})

describe('how winnow is called again', () => {
  it.each([
    ['/usr/bin/winnow', { PATH: '/bin:/usr/bin' }, 'winnow'],
    ['/usr/bin/git-winnow', { PATH: '/bin:/usr/bin' }, 'git-winnow'],
    ['/home/ada/winnow/dist/cli.js', { PATH: '/usr/bin' }, 'node /home/ada/winnow/dist/cli.js'],
    ['/home/my own/cli.js', { PATH: '/usr/bin' }, "node '/home/my own/cli.js'"],
    ['/opt/winnow', { PATH: '/usr/bin' }, 'node /opt/winnow'],
    ['/tmp/_npx/node_modules/.bin/winnow', { npm_command: 'exec' }, 'npx git-winnow'],
  ])('as %s it is typed as said', (script, env, expected) => {
    expect(getProgramCommand(script, env)).toBe(expected)
  })
})

describe('the demo at a terminal', () => {
  it('asks nothing on the way', async () => {
    const person = project()
    const over = new AbortController()
    let asked = false
    const words = {
      out: () => {},
      json: () => {},
      live: () => {},
      lines: async function* () {},
      err: (line: string) => {
        if (line.includes('started at')) over.abort()
      },
      confirm: async () => {
        asked = true
        return false
      },
    }
    const env = { PATH: process.env['PATH'] ?? '', HOME: person.cache, TMPDIR: scratch(), USER: 'ada' }
    const started = { env, directory: person.dir, pid: process.pid, version: '0' }
    await runCommandLine(['demo', '--cache-dir', person.cache], started, words, over.signal)
    expect([asked, over.signal.aborted]).toEqual([false, true])
  })
})
