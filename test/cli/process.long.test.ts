import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { scratch } from '../git/scratch.ts'
import { AScreen } from './a-screen.ts'
import { clonedProject, FILES, offer, type Project, project, proven, SHORT, SPEC } from './project.ts'
import { releaseTest } from '../support/cases.ts'

let bundle: string

beforeAll(async () => {
  bundle = mkdtempSync(join(tmpdir(), 'winnow-bundle-'))
  const built = await rolldown({
    input: { cli: 'src/cli/main.ts' },
    platform: 'node',
    logLevel: 'silent',
    cwd: join(import.meta.dirname, '..', '..'),
  })
  await built.write({ dir: join(bundle, 'dist'), format: 'esm', entryFileNames: '[name].js' })
  await built.close()
})

afterAll(() => rmSync(bundle, { recursive: true, force: true }))

function start({ dir, cache }: Project, argv: string[], env: Record<string, string> = {}): ChildProcess {
  const own = { PATH: process.env['PATH'] ?? '', HOME: cache, USER: 'ada', ...env }
  const args = [join(bundle, 'dist', 'cli.js'), ...argv, '--cache-dir', cache]
  return spawn(process.execPath, args, { cwd: dir, env: own, stdio: ['pipe', 'pipe', 'pipe'] })
}

interface Ended {
  code: number | null
  signal: string | null
  out: string
  err: string
}

async function ended(child: ChildProcess): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout?.on('data', chunk => (out += String(chunk)))
  child.stderr?.on('data', chunk => (err += String(chunk)))
  await once(child, 'close')
  return { code: child.exitCode, signal: child.signalCode, out, err }
}

/** Resolves when this was said there. */
function said(stream: Readable | null, words: string): Promise<void> {
  let text = ''
  return new Promise(resolve => {
    stream?.on('data', chunk => {
      text += String(chunk)
      if (text.includes(words)) resolve()
    })
  })
}

