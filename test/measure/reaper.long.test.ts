import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createGroupSupervisor, createShellNamespace } from '../../src/measure/process/supervisor.ts'
import type { Supervisor } from '../../src/measure/process/launch.ts'
import { createReaper } from '../../src/measure/process/reaper.ts'
import { aLaunch, carrying, CLINGING } from './processes.ts'
import { scratch } from './scratch.ts'
import { throwAwayUsers } from './throw-away-users.ts'

const monotonic = () => performance.now()
const OWNER = { uid: 64_321, gid: 64_321 }
/** Perl that uses a fifth of a second of processor time. */
const BURN = 'my @t; do { 1 for 1 .. 10_000; @t = times } while $t[0] + $t[1] < 0.2'
const isRoot = process.getuid?.() === 0
const strategies: { name: string; supervisor: Supervisor; make: string; runs: boolean }[] = [
  {
    name: 'a user of its own',
    supervisor: createReaper('uid', OWNER),
    make: `createReaper('uid', ${JSON.stringify(OWNER)})`,
    runs: isRoot,
  },
  {
    name: 'a process namespace',
    supervisor: createReaper('pid-namespace'),
    make: `createReaper('pid-namespace')`,
    runs: true,
  },
  {
    name: 'a subreaper',
    supervisor: createReaper('subreaper'),
    make: `createReaper('subreaper')`,
    runs: true,
  },
  {
    name: 'a namespace kept by sh',
    supervisor: createShellNamespace(monotonic),
    make: 'createShellNamespace(() => performance.now())',
    runs: true,
  },
]
const proving = strategies.filter(({ runs }) => runs && process.platform === 'linux')
const reaping = proving.filter(({ supervisor }) => supervisor.strategy !== 'shell-namespace')

function openScratch(): string {
  const dir = scratch()
  chmodSync(dir, 0o777)
  return dir
}

/** A launch that every strategy may use, also one that becomes another user. */
function openLaunch(command: string, rest: Parameters<typeof aLaunch>[1] = {}) {
  const launch = aLaunch(command, rest)
  chmodSync(launch.cwd, 0o777)
  return launch
}

function clinging(stay: boolean): { command: string; notes: string } {
  const dir = openScratch()
  const notes = join(dir, 'notes')
  // Another user may not be able to read where this repository lies.
  const script = join(dir, 'clinging.pl')
  copyFileSync(CLINGING, script)
  chmodSync(script, 0o644)
  return { command: `perl ${script} ${notes} ${stay ? 'stay' : ''}`, notes }
}

