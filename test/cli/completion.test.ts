import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { renderBashCompletion, renderFishCompletion, renderZshCompletion } from '../../src/cli/completion.ts'
import { VERBS } from '../../src/cli/registry.ts'
import { listOptions } from '../../src/cli/verb.ts'
import { FILES, project } from './project.ts'

const NAMES = VERBS.map(({ name }) => name)
const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

let dir: string
let revisions: string[]

beforeEach(() => {
  const hostile = { '.winnow/$(touch owned).yaml': '', '.winnow/a b.yaml': '', '.winnow/-x.yaml': '' }
  const person = project({ ...FILES, '.winnow/parser.yaml': '', ...hostile })
  person.git('branch', 'fast/path')
  person.git('branch', '$(touch${IFS}owned)')
  dir = person.dir
  revisions = ['fast/path', 'main']
})

/** What a person who types this sees offered, a line each; the last word is the one being typed. */
type Offers = (typed: readonly string[]) => string[]

function ask(shell: string, script: string, args: readonly string[] = []): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, LC_ALL: 'C.UTF-8' }
  const out = execFileSync(shell, [...args, script], { cwd: dir, env, encoding: 'utf8', stdio: 'pipe' })
  expect(existsSync(join(dir, 'owned')), 'a name from the repository was obeyed').toBe(false)
  return out
}

const asWord = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

const bash: Offers = typed => {
  const words = ['winnow', ...typed].map(asWord).join(' ')
  const script = `COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _winnow; printf '%s\n' "\${COMPREPLY[@]}"`
  return lines(ask('bash', `${renderBashCompletion(VERBS)}\n${script}`, ['--norc', '-c']))
}

const fish: Offers = typed => {
  const line = ['winnow', ...typed].join(' ')
  const out = ask('fish', `${renderFishCompletion(VERBS)}\ncomplete -C ${asWord(line)}`, [
    '--no-config',
    '-c',
  ])
  return lines(out).map(each => each.split('\t', 1).join())
}

function lines(out: string): string[] {
  return out.split('\n').filter(line => line !== '')
}

describe.each([
  ['bash', bash],
  ['fish', fish],
] as const)('completion for %s', (shell, offers) => {
  it.skipIf(!has(shell))('offers every command, and those that begin as typed', () => {
    expect(offers(['']).toSorted()).toEqual(NAMES.toSorted())
    expect(offers(['re']).toSorted()).toEqual(NAMES.filter(name => name.startsWith('re')).toSorted())
    expect(offers(['-C', '/', 'stat'])).toEqual(['status'])
    expect(offers(['help', 'arch'])).toEqual(['archive'])
    expect(offers(['help', 'al'])).toEqual(['all'])
  })

  it.skipIf(!has(shell))('offers the options of the command that stands there', () => {
    expect(offers(['propose', '--pri'])).toEqual(['--priority'])
    expect(offers(['status', '--pri'])).toEqual([])
    expect(offers(['run', '--w'])).toEqual(['--watch'])
  })

  it.skipIf(!has(shell))('offers the values of a closed list', () => {
    expect(offers(['propose', '--priority', '']).toSorted()).toEqual(['high', 'low', 'medium'])
    expect(offers(['propose', '-m', 'run', '--priority', 'm'])).toEqual(['medium'])
    expect(offers(['completion', 'z'])).toEqual(['zsh'])
    expect(offers(['completion', 'zsh', ''])).toEqual([])
    expect(offers(['pause', '-m', ''])).toEqual([])
  })

  it.skipIf(!has(shell))(
    'offers campaigns, branches, files and directories, and no name that a shell would obey',
    () => {
      for (const typed of [
        ['run', ''],
        ['status', '--campaign', ''],
      ]) {
        expect(offers(typed).toSorted()).toEqual(['parser', 'size'])
      }
      expect(offers(['propose', '']).toSorted()).toEqual(revisions)
      expect(offers(['measure', '--order', 'ben'])[0]).toMatch(/^bench/)
      expect(offers(['-C', 'sr'])[0]).toMatch(/^src/)
    },
  )
})

it('completion for bash understands a value that is attached', () => {
  expect(bash(['propose', '--priority', '=', 'h'])).toEqual(['high'])
  expect(bash(['propose', '--priority', '='])).toEqual(['high', 'medium', 'low'])
})

describe('completion for zsh', () => {
  it.skipIf(!has('zsh'))('completes in a shell that a person types into', () => {
    writeFileSync(join(dir, '_winnow'), renderZshCompletion(VERBS))
    const typed: [string, string][] = [
      ['winnow stat\t', 'status'],
      ['winnow propose --prio\thi\t', 'propose --priority high'],
      ['winnow propose --priority=h\t', 'propose --priority=high'],
      ['winnow -C / comple\tfi\t', '-C / completion fish'],
      ['winnow run par\t', 'run parser'],
      ['winnow status --campaign si\t', 'status --campaign size'],
      ['winnow propose fast\t', 'propose fast/path'],
      ['winnow help repl\t', 'help replay'],
    ]
    const begin = `PS1=''; autoload -Uz compinit && compinit -u -D; winnow() { print -r -- "GOT $* END" }`
    const script = [
      'zmodload zsh/zpty',
      'zpty person "zsh -f -i"',
      `zpty -w person ${asWord(`${begin}; source ./_winnow; print REA''DY`)}`,
      "zpty -r person seen '*READY*'",
      ...typed.flatMap(([keys]) => [
        `zpty -w person $'${keys.replaceAll('\t', '\\t')}'`,
        "zpty -r person seen '*GOT*END*'",
        'seen=${seen##*GOT }',
        'print -r -- "${seen%% END*}"',
      ]),
      'zpty -d person',
    ]
    const answers = lines(ask('zsh', script.join('\n'), ['-f', '-c'])).map(line => line.trim())
    expect(answers).toEqual(typed.map(([, expected]) => expected))
  })
})

describe('winnow completion', () => {
  it.each([
    ['bash', renderBashCompletion],
    ['zsh', renderZshCompletion],
    ['fish', renderFishCompletion],
  ])('prints what %s reads, with where to put it', async (shell, script) => {
    const { code, out, err } = await project().winnowWith({ directory: '/' }, 'completion', shell)
    expect([code, out, err]).toEqual([0, script(VERBS), ''])
    expect(out).toMatch(new RegExp(`^# In .*winnow completion ${shell}`, 'm'))
    for (const verb of VERBS) {
      expect(out).toContain(verb.name)
      for (const { name } of listOptions(verb)) expect(out).toMatch(new RegExp(`--${name}|-l ${name}\\b`))
    }
  })

  it('names the shells it knows', async () => {
    const { code, err } = await project().winnowWith({ directory: '/' }, 'completion', 'tcsh')
    expect(code).toBe(2)
    expect(err).toBe('error: <shell> of winnow completion cannot be "tcsh"\n  fix: give bash, zsh or fish\n')
  })
})