describe('the bundled command', () => {
  it('prints its version, and ends by itself', async () => {
    expect(await ended(start(project(), ['--version']))).toMatchObject({
      code: 0,
      out: `${packageJson.version}\n`,
      err: '',
    })
  })

  it('ends with the exit code of what went wrong, and no stack', async () => {
    const { code, err } = await ended(start(project(), ['status']))
    expect([code, err]).toEqual([2, 'error: no campaign size was started\n  fix: winnow run\n'])
  })

  releaseTest('sends people on Windows to WSL', async () => {
    const pretend = 'Object.defineProperty(process,"platform",{value:"win32"})'
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(pretend)}`
    expect(await ended(start(project(), ['run'], { NODE_OPTIONS }))).toMatchObject({
      code: 2,
      err: 'error: winnow runs on Linux and macOS; on Windows use it inside WSL.\n',
    })
  })

  it('runs a campaign', async () => {
    const person = project()
    const { code, err, out } = await ended(start(person, ['run']))
    expect([code, err]).toEqual([14, expect.stringContaining('calibrated: deterministic')])
    expect(out).toContain('Waiting for ideas')
    expect((await person.winnow('audit')).code).toBe(0)
  })

  it('reads standard input', async () => {
    const child = start(project(), ['decide', '--jsonl'])
    child.stdin?.end('{"spec": {}}\n')
    expect(await ended(child)).toMatchObject({ code: 2, err: expect.stringContaining('line 1: payload') })
  })

  it('ends quietly when its reader goes away', async () => {
    const person = project()
    await person.winnow('run')
    const child = start(person, ['log', '--json'])
    child.stdout?.destroy()
    const { code, err } = await ended(child)
    expect([code, err]).toEqual([0, ''])
  })

  it('ends by its own hand where a test says so, and the next run finishes the work', async () => {
    const person = project()
    const killed = await ended(start(person, ['run'], { WINNOW_FAULT: 'commit:after-push:2' }))
    expect(killed.signal).toBe('SIGKILL')
    expect((await person.winnow('run')).code).toBe(14)
    expect((await person.winnow('audit')).code).toBe(0)
    const wrong = await ended(start(person, ['status'], { WINNOW_FAULT: 'sometimes' }))
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('WINNOW_FAULT is "sometimes"')])
  })
})

const HAS_SCRIPT = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

/** The command on a terminal of so many columns. */
function onTerminal({ dir, cache }: Project, columns: number, argv: string[], more = {}): ChildProcess {
  const line = [process.execPath, join(bundle, 'dist', 'cli.js'), ...argv, '--cache-dir', cache].join(' ')
  const env = { PATH: process.env['PATH'] ?? '', HOME: cache, USER: 'ada', TERM: 'xterm', ...more }
  const shell = `stty cols ${columns}; exec ${line}`
  return spawn('script', ['-qec', shell, '/dev/null'], { cwd: dir, env, stdio: ['pipe', 'pipe', 'pipe'] })
}

const ESCAPE = String.fromCodePoint(27)
const MOVES = new RegExp(`[\r${ESCAPE}]`)

/** A person with an idea, and a harness that says when it runs, and ends when the file there appears. */
async function waiting(mark: string): Promise<Project> {
  const harness = `touch "$MARK.on"; until [ -e "$MARK" ]; do sleep 0.05; done\n${FILES['bench/size.sh']}`
  const spec = SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, env: [MARK]')
  const person = project({ ...FILES, '.winnow/size.yaml': spec, 'bench/size.sh': harness })
  writeFileSync(mark, '')
  await person.winnowWith({ env: { MARK: mark } }, 'run')
  await offer(person, SHORT)
  rmSync(mark)
  rmSync(`${mark}.on`)
  return person
}

describe('a second run while one is running', () => {
  it('says which process measures, waits for it, and ends as the first does', async () => {
    const mark = join(scratch(), 'mark')
    const person = await waiting(mark)
    const first = start(person, ['run'], { MARK: mark })
    const end = ended(first)
    while (!existsSync(`${mark}.on`)) await new Promise(resolve => setTimeout(resolve, 20))
    const second = start(person, ['run'], { MARK: mark })
    const [answer] = await Promise.all([
      ended(second),
      said(second.stderr, 'is already measuring campaign size').then(() => writeFileSync(mark, '')),
    ])
    expect(answer.err).toMatch(
      new RegExp(
        `^process ${first.pid} is already measuring campaign size: this run waits until it ends$`,
        'm',
      ),
    )
    expect([answer.code, (await end).code]).toEqual([14, 14])
    expect(answer.out).toContain('1 kept')
    expect((await person.winnow('audit')).code).toBe(0)
  })
})

describe('a try while a run is under way', () => {
  it('is measured once, by one of the two processes', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, `${'a'.repeat(149)}\n`)
    person.write('src/value', SHORT)
    const [run, own] = await Promise.all([
      ended(start(person, ['run'])),
      ended(start(person, ['try', '-m', 'half', '--json'])),
    ])
    const answer = JSON.parse(own.out)
    expect([own.code, run.code], own.err + run.err).toEqual([0, 14])
    expect(answer).toMatchObject({ verdict: 'kept', hypothesis: 'half' })
    const lines = (await person.winnow('log', '--json')).out.trimEnd().split('\n')
    const events = lines.map(line => JSON.parse(line))
    expect(events.filter(({ kind }) => kind === 'order-lost')).toEqual([])
    const asked = events.filter(
      ({ kind, candidates }) =>
        kind === 'order-issued' && candidates.some(({ label }: { label: string }) => label === answer.id),
    )
    expect(asked).toHaveLength(1)
    await proven(person)
  })
})

describe('TERM', () => {
  const soon = async (child: ChildProcess, end: Promise<Ended>) => {
    const began = performance.now()
    child.kill('SIGTERM')
    const { code } = await end
    return { code, inTime: performance.now() - began < 2_500 }
  }
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise(resolve => setTimeout(resolve, 20))
  }
  const alive = (file: string) => {
    try {
      return process.kill(Number(readFileSync(file, 'utf8')), 0)
    } catch {
      return false
    }
  }

  it('ends a run within two seconds while git hangs in a push, and git with it', async () => {
    const person = clonedProject()
    const mark = join(scratch(), 'pid')
    const remote = person.remote('rev-parse', '--absolute-git-dir')
    mkdirSync(join(remote, 'hooks'), { recursive: true })
    const hook = join(remote, 'hooks', 'pre-receive')
    writeFileSync(hook, `#!/bin/sh\necho $$ > ${mark}\nexec sleep 600\n`, { mode: 0o755 })
    const child = start(person, ['run'])
    const end = ended(child)
    await until(() => existsSync(mark))
    expect(await soon(child, end)).toEqual({ code: 130, inTime: true })
    await until(() => !alive(mark))
    rmSync(hook)
    expect((await person.winnow('run')).code).toBe(14)
    expect((await person.winnow('audit')).code).toBe(0)
  })

  it('ends a run within two seconds while it measures, and with it a harness that ignores TERM', async () => {
    const mark = join(scratch(), 'pid')
    const harness = `trap '' TERM; echo $$ > ${mark}; while :; do sleep 1; done\n`
    const person = project({ ...FILES, 'bench/size.sh': harness })
    const child = start(person, ['run'])
    const end = ended(child)
    await until(() => existsSync(mark))
    expect(await soon(child, end)).toEqual({ code: 130, inTime: true })
    expect(person.refs()).toContain('optimize-state/size')
  })
})