describe.each(proving)('under $name', ({ supervisor, make }) => {
  test('the exit code and the output come back', async () => {
    const launch = openLaunch('echo said; echo wrong >&2; exit 3')
    const ended = await supervisor.run(launch)
    expect(ended).toMatchObject({ exitCode: 3, signal: null, timedOut: false, unreaped: false })
    expect(readFileSync(launch.stdout, 'utf8')).toBe('said\n')
    expect(readFileSync(launch.stderr, 'utf8')).toBe('wrong\n')
  })

  test('if memory runs out, the harness ends before anything else', async () => {
    const launch = openLaunch('(cat /proc/self/oom_score_adj)')
    expect(await supervisor.run(launch)).toMatchObject({ exitCode: 0 })
    expect(readFileSync(launch.stdout, 'utf8')).toBe('1000\n')
  })

  test('nothing that clings survives a harness that ends by itself', async () => {
    const { command, notes } = clinging(false)
    const ended = await supervisor.run(openLaunch(command))
    expect(ended).toMatchObject({ exitCode: 0, unreaped: false })
    expect(readFileSync(notes, 'utf8').trim().split('\n').toSorted()).toEqual(['child', 'orphan', 'session'])
    expect(carrying(notes)).toEqual([])
  })

  test('a harness that ignores TERM is killed some time after it was asked to end, and all it started with it', async () => {
    const { command, notes } = clinging(true)
    const ended = await supervisor.run(openLaunch(command, { timeoutSeconds: 0.5, graceSeconds: 0.2 }))
    expect(ended.timedOut).toBe(true)
    expect(ended.exitCode).not.toBe(0)
    expect(readFileSync(notes, 'utf8')).toContain('main')
    expect(carrying(notes)).toEqual([])
  })

  test('TERM comes first, so that a harness can put things in order', async () => {
    const launch = openLaunch(`trap 'echo tidy; exit 0' TERM; while :; do sleep 0.05; done`, {
      timeoutSeconds: 0.3,
    })
    const ended = await supervisor.run(launch)
    expect(ended.timedOut).toBe(true)
    expect(readFileSync(launch.stdout, 'utf8')).toBe('tidy\n')
  })

  test('one launch after another has its own answer, also after one that was ended', async () => {
    const codes: (number | null)[] = []
    for (const code of [0, 3, 0, 0, 5, 0]) {
      const late = openLaunch('while :; do sleep 0.02; done', { timeoutSeconds: 0.05, graceSeconds: 0.05 })
      if (code === 5) expect((await supervisor.run(late)).timedOut).toBe(true)
      const launch = openLaunch(`echo ${codes.length}; exit ${code}`)
      codes.push((await supervisor.run(launch)).exitCode)
      expect(readFileSync(launch.stdout, 'utf8')).toBe(`${codes.length - 1}\n`)
    }
    expect(codes).toEqual([0, 3, 0, 0, 5, 0])
  })

  test('cancelling ends the tree and reports nothing', async () => {
    const { command, notes } = clinging(false)
    const cancel = new AbortController()
    const run = supervisor.run(
      openLaunch(`${command}; sleep 1000`, { signal: cancel.signal, graceSeconds: 0.2 }),
    )
    await vi.waitFor(
      () => expect(existsSync(notes) && readFileSync(notes, 'utf8')).toContain('orphan'),
      10_000,
    )
    cancel.abort(new Error('stop now'))
    await expect(run).rejects.toThrow('stop now')
    expect(carrying(notes)).toEqual([])
  })

  test('kill -9 of winnow itself takes everything with it', async () => {
    const { command, notes } = clinging(true)
    const winnow = spawn(process.execPath, [await program(make, command)], { stdio: 'ignore' })
    const gone = new Promise(resolve => winnow.once('exit', resolve))
    await vi.waitFor(() => expect(existsSync(notes) && readFileSync(notes, 'utf8')).toContain('main'), 20_000)
    expect(carrying(notes).length).toBeGreaterThanOrEqual(4)
    winnow.kill('SIGKILL')
    await gone
    await vi.waitFor(() => expect(carrying(notes)).toEqual([]), 10_000)
  })
})

/** A winnow of one command, as a process that can be killed. */
async function program(make: string, command: string): Promise<string> {
  const dir = openScratch()
  const from = (file: string) => new URL(`../../src/measure/process/${file}.ts`, import.meta.url).pathname
  const launch = { command, cwd: dir, stdout: `${dir}/stdout`, stderr: `${dir}/stderr`, timeoutSeconds: 60 }
  const entry = `
    import { createReaper } from '${from('reaper')}'
    import { createShellNamespace } from '${from('supervisor')}'
    const unused = [createReaper, createShellNamespace]
    const signal = new AbortController().signal
    await ${make}.run({ ...${JSON.stringify(launch)}, env: { PATH: process.env.PATH }, signal })`
  const bundle = await rolldown({
    input: 'entry',
    platform: 'node',
    plugins: [
      {
        name: 'entry',
        resolveId: id => (id === 'entry' ? id : null),
        load: id => (id === 'entry' ? entry : null),
      },
    ],
    resolve: {},
  })
  await bundle.write({ file: `${dir}/winnow.mjs`, format: 'esm' })
  return `${dir}/winnow.mjs`
}

