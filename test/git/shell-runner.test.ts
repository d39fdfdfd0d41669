import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildLocalIsolation } from '../../src/git/isolation.ts'
import { createGitRunner, type GitOutput, type GitRunner, type GitTask } from '../../src/git/runner.ts'
import { createShellRunner } from '../../src/git/shell-runner.ts'
import { bareRemote, scratch } from './scratch.ts'

const ENV = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }

function shells(dir: string, extra: Record<string, string> = {}) {
  const isolation = buildLocalIsolation(dir, ENV)
  const runner = createShellRunner({ ...isolation, env: { ...isolation.env, GIT_DIR: dir, ...extra } })
  onTestFinished(() => runner.close())
  return runner
}

function command(args: string[], more: Partial<GitTask<GitOutput>> = {}): GitTask<GitOutput> {
  return { args, answers: [1, 2, 128, 129], parse: output => output, ...more }
}

/** Puts a `git` with this script before the real one on PATH. */
function fakeGit(script: string): string {
  const bin = scratch()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, 'git'), 0o755)
  return `${bin}:${ENV.PATH}`
}

describe('git started by a shell', () => {
  it.each([
    ['output', ['rev-parse', '--is-bare-repository']],
    ['no output', ['for-each-ref']],
    ['an error and its exit code', ['rev-parse', '--verify', 'no-such-thing']],
    ['a usage error', ['cat-file', '--no-such-option']],
    [
      'arguments with special characters',
      ['rev-parse', '--sq-quote', "it's", '$HOME `id` "x"', 'a\nb', '*', '', '\\n', ';'],
    ],
  ])('gives the same output as simple-git: %s', async (_, args) => {
    const { dir } = bareRemote()
    const direct = createGitRunner(buildLocalIsolation(dir, ENV), { GIT_DIR: dir })
    expect(await shells(dir).run(command(args))).toEqual(await direct.run(command(args)))
  })

  it('throws for an exit code that is no answer', async () => {
    const { dir } = bareRemote()
    await expect(shells(dir).run({ args: ['cat-file', '-e', 'nothing'], parse: () => null })).rejects.toThrow(
      'Not a valid object name nothing',
    )
  })

  it('sets variables for one command only', async () => {
    const { dir } = bareRemote()
    const runner = shells(dir)
    const author = command(['var', 'GIT_AUTHOR_IDENT'])
    const env = { GIT_AUTHOR_NAME: "O'Neil $x", GIT_AUTHOR_EMAIL: 'a b', GIT_AUTHOR_DATE: '1700000000 +0000' }
    expect((await runner.run({ ...author, env })).stdout).toBe("O'Neil $x <a b> 1700000000 +0000\n")
    expect((await runner.run(author)).stdout).not.toContain("O'Neil")
  })

  it('returns long output whole and never mixes commands', async () => {
    const { dir } = bareRemote()
    const PATH = fakeGit(
      'for last; do :; done; head -c 300000 /dev/zero | tr "\\0" "$last"; printf "no newline" >&2; exit 1',
    )
    const runner: GitRunner = shells(dir, { PATH })
    const letters = 'a b c d e f g h i j k l m n o p q r s t'.split(' ')
    const outputs = await Promise.all(letters.map(letter => runner.run(command([letter]))))
    expect(outputs).toEqual(
      letters.map(letter => ({ exitCode: 1, stdout: letter.repeat(300_000), stderr: 'no newline' })),
    )
  })

  it('does not mistake output for the end of a command', async () => {
    const { dir } = bareRemote()
    const PATH = fakeGit("printf '%032d0\\n' 0; printf 'END 0\\n'; echo e >&2; exit 2")
    const { exitCode, stdout } = await shells(dir, { PATH }).run(command(['x']))
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: `${'0'.repeat(33)}\nEND 0\n` })
  })

  it('imports no function from the environment', async () => {
    const { dir } = bareRemote()
    const runner = shells(dir, { 'BASH_FUNC_git%%': '() { echo forged; }' })
    expect((await runner.run(command(['rev-parse', '--is-bare-repository']))).stdout).toBe('true\n')
  })

  it('reports a killed shell and starts another', async () => {
    const { dir } = bareRemote()
    const runner = shells(dir, { PATH: fakeGit('kill -9 $PPID') })
    await expect(runner.run(command(['x']))).rejects.toThrow('the shell that starts git stopped')
    await expect(runner.run(command(['x']))).rejects.toThrow('the shell that starts git stopped')
  })

  it('does not keep node alive', () => {
    const dir = join(scratch(), 'repo')
    mkdirSync(dir)
    const file = (name: string) => join(import.meta.dirname, '../../src/git', name)
    const program = `
      import { createShellRunner } from ${JSON.stringify(file('shell-runner.ts'))}
      import { buildLocalIsolation } from ${JSON.stringify(file('isolation.ts'))}
      const runner = createShellRunner(buildLocalIsolation(${JSON.stringify(dir)}, process.env))
      console.log(await runner.run({ args: ['version'], parse: ({ stdout }) => stdout.slice(0, 11) }))`
    writeFileSync(join(dir, 'program.ts'), program)
    const bundle = join(import.meta.dirname, '../../node_modules/.bin/rolldown')
    execFileSync(bundle, ['program.ts', '--platform=node', '--format=esm', '-o', 'program.mjs'], {
      cwd: dir,
      stdio: 'pipe',
    })
    expect(execFileSync('node', ['program.mjs'], { cwd: dir, encoding: 'utf8' })).toBe('git version\n')
  })
})