describe.skipIf(!HAS_SCRIPT)('on a terminal', () => {
  releaseTest('a run shows what it is at, and leaves only its lines', async () => {
    const mark = join(scratch(), 'mark')
    const child = onTerminal(await waiting(mark), 40, ['run'], { MARK: mark })
    const [{ out }] = await Promise.all([
      ended(child),
      said(child.stdout, 'exp-001 0:00 of ~').then(() => writeFileSync(mark, '')),
    ])
    expect(out).toContain(`${ESCAPE}[32mKept${ESCAPE}[0m`)
    const screen = new AScreen(40)
    screen.write(out)
    const shown = screen.rows.join('')
    expect(shown).toContain('Waiting for ideas')
    expect(shown).not.toMatch(/\d:\d\d of|looking|no gain yet/)
  })

  releaseTest('is never wider than 40 columns, but for what is copied whole', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    for (const argv of [['help', 'all'], ['help', 'run'], ['status'], ['show', '1']]) {
      const { out } = await ended(onTerminal(person, 40, argv, { NO_COLOR: '1' }))
      const wide = out.split(/\r?\n/).filter(line => line.length > 40)
      expect(wide.filter(line => line.trim().includes(' '))).toEqual([])
      const piped = (await person.winnow(...argv)).out
      expect(piped.split('\n').some(line => line.length > 40)).toBe(true)
      expect(out.split(/\s+/)).toEqual(piped.split(/\s+/))
    }
  })

  releaseTest('has no colours where they are not wanted', async () => {
    const plain = await ended(onTerminal(project(), 80, ['xyzzy'], { NO_COLOR: '1' }))
    expect(plain.out).toContain('error: there is no command')
    expect(plain.out).not.toContain(ESCAPE)
    const colourful = await ended(onTerminal(project(), 80, ['xyzzy']))
    expect(colourful.out).toContain(`${ESCAPE}[31merror${ESCAPE}[0m`)
  })

  it('shows whole lines alone in CI, where nobody looks', async () => {
    const { out } = await ended(onTerminal(project(), 80, ['run'], { CI: 'true', NO_COLOR: '1' }))
    expect(out).toContain('Waiting for ideas')
    expect(out.replaceAll('\r\n', '\n')).not.toMatch(MOVES)
  })
})

it('a CI runner that reads along takes no orders from what an idea says', async () => {
  const person = project()
  await person.winnow('run')
  await offer(person, SHORT, ['--category', '::error::no'])
  await person.winnow('note', '::error::no ##[error]no')
  const { out } = await ended(start(person, ['log'], { GITHUB_ACTIONS: 'true' }))
  expect(out).toContain('no')
  expect(out).not.toMatch(/^\s*::|##\[/m)
})

it('a pipe gets no character that moves a cursor', async () => {
  const { out, err } = await ended(start(project(), ['run']))
  expect(`${out}${err}`).toContain('Waiting for ideas')
  expect(`${out}${err}`).not.toMatch(MOVES)
})

/** A harness that tells that it runs, and then does not end. */
function endless(): Project {
  const harness = 'touch "$MARK"; while :; do sleep 0.1; done\n'
  const spec = SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, env: [MARK]')
  return project({ ...FILES, '.winnow/size.yaml': spec, 'bench/size.sh': harness })
}

async function running(person: Project): Promise<{ child: ChildProcess; end: Promise<Ended> }> {
  const mark = join(person.cache, 'mark')
  const child = start(person, ['run'], { MARK: mark })
  const end = ended(child)
  while (!existsSync(mark)) {
    if (child.exitCode !== null) throw new Error((await end).err)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return { child, end }
}

describe('Ctrl-C', () => {
  it('ends in an orderly way, and leaves a campaign that goes on', async () => {
    const person = endless()
    const { child, end } = await running(person)
    child.kill('SIGINT')
    const { code, err, out } = await end
    expect(code).toBe(130)
    expect(err).toContain('Interrupted: finishing the current write. Press Ctrl-C again to exit at once.')
    expect(`${err}${out}`).toMatch(/run again to continue|goes on from there/)
    expect(await person.json('status')).toMatchObject({ state: 'running' })
    expect((await person.winnow('audit')).code).toBe(0)
  })

  it('ends at once the second time', async () => {
    const person = endless()
    const { child, end } = await running(person)
    const first = said(child.stderr, 'Interrupted')
    child.kill('SIGINT')
    await first
    child.kill('SIGINT')
    expect((await end).code).toBe(130)
  })
})
