import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createLockProcesses } from '../support/machine-lock-processes.ts'
import { noisyProject } from './noisy-project.ts'
import { scratch } from '../git/scratch.ts'
import { FILES, offer, project, proven, SHORT, SPEC } from './project.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const take = createLockProcesses()

/** What is measured leaves a file in HOME; another process of the same user is measuring already. */
async function beside(files: Record<string, string>) {
  const person = project(files)
  const machineDir = join(person.cache, '.cache', 'winnow')
  const holder = take({
    machineDir,
    log: join(person.dir, '..', 'log'),
    name: 'other',
    how: 'alone',
    times: 'hold',
  })
  await holder.says('in')
  const queue = () => readdirSync(machineDir).flatMap(name => readdirSync(join(machineDir, name)))
  return {
    person,
    holder,
    ran: () => existsSync(join(person.cache, 'ran')),
    waits: (count: number) => vi.waitFor(() => expect(queue().length).toBe(count), { timeout: 20_000 }),
  }
}

const HOME_SPEC = SPEC.replace('bench/size.sh', 'bench/size.sh, env: [HOME]')
const MARKED = {
  ...FILES,
  '.winnow/size.yaml': HOME_SPEC,
  'bench/size.sh': `touch "$HOME/ran"\n${FILES['bench/size.sh']}`,
}

describe('while another process of this user measures', () => {
  it.each(selectCases([['check'], ['run']]))(
    'winnow %s waits, says for whom, and goes on afterwards',
    async verb => {
      const { person, holder, waits, ran } = await beside(MARKED)
      const answer = person.winnow(verb)
      await waits(2)
      expect(ran()).toBe(false)
      await holder.release()
      const { err } = await answer
      expect(err).toContain(
        `waiting for process ${holder.process.pid} (campaign other), which is measuring: timing is never measured in parallel on one machine`,
      )
      expect(ran()).toBe(true)
      await waits(0)
    },
  )

  it('a check that is interrupted stops waiting, and is in nobody’s way', async () => {
    const { person, waits, ran } = await beside(MARKED)
    const abort = new AbortController()
    const answer = person.winnowWith({ signal: abort.signal }, 'check')
    await waits(2)
    abort.abort()
    expect((await answer).code).toBe(130)
    expect(ran()).toBe(false)
    await waits(1)
  })

  it('a run that is interrupted stops waiting as well, and goes on another time', async () => {
    const { person, holder, waits } = await beside(MARKED)
    const abort = new AbortController()
    const answer = person.winnowWith({ signal: abort.signal }, 'run')
    await waits(2)
    abort.abort()
    expect((await answer).code).toBe(130)
    await waits(1)
    await holder.release()
    expect((await person.winnow('run')).out).toContain('size: 0 experiments;')
  })

  it('is no reason to wait once it was killed', async () => {
    const { person, holder, waits } = await beside(MARKED)
    const answer = person.winnow('check')
    await waits(2)
    await holder.kill()
    expect((await answer).code).toBe(0)
    await waits(0)
  })
})

describe('a deterministic campaign beside another process that times something', () => {
  async function calibrated(files: Record<string, string>) {
    const { person, holder, waits } = await beside(files)
    const first = person.winnow('run')
    await waits(2)
    await holder.release()
    expect((await first).code).toBe(14)
    const again = take({
      machineDir: join(person.cache, '.cache', 'winnow'),
      log: join(person.dir, '..', 'log'),
      name: 'other',
      how: 'alone',
      times: 'hold',
    })
    await again.says('in')
    await offer(person, SHORT)
    return { person, holder: again, waits }
  }

  it('does not wait for its lock, and runs at low priority', async () => {
    const { person, holder } = await calibrated({
      ...FILES,
      '.winnow/size.yaml': HOME_SPEC,
      'bench/size.sh': `nice >> "$HOME/priorities"\n${FILES['bench/size.sh']}`,
    })
    const { code, out, err } = await person.winnow('run')
    expect([code, out]).toEqual([14, expect.stringContaining('1 kept')])
    expect(err).not.toContain('waiting for process')
    const priorities = readFileSync(join(person.cache, 'priorities'), 'utf8').trim().split('\n').map(Number)
    const [first = 0] = priorities
    expect([...new Set(priorities)]).toEqual([first, Math.min(19, first + 10)])
    await holder.release()
    await proven(person)
  })

  releaseTest(
    'is measured again with the lock where it hit a time limit meanwhile; the wait counts nowhere',
    async () => {
      const own = Number(execFileSync('nice', { encoding: 'utf8' }))
      const { person, holder, waits } = await calibrated({
        ...FILES,
        '.winnow/size.yaml': SPEC.replace('sh bench/size.sh', 'sh bench/size.sh, timeout_seconds: 2'),
        'bench/size.sh': `[ "$(nice)" -gt ${own} ] && sleep 60\n${FILES['bench/size.sh']}`,
      })
      const answer = person.winnow('run')
      await waits(2)
      await holder.release()
      const { code, out, err } = await answer
      expect(err).toContain('campaign size: a time limit was hit while another process timed something here')
      expect([code, out]).toEqual([14, expect.stringContaining('1 kept')])
      await proven(person)
    },
  )
})

describe('a home directory that cannot be written', () => {
  releaseTest('is no obstacle with --cache-dir: locks are kept below the temporary directory', async () => {
    const person = project()
    const TMPDIR = scratch()
    const { code, err } = await person.winnowWith({ env: { HOME: '/dev/null', TMPDIR } }, 'run')
    expect([code, err]).toEqual([14, expect.not.stringContaining('error')])
    await offer(person, SHORT)
    expect((await person.winnowWith({ env: { HOME: '/dev/null' } }, 'run')).out).toContain('1 kept')
  })
})

describe('two checks of a noisy metric at once', () => {
  releaseTest('never run the harness side by side', async () => {
    const bench = `mkdir "$HOME/busy" || { echo 'side by side' >&2; exit 3; }
sleep 0.01
rmdir "$HOME/busy"
printf '{"ms": 1%s}' "$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')"
`
    const person = noisyProject({
      files: { 'bench/ms.sh': bench },
      spec: text => text.replace('bench/ms.sh', 'bench/ms.sh, env: [HOME]'),
    })
    const answers = await Promise.all([person.winnow('check'), person.winnow('check')])
    expect(answers.map(({ code, err }) => [code, err.includes('side by side')])).toEqual([
      [0, false],
      [0, false],
    ])
  })
})
