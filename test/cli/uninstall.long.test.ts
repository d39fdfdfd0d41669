import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLocalRunId } from '../../src/engine/jobs/machine-lock.ts'
import { findProcess } from '../../src/measure/process/leftovers.ts'
import { getBootId } from '../../src/measure/machine.ts'
import { describeMachineLeftovers } from '../../src/cli/uninstall.ts'
import { gitIn, scratch } from '../git/scratch.ts'
import { clonedProject, FILES, offer, type Project, project, proven, SHORT, SPEC } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

function savedIn(dir: string): string[] {
  return readdirSync(dir).filter(name => name.endsWith('.bundle'))
}

function commandAfter(out: string): string {
  return /to restore it: (.*)/.exec(out)?.[1] ?? ''
}

function branches(person: Project): string[] {
  return person
    .refs()
    .split('\n')
    .flatMap(line => /^refs\/heads\/(\S+)/.exec(line)?.[1] ?? [])
}

/** One for each repository. */
function ownDirectories(person: Project): string[] {
  return readdirSync(person.cache).filter(name => /^[0-9a-f]{20}$/.test(name))
}

async function campaign(make: () => Project): Promise<Project> {
  const person = make()
  await person.winnow('run')
  await offer(person, SHORT)
  await offer(person, `${'a'.repeat(149)}\n`)
  await person.winnow('run')
  return person
}

it('names what it saves of a bare repository after that', async () => {
  const person = project()
  await person.winnow('run')
  const [bare, save] = [join(scratch(), 'counter.git'), scratch('winnow-saved-')]
  person.git('clone', '-q', '--bare', '.', bare)
  const { code } = await person.winnowWith(
    { directory: bare },
    'uninstall',
    '--remote',
    'none',
    '--save',
    save,
  )
  expect([code, savedIn(save)]).toEqual([0, [expect.stringMatching(/^winnow-counter-\d/)]])
})

describe.each(
  selectCases([
    ['without a remote', () => project()],
    ['with a remote', () => clonedProject()],
  ]),
)('uninstall %s', (_, make) => {
  it('removes everything winnow made, and what was saved brings it back whole', async () => {
    const person = await campaign(make)
    person.git('branch', 'optimize-images')
    const before = person.refs()
    const dry = await person.winnow('uninstall', '--dry-run')
    expect(dry.out).toMatch(/^Nothing was removed. It would remove:\n {2}optimize/)
    expect([dry.code, person.refs()]).toEqual([0, before])

    const save = scratch('winnow-saved-')
    const { code, out, err } = await person.winnow('uninstall', '--save', save)
    expect([code, err]).toEqual([0, ''])
    expect(branches(person).filter(name => name !== 'optimize-images')).toEqual(['main'])
    expect(ownDirectories(person)).toEqual([])
    expect(person.git('status', '--porcelain')).toBe('')
    expect(out).toContain('Kept: .winnow/size.yaml (--purge removes them)')

    const [file] = savedIn(save)
    expect(file).toMatch(/^winnow-[\w-]+-\d{8}-\d{6}\.bundle$/)
    expect(person.git('bundle', 'verify', join(save, file ?? ''))).toContain('records a complete history')
    const again = await person.winnow('uninstall')
    expect([again.code, again.out.split('\n')[0]]).toEqual([0, 'Nothing to remove.'])
    expect(ownDirectories(person)).toEqual([])

    for (const part of commandAfter(out).split(' && ')) {
      person.git(
        ...part
          .split(' ')
          .slice(1)
          .map(word => word.replaceAll("'", '')),
      )
    }
    expect(branches(person).filter(name => name !== 'optimize-images')).toEqual(
      before.split('\n').flatMap(line => /^refs\/heads\/(?!optimize-images)(\S+)/.exec(line)?.[1] ?? []),
    )
    await proven(person)
  })
})