describe.each(reaping)('what is used under $name', ({ supervisor }) => {
  test('counts every descendant, orphans included, and the largest single process', async () => {
    const burn = BURN
    const heap = `my $x = "x" x 64_000_000; sleep 0`
    const ended = await supervisor.run(
      openLaunch(`perl -e '${burn}'; (setsid perl -e 'unless (fork) { ${burn} } wait' ) ; perl -e '${heap}'`),
    )
    expect(ended.cpuSeconds).toBeGreaterThan(0.38)
    expect(ended.cpuSeconds).toBeLessThan(1.5)
    expect(ended.maxRssMb).toBeGreaterThan(60)
    expect(ended.maxRssMb).toBeLessThan(200)
  })

  test('what an orphan used before it was killed counts too', async () => {
    const burn = `${BURN}; open my $t, ">", "burnt"; close $t; sleep 1000`
    const ended = await supervisor.run(
      openLaunch(`(setsid perl -e '${burn}' &); while [ ! -e burnt ]; do sleep 0.02; done`),
    )
    expect(ended.exitCode).toBe(0)
    expect(ended.cpuSeconds).toBeGreaterThan(0.19)
  })

  // Root without a namespace may open anything; that is why the namespace is tried first.
  test.skipIf(isRoot && supervisor.strategy === 'subreaper')(
    'the record cannot be forged by what it is about',
    async () => {
      const deadly = supervisor.strategy === 'subreaper' ? ':' : 'kill -9 $PPID'
      const launch = openLaunch(`echo '{"status":0}' > /proc/$PPID/fd/1; ${deadly}; exit 5`)
      const ended = await supervisor.run(launch)
      expect(ended.exitCode).toBe(5)
    },
  )
})

describe('a subreaper, which the harness could kill', () => {
  test('does not take the blame: the harness has failed, and may have left something', async () => {
    const ended = await createReaper('subreaper').run(aLaunch('kill -9 $PPID; sleep 0.1'))
    expect(ended).toMatchObject({ exitCode: null, signal: 'SIGKILL', unreaped: true, cpuSeconds: null })
  })
})

describe('in namespaces', () => {
  test.each([
    ['/tmp', '/var/tmp'],
    ['/var/tmp', '/tmp'],
  ])(
    '%s is the folder for temporary files of the side, where the side is not below it',
    async (own, elsewhere) => {
      const dir = mkdtempSync(`${elsewhere}/winnow-`)
      onTestFinished(() => rmSync(dir, { recursive: true }))
      const [stdout, stderr] = [join(dir, 'stdout'), join(dir, 'stderr')]
      const launch = { cwd: dir, stdout, stderr, env: { PATH: '/usr/bin:/bin', TMPDIR: dir } }
      const ended = await createReaper('pid-namespace').run(aLaunch(`echo left > ${own}/winnow-left`, launch))
      expect([ended.exitCode, readFileSync(stderr, 'utf8')]).toEqual([0, ''])
      expect(existsSync(`${own}/winnow-left`)).toBe(false)
      expect(readFileSync(join(dir, 'winnow-left'), 'utf8')).toBe('left\n')
    },
  )
})

describe('a user of a side', () => {
  test.skipIf(!isRoot)('cannot start more processes than the launch allows', async () => {
    const [owner = null] = throwAwayUsers().owners
    const supervisor = createReaper('uid', owner)
    const starts = (count: number) =>
      `for n in $(seq ${count}); do sleep 5 & pids="$pids $!"; done; kill $pids`
    const run = async (count: number) => {
      const launch = aLaunch(starts(count), {
        maxProcesses: 20,
        stdout: '/dev/null',
        stderr: '/dev/null',
        cwd: '/',
      })
      return (await supervisor.run(launch)).exitCode
    }
    expect(await run(10)).toBe(0)
    expect(await run(40)).not.toBe(0)
  })
})

describe('a supervisor that cannot start', () => {
  test('says why', async () => {
    const launch = aLaunch('true', { cwd: '/nowhere/at/all' })
    const ended = await createReaper('pid-namespace').run(launch)
    expect(ended.exitCode).toBe(127)
    expect(readFileSync(launch.stderr, 'utf8')).toContain('/nowhere/at/all')
  })
})

describe('under a process group, where nothing can reap', () => {
  test('it says so, and leaves processor time and memory missing', async () => {
    const ended = await createGroupSupervisor(monotonic).run(aLaunch('exit 4'))
    expect(ended).toMatchObject({ exitCode: 4, cpuSeconds: null, maxRssMb: null, unreaped: true })
  })

  test('children and those that left the session are ended where parenthood still tells', async () => {
    const mark = join(scratch(), 'mark')
    const launch = aLaunch(`sh -c 'sleep 1000; : ${mark}' & setsid sh -c 'sleep 1000; : ${mark}' & sleep 0.6`)
    await createGroupSupervisor(monotonic).run(launch)
    expect(carrying(mark)).toEqual([])
  })

  test('a timeout ends it', async () => {
    const ended = await createGroupSupervisor(monotonic).run(aLaunch('sleep 1000', { timeoutSeconds: 0.2 }))
    expect(ended).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGTERM' })
  })
})
