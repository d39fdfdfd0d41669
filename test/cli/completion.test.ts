import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { completionVerb } from '../../src/cli/completion.ts'
import { VERBS } from '../../src/cli/registry.ts'
import { FILES, type Project, project } from './project.ts'

const NAMES = VERBS.map(({ name }) => name)
const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

let person: Project

beforeEach(() => {
  const hostile = { '.winnow/$(touch owned).yaml': '', '.winnow/a b.yaml': '', '.winnow/-x.yaml': '' }
  person = project({ ...FILES, '.winnow/parser.yaml': '', ...hostile })
  person.git('branch', 'fast/path')
  person.git('branch', '$(touch${IFS}owned)')
  person.git('branch', 'winnow-exp/size/exp-001')
  person.git('update-ref', 'refs/remotes/origin/winnow-exp/size/exp-012', 'HEAD')
})

/** The values offered for the last of the words. */
async function complete(...typed: string[]): Promise<string[]> {
  const { code, out, err } = await person.winnow('complete', '--', 'winnow', ...typed)
  expect([code, err]).toEqual([0, ''])
  return listLines(out).map(line => line.split('\t', 1).join())
}

function listLines(text: string): string[] {
  return text.split('\n').filter(line => line !== '')
}

describe('winnow complete', () => {
  it('offers every command, and those that begin as typed', async () => {
    expect((await complete('')).toSorted()).toEqual(NAMES.toSorted())
    expect((await complete('re')).toSorted()).toEqual(NAMES.filter(name => name.startsWith('re')).toSorted())
    expect(await complete('-C', '/', 'stat')).toEqual(['status'])
    expect(await complete('help', 'arch')).toEqual(['archive'])
    expect(await complete('help', 'al')).toEqual(['all'])
  })

  it('adds the summary of each command', async () => {
    const { out } = await person.winnow('complete', '--', 'winnow', 'version')
    expect(out).toBe('version\tprint the version\n')
  })

  it('offers the options of the command', async () => {
    expect(await complete('propose', '--pri')).toEqual(['--priority'])
    expect(await complete('status', '--pri')).toEqual([])
    expect(await complete('run', '--w')).toEqual(['--watch'])
    expect(await complete('--dir')).toEqual(['--directory'])
  })

  it('offers the values of a closed list', async () => {
    expect(await complete('propose', '--priority', '')).toEqual(['high', 'medium', 'low'])
    expect(await complete('propose', '-m', 'run', '--priority', 'm')).toEqual(['medium'])
    expect(await complete('completion', 'z')).toEqual(['zsh'])
    expect(await complete('completion', 'zsh', '')).toEqual([])
    expect(await complete('pause', '-m', '')).toEqual([])
  })

  it('completes an attached value, as one word or as bash splits it', async () => {
    expect(await complete('propose', '--priority=h')).toEqual(['high'])
    expect(await complete('propose', '--priority', '=', 'h')).toEqual(['high'])
    expect(await complete('propose', '--priority', '=')).toEqual(['high', 'medium', 'low'])
  })

  it('offers campaigns, branches and experiments, but no name that a shell would expand', async () => {
    expect((await complete('run', '')).toSorted()).toEqual(['parser', 'size'])
    expect((await complete('status', '--campaign', '')).toSorted()).toEqual(['parser', 'size'])
    expect(await complete('propose', 'f')).toEqual(['fast/path'])
    expect(await complete('propose', '$')).toEqual([])
    expect(await complete('show', '')).toEqual(['exp-001', 'exp-012'])
  })

  it('leaves files and directories to the shell', async () => {
    expect(await complete('measure', '--order', 'ben')).toEqual([':files'])
    expect(await complete('-C', 'sr')).toEqual([':directories'])
    expect(await complete('compare', 'main', '--', 'n')).toEqual([':files'])
  })

  it('offers no names outside a repository', async () => {
    const { code, out } = await person.winnowWith({ directory: '/' }, 'complete', '--', 'winnow', 'run', '')
    expect([code, out]).toEqual([0, ''])
  })
})