describe('uninstall', () => {
  it('removes what was put aside, and campaigns of every prefix', async () => {
    const person = project({
      ...FILES,
      '.winnow/other.yaml': `${SPEC}branches: { prefix: try-out }\n`,
    })
    await person.winnow('run', '.winnow/size.yaml')
    await person.winnow('archive', '--campaign', 'size')
    await person.winnow('run', '.winnow/other.yaml')
    expect(branches(person).some(name => name.startsWith('optimize-archive/size/'))).toBe(true)
    expect((await person.winnow('uninstall', '--save', scratch())).code).toBe(0)
    expect(branches(person)).toEqual(['main'])
  })

  it('leaves alone what only looks like its own', async () => {
    const person = project()
    for (const name of ['optimize/images', 'optimize/size', 'optimize-state/notes'])
      person.git('branch', name)
    await person.winnow('propose', 'main', '-m', 'x')
    const { code, out } = await person.winnow('uninstall', '--save', scratch())
    expect(code).toBe(0)
    expect(branches(person)).toEqual(['main', 'optimize-state/notes', 'optimize/images', 'optimize/size'])
    for (const name of ['optimize/size', 'optimize-state/notes'])
      expect(out).toContain(`Kept: branch ${name}, which no ledger of winnow claims`)
  })

  releaseTest('removes specs and the lines for agents with --purge only', async () => {
    const person = project({ ...FILES, 'AGENTS.md': '# Mine\n' })
    await person.winnow('init', '--agent')
    expect(readFileSync(join(person.dir, 'AGENTS.md'), 'utf8')).toContain('winnow:size')
    await person.winnow('uninstall')
    const kept = await person.winnow('uninstall')
    const own = 'Kept: .winnow/size.yaml, the lines for winnow in AGENTS.md (--purge removes them)'
    expect(kept.out).toBe(`${['Nothing to remove.', own, ...describeMachineLeftovers()].join('\n')}\n`)
    const { out } = await person.winnow('uninstall', '--purge')
    expect(out).toContain('Removed. winnow also deleted its files from the work tree; commit that.')
    expect(existsSync(join(person.dir, '.winnow'))).toBe(false)
    expect(readFileSync(join(person.dir, 'AGENTS.md'), 'utf8')).toBe('# Mine\n')
    expect(savedIn(person.dir)).toEqual([])
  })

  releaseTest('lists the workflows that winnow wrote, and removes them with --purge', async () => {
    const person = project({ ...FILES, '.github/workflows/ci.yml': 'on: push\n' })
    const action = `owner/winnow@${'a'.repeat(40)}`
    expect((await person.winnow('init', '--github', '--action', action)).code).toBe(0)
    person.git('add', '.')
    person.git('commit', '-qm', 'ci: winnow')
    const own = ['.github/workflows/winnow.yml', '.github/actions/winnow-setup/action.yml']
    const kept = await person.winnow('uninstall')
    expect(kept.out).toContain(`Kept: .winnow/size.yaml, ${own.join(', ')} (--purge removes them)`)
    expect(own.every(path => existsSync(join(person.dir, path)))).toBe(true)

    const { out } = await person.winnow('uninstall', '--purge')
    for (const path of own) expect(out).toContain(`  ${path}\n`)
    expect(own.some(path => existsSync(join(person.dir, path)))).toBe(false)
    expect(existsSync(join(person.dir, '.github/actions/winnow-setup'))).toBe(false)
    expect(existsSync(join(person.dir, '.github/workflows/ci.yml'))).toBe(true)
  })

  releaseTest('leaves a workflow of the same name that is no work of winnow', async () => {
    const person = project({ ...FILES, '.github/workflows/winnow.yml': 'on: push # grain\n' })
    await person.winnow('uninstall', '--purge')
    expect(existsSync(join(person.dir, '.github/workflows/winnow.yml'))).toBe(true)
  })

  it('removes nothing behind a link that is called .winnow', async () => {
    const person = project({ 'notes/mine': 'mine\n' })
    rmSync(join(person.dir, '.winnow'), { recursive: true, force: true })
    symlinkSync('notes', join(person.dir, '.winnow'))
    expect((await person.winnow('uninstall', '--purge', '--remote', 'none')).code).toBe(0)
    expect(existsSync(join(person.dir, 'notes/mine'))).toBe(true)
  })

  releaseTest('saves in the directory where it is started, and says when there is none', async () => {
    const person = project()
    await person.winnow('run')
    person.write('notes', 'a file')
    const noFolder = await person.winnow('uninstall', '--save', 'notes')
    expect([noFolder.code, noFolder.err]).toEqual([2, expect.stringContaining('nothing was removed')])
    const missing = await person.winnow('uninstall', '--save', 'nowhere')
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('nowhere; nothing was removed')])
    await person.winnow('uninstall')
    expect(savedIn(person.dir)).toHaveLength(1)
  })

  releaseTest('waits for a branch that is checked out, and names the worktree', async () => {
    const person = project()
    await person.winnow('run')
    const tree = join(scratch(), 'tree')
    person.git('worktree', 'add', '-q', tree, 'optimize/size')
    const before = person.refs()
    const { code, err } = await person.winnow('uninstall')
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^error: optimize\/size is checked out in \S+tree; nothing was removed$/m),
    ])
    expect([person.refs(), savedIn(person.dir)]).toEqual([before, []])
  })

  it('refuses while a run is alive, and not for one that was killed', async () => {
    const person = project()
    await person.winnow('run')
    const [dataDir] = ownDirectories(person)
    const present = join(person.cache, dataDir ?? '', 'campaigns/size/present')
    expect(readdirSync(present)).toEqual([])

    const other = spawn('sleep', ['60'])
    const pid = other.pid ?? 0
    const entry = await findProcess(pid)
    mkdirSync(present, { recursive: true })
    writeFileSync(
      join(present, 'a.json'),
      JSON.stringify({ run_id: `local:${getBootId()}:${pid}:${entry?.started}`, pid }),
    )
    const refused = await person.winnow('uninstall')
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining(`campaign size is run by process ${pid} on this machine; nothing was removed`),
    ])
    other.kill('SIGKILL')
    await new Promise(done => other.once('exit', done))
    expect((await person.winnow('uninstall', '--save', scratch())).code).toBe(0)
    expect(await readLocalRunId()).not.toContain(`:${pid}:`)
  })

  releaseTest('removes what was made without the remote as well', async () => {
    const person = clonedProject()
    await person.winnow('run')
    await person.winnow('run', '--remote', 'none')
    const here = gitIn(person.dir)
    expect(here('branch', '--list', 'optimize*')).toContain('optimize-state/size')
    const save = scratch()
    const { out } = await person.winnow('uninstall', '--save', save)
    expect(out).toContain('optimize/size in the remote')
    expect(out).toContain('optimize/size in this repository')
    expect(savedIn(save)).toHaveLength(2)
    expect([branches(person), here('branch', '--list', 'optimize*')]).toEqual([['main'], ''])
  })
})
