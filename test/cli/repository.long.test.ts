import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clonedProject, FILES, project, SHORT } from './project.ts'
import { scratch } from '../git/scratch.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

describe('where winnow is started', () => {
  it('has to be a repository', async () => {
    const { code, err } = await project().winnow('-C', scratch(), 'status')
    expect(code).toBe(2)
    expect(err).toMatch(/^error: [^: ]+ is not in a git repository$/m)
    expect(err).toContain('fix: run winnow inside the repository to be optimised, or git init first')
  })

  it('is no mistake of winnow where a work tree has lost its repository', async () => {
    const { winnow, git, dir } = project()
    const linked = join(scratch(), 'linked')
    git('worktree', 'add', '-q', '--detach', linked)
    rmSync(join(dir, '.git', 'worktrees'), { recursive: true })
    const { code, err } = await winnow('-C', linked, 'status')
    expect([code, err]).toEqual([2, expect.stringContaining('is not in a git repository')])
  })

  it('has to be a directory that is there', async () => {
    const { err } = await project().winnow('-C', 'nowhere', 'status')
    expect(err).toMatch(/^error: .*nowhere: there is no directory .*nowhere$/m)
  })

  it('may be anywhere below the top of the repository', async () => {
    const { winnow, dir } = project()
    mkdirSync(join(dir, 'deep', 'er'), { recursive: true })
    expect((await winnow('-C', 'deep/er', 'check')).code).toBe(0)
  })

  it.each(selectCases([['run'], ['status'], ['pause'], ['log']]))(
    'has to have commits for winnow %s',
    async verb => {
      const dir = scratch()
      execFileSync('git', ['init', '-q', '-b', 'main', dir])
      const { code, err } = await project().winnow('-C', dir, verb)
      expect([code, err]).toEqual([
        2,
        'error: main has no commits yet\n  fix: commit the project first; winnow measures commits\n',
      ])
    },
  )

  it('may be bare: nothing is ever checked out where it is', async () => {
    const dir = join(scratch(), 'bare.git')
    const { dir: from, winnow } = project()
    execFileSync('git', ['clone', '-q', '--bare', from, dir])
    execFileSync('git', ['-C', dir, 'remote', 'remove', 'origin'])
    const { code, out, err } = await winnow('-C', dir, 'run')
    expect([code, out]).toEqual([14, expect.stringContaining('Waiting for ideas')])
    expect(err).toContain('campaign size started')
    expect((await winnow('-C', dir, 'audit')).code).toBe(0)
  })

  it('that is bare and has no spec says so', async () => {
    const dir = join(scratch(), 'bare.git')
    const { dir: from, winnow } = project({ 'src/value': 'x\n' })
    execFileSync('git', ['clone', '-q', '--bare', from, dir])
    const { code, err } = await winnow('-C', dir, 'run')
    expect([code, err]).toEqual([2, expect.stringContaining('the default branch has no spec')])
  })

  it('has a remote of the name that is given', async () => {
    const { winnow } = clonedProject()
    expect((await winnow('check', '--remote', 'upstream')).err).toBe(
      'error: there is no remote upstream; the remotes are origin\n  fix: name one with --remote, or --remote none to keep everything in this repository\n',
    )
  })

  releaseTest(
    'finds a remote by its relative path from every directory, and says the name in what to type',
    async () => {
      const { winnow, git, dir, write } = clonedProject()
      git('remote', 'set-url', 'origin', `./${relative(dir, git('remote', 'get-url', 'origin'))}`)
      write('src/value', SHORT)
      expect((await winnow('-C', join(dir, 'src'), 'try', '-m', 'shorter')).code).toBe(0)
      expect((await winnow('-C', join(dir, 'src'), 'doctor')).out).not.toContain('there is no remote')
      const { out } = await winnow('run')
      expect(out).toContain('git merge origin/optimize/size')
    },
  )

  releaseTest('keeps its branches to itself without a remote', async () => {
    const { winnow, refs, git } = clonedProject()
    expect((await winnow('run', '--remote', 'none')).code).toBe(14)
    expect(refs()).not.toContain('optimize')
    expect(git('branch', '--list', 'optimize/*')).toContain('optimize/size')
  })

  releaseTest('needs to know where to keep its own repository', async () => {
    const { dir } = project()
    const { runCommandLine: command } = await import('../../src/cli/run-command-line.ts')
    const said: string[] = []
    const quiet = {
      out: () => {},
      json: () => {},
      live: () => {},
      confirm: null,
      lines: async function* () {},
      err: (line: string) => said.push(line),
    }
    const started = { env: {}, directory: dir, pid: 1, version: '0' }
    expect(await command(['status'], started, quiet, new AbortController().signal)).toBe(2)
    expect(said.join('\n')).toBe(
      'error: winnow does not know where to keep its repository: HOME is not set\n  fix: set HOME or XDG_CACHE_HOME, or give --cache-dir',
    )
  })

  it('has a git that is new enough', async () => {
    const bin = scratch()
    writeFileSync(join(bin, 'git'), '#!/bin/sh\necho git version 2.37.9\n', { mode: 0o755 })
    const { code, err } = await project().winnowWith({ env: { PATH: `${bin}:/usr/bin:/bin` } }, 'run')
    expect([code, err]).toEqual([
      2,
      'error: git 2.37.9 is too old: winnow needs git 2.38 or newer\n  fix: upgrade git; nothing was written\n',
    ])
  })

  it('has a git that is there', async () => {
    const { winnowWith } = project()
    const { code, err } = await winnowWith({ env: { PATH: '/nowhere' } }, 'status')
    expect(code).toBe(2)
    expect(err).toBe('error: git was not found\n  fix: install git 2.38 or newer and put it on PATH\n')
  })

  it('tells a remote that cannot be reached, in its own words', async () => {
    const { winnow, git } = project()
    git('remote', 'add', 'origin', 'http://127.0.0.1:1/nothing.git')
    const { code, err } = await winnow('status')
    expect(code).toBe(69)
    expect(err).toContain('error: cannot read http://127.0.0.1:1/nothing.git')
  })
})