/** Runs a script in a shell whose `winnow` records its arguments and prints the given offers. */
async function runInShell(
  shell: string,
  offers: string,
  render: (script: string) => string[],
): Promise<string[]> {
  const { dir } = person
  mkdirSync(join(dir, 'bin'), { recursive: true })
  writeFileSync(join(dir, 'offers'), offers)
  writeFileSync(join(dir, 'bin', 'winnow'), '#!/bin/sh\nprintf "%s\\n" "$@" > asked\ncat offers\n')
  chmodSync(join(dir, 'bin', 'winnow'), 0o755)
  const script = (await person.winnow('completion', shell)).out
  const env = { PATH: `${join(dir, 'bin')}:${process.env['PATH']}`, HOME: dir, LC_ALL: 'C.UTF-8' }
  const out = execFileSync(shell, render(script), { cwd: dir, env, encoding: 'utf8', stdio: 'pipe' })
  expect(existsSync(join(dir, 'owned')), 'the shell expanded a name').toBe(false)
  return listLines(out)
}

const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

const SHELLS: Readonly<Record<string, (typed: readonly string[]) => (script: string) => string[]>> = {
  bash: typed => script => {
    const words = `COMP_WORDS=(${typed.map(quote).join(' ')}); COMP_CWORD=${typed.length - 1}`
    return ['--norc', '-c', `${script}\n${words}; _winnow; printf '%s\n' "\${COMPREPLY[@]}"`]
  },
  fish: typed => script => ['--no-config', '-c', `${script}\ncomplete -C ${quote(typed.join(' '))}`],
}

describe.each(Object.entries(SHELLS))('the script for %s', (shell, type) => {
  const offer = async (offers: string, ...typed: string[]) =>
    (await runInShell(shell, offers, type(['winnow', ...typed]))).map(line => line.split('\t', 1).join())

  it.skipIf(!isInstalled(shell))('passes the words up to the cursor, and shows what is offered', async () => {
    expect(await offer('high\tfirst\nmedium\n', 'propose', '--priority', '')).toEqual(['high', 'medium'])
    expect(listLines(execFileSync('cat', [join(person.dir, 'asked')], { encoding: 'utf8' }))).toEqual([
      'complete',
      '--',
      'winnow',
      'propose',
      '--priority',
    ])
  })

  it.skipIf(!isInstalled(shell))('executes nothing that is typed or offered', async () => {
    await offer('$(touch owned)\n`touch owned`\n', 'run', '')
    await offer('size\n', 'run', '$(touch owned)', '')
  })

  it.skipIf(!isInstalled(shell))('completes files and directories', async () => {
    expect((await offer(':files\n', 'decide', 'ben'))[0]).toMatch(/^bench/)
    expect((await offer(':directories\n', '-C', 'sr'))[0]).toMatch(/^src/)
  })
})

describe('the script for zsh', () => {
  it.skipIf(!isInstalled('zsh'))('completes in an interactive shell', async () => {
    const typed: [string, string, string][] = [
      ['winnow stat\t', 'status\tprint: the status', 'status'],
      ['winnow propose --priority hi\t', 'high', 'propose --priority high'],
      ['winnow propose --priority=h\t', 'high', 'propose --priority=high'],
      ['winnow propose fast\t', 'fast/path', 'propose fast/path'],
      ['winnow decide ben\t', ':files', 'decide bench'],
    ]
    for (const [keys, offers, expected] of typed) {
      const begin = `PS1=''; autoload -Uz compinit && compinit -u -D`
      const show = `winnow() { if [[ $1 = complete ]]; then command winnow "$@"; else print -r -- "GOT $* END"; fi }`
      const answer = await runInShell('zsh', `${offers}\n`, script => {
        writeFileSync(join(person.dir, '_winnow'), script)
        return [
          '-f',
          '-c',
          [
            'zmodload zsh/zpty',
            'zpty person "zsh -f -i"',
            `zpty -w person ${quote(`${begin}; source ./_winnow; ${show}; print REA''DY`)}`,
            "zpty -r person seen '*READY*'",
            `zpty -w person $'${keys.replaceAll('\t', '\\t')}'`,
            "zpty -r person seen '*GOT*END*'",
            'seen=${seen##*GOT }',
            'print -r -- "${seen%% END*}"',
            'zpty -d person',
          ].join('\n'),
        ]
      })
      expect(answer.map(line => line.trim())).toEqual([expected])
    }
  })
})

describe('winnow completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints the script for %s, which says where to put it', async shell => {
    const { code, out, err } = await project().winnowWith({ directory: '/' }, 'completion', shell)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(new RegExp(`^# In .*winnow completion ${shell}`, 'm'))
    expect(completionVerb.arguments?.[0]?.values).toContain(shell)
  })
})