describe('a campaign that was never started', () => {
  it('is told by every verb that needs one, with how to start it', async () => {
    const { winnow } = project()
    const verbs = [
      'status',
      'log',
      'show 1',
      'tick',
      'measure',
      'note x',
      'pause',
      'resume',
      'stop',
      'archive',
    ]
    for (const words of [...verbs, 'revert 1', 'amend -m x', 'propose -m x', 'replay']) {
      const { code, err } = await winnow(...words.split(' '))
      expect([words, code, err]).toEqual([
        words,
        2,
        'error: no campaign size was started\n  fix: winnow run\n',
      ])
    }
  })

  it('cannot be started from a spec that is not committed', async () => {
    const { winnow, write } = project({ 'src/value': 'x\n' })
    write('.winnow/size.yaml', FILES['.winnow/size.yaml'])
    const { code, err } = await winnow('run', '.winnow/size.yaml')
    expect(code).toBe(2)
    expect(err).toContain('.winnow/size.yaml is not on the default branch')
    expect(err).toContain(
      'fix: commit it (and push): winnow reads specs from commits, not from the work tree',
    )
  })

  it('cannot be started from a broken spec, and says everything that is wrong', async () => {
    const broken = { ...FILES, '.winnow/size.yaml': 'winnow: 1\nscop: 1\n' }
    const { code, err } = await project(broken).winnow('run')
    expect(code).toBe(2)
    expect(err).toContain('.winnow/size.yaml:2:1')
  })

  it('cannot be started where the remote names a branch that is not there, and is told which', async () => {
    const { winnow, remote, git } = clonedProject()
    remote('symbolic-ref', 'HEAD', 'refs/heads/trunk')
    const path = git('remote', 'get-url', 'origin')
    for (const verb of ['run', 'check']) {
      const { code, err } = await winnow(verb)
      expect([verb, code, err]).toEqual([
        verb,
        2,
        'error: the HEAD of the remote names trunk, which is not there: it has main\n' +
          `  fix: push trunk, or git -C ${path} symbolic-ref HEAD refs/heads/main\n`,
      ])
    }
    remote('update-ref', '-d', 'refs/heads/main')
    expect((await winnow('run')).err).toContain('the remote names no default branch: it has no commits')
  })

  it('cannot be started where nothing is checked out', async () => {
    const { winnow, git } = project()
    git('checkout', '-q', '--detach')
    const { code, err } = await winnow('run', '--campaign', 'size')
    expect(code).toBe(2)
    expect(err).toContain('no branch is checked out, so the default branch is not known')
  })
})
