import type { ChildProcess } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { LedgerEvent } from '../../src/model/event.ts'
import { gitIn } from '../git/scratch.ts'
import { bundledCommandLine, type Ended, ended } from '../kill/command-line.ts'
import { endingOf, expectSound, lostOrders } from '../kill/ending.ts'
import { type Scene, scene } from '../kill/scene.ts'
import { letters, shorter, SIZE_FILES, SIZE_SPEC } from './size-yard.ts'

const commandLine = bundledCommandLine()
const PATIENCE = { timeout: 30_000, interval: 20 }

/**
 * Counts bytes. Where `a.txt` is short it leaves a child of a session of its own behind, says so, and does not
 * end before somebody takes the file called hold out of HOME. Two at a time are noted.
 */
const HARNESS = `#!/bin/sh
mkdir "$HOME/alone" 2>/dev/null || touch "$HOME/beside"
if [ "$(wc -c < src/a.txt)" -lt 9 ] && [ -e "$HOME/hold" ] && [ "$1" != quick ]; then
  setsid sh -c "sleep 1000; : $HOME/child" &
  touch "$HOME/measuring"
  while [ -e "$HOME/hold" ]; do sleep 0.02; done
fi
rmdir "$HOME/alone" 2>/dev/null
printf '{"bytes": %s}' "$(cat src/*.txt | wc -c)"
`
const FILES = { ...SIZE_FILES, 'bench/size.sh': HARNESS, 'ideas/1.patch': shorter('a', 3) }
/** Samples are compared with a stored score: one measurement at a time. */
const TIMED = SIZE_SPEC.replace('timeout_seconds: 60', 'timeout_seconds: 60, stability: { mode: stable }')

interface Running {
  at: Scene
  child: ChildProcess
  end: Promise<Ended>
  /** What it has told its person so far. */
  told: () => string
  release: () => void
}

/** A run in the middle of an execution that does not end by itself. */
async function inTheMiddle(spec = SIZE_SPEC, files: Record<string, string> = {}): Promise<Running> {
  const at = scene({ ...FILES, ...files, '.winnow/size.yaml': spec }, { remote: true })
  const hold = join(at.home, 'hold')
  writeFileSync(hold, '')
  const child = commandLine.start(at, ['run'])
  let told = ''
  child.stderr?.on('data', chunk => (told += String(chunk)))
  const end = ended(child)
  await vi.waitFor(
    () => expect([existsSync(join(at.home, 'measuring')), told]).toEqual([true, told]),
    PATIENCE,
  )
  return { at, child, end, told: () => told, release: () => rmSync(hold) }
}

/** What another process of the same person answers. */
async function says(at: Scene, ...argv: string[]): Promise<void> {
  const { code, err } = await commandLine.run(at, argv)
  expect([code, err]).toEqual([0, err])
}

/** Somebody pushes these files on top of a branch, from elsewhere. */
function push(at: Scene, branch: string, files: Record<string, string>): void {
  const elsewhere = join(at.home, 'elsewhere')
  at.origin('clone', '-q', '--branch', branch, '.', elsewhere)
  const git = gitIn(elsewhere)
  for (const [path, content] of Object.entries(files)) writeFileSync(join(elsewhere, path), content)
  git('add', '-A')
  git('commit', '-q', '-m', 'by hand')
  git('push', '-q', 'origin', `HEAD:${branch}`)
  rmSync(elsewhere, { recursive: true })
}

function eventsOf(at: Scene): Promise<LedgerEvent[]> {
  return at.look(post => post.events())
}

const BRANCH = 'optimize-exp/size/exp-001'

/** What ends a measurement that nobody waits for any more, whoever did it, and what comes of it. */
const DEEDS = [
  {
    deed: 'a stop',
    does: (at: Scene) => says(at, 'stop', '-m', 'enough'),
    code: 10,
    becomes: ['withdrawn', 'no gain', true],
  },
  {
    deed: 'its branch deleted',
    does: (at: Scene) => at.origin('update-ref', '-d', `refs/heads/${BRANCH}`),
    code: 14,
    becomes: ['withdrawn', 'no gain', true],
  },
  {
    deed: 'a new head',
    does: (at: Scene) => push(at, BRANCH, { 'src/a.txt': letters('a', 10) }),
    code: 14,
    becomes: ['kept', 'kept', true],
  },
] as const

describe('a run looks up while it measures', () => {
  it.each(DEEDS)('$deed ends the measurement at once', async ({ does, code, becomes }) => {
    const { at, end } = await inTheMiddle()
    await does(at)
    expect(await end).toMatchObject({ code, signal: null })
    expect(at.processes()).toEqual([])
    const after = await endingOf(at)
    expect(after.ending.experiments).toMatchObject([{ ended: becomes }])
    expect(lostOrders(after.events)).toEqual([])
    await expectSound(at, commandLine, after)
  })

  it('an amended ruler ends it, and all is measured anew with that', async () => {
    const { at, end } = await inTheMiddle()
    writeFileSync(join(at.repo, '.winnow/size.yaml'), SIZE_SPEC.replace('size.sh', 'size.sh quick'))
    await says(at, 'amend', '-m', 'it took for ever')
    expect(await end).toMatchObject({ code: 14, signal: null })
    expect(at.processes()).toEqual([])
    const { ending, events } = await endingOf(at)
    expect(ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true] }])
    expect(events.filter(({ kind }) => kind === 'calibrated')).toHaveLength(2)
  })

  it('a pause is heard; what is measured ends, what waits for its turn is not begun', async () => {
    const { at, end, told, release } = await inTheMiddle(TIMED, { 'ideas/2.patch': shorter('b', 5) })
    await says(at, 'pause', '-m', 'release week')
    await vi.waitFor(
      () => expect(told()).toContain('paused: release week; what is being measured ends'),
      PATIENCE,
    )
    release()
    expect(await end).toMatchObject({ code: 14, signal: null })
    expect(at.processes()).toEqual([])
    const { ending } = await endingOf(at)
    expect(ending.experiments.map(({ bytes }) => bytes)).toEqual([36, undefined])

    await says(at, 'resume')
    expect(await commandLine.run(at, ['run'])).toMatchObject({ code: 14 })
    const after = await endingOf(at)
    expect(after.ending.experiments.map(({ ended: [outcome] }) => outcome)).toEqual([
      'kept',
      'runner_up_kept',
    ])
    expect(lostOrders(after.events)).toEqual([])
    await expectSound(at, commandLine, after)
  })

  it('a tip that somebody else put there is ordered at once, and not measured beside what is timed', async () => {
    const { at, end, release } = await inTheMiddle(TIMED)
    push(at, 'optimize/size', { 'src/c.txt': letters('c', 9) })
    const isOrdered = (event: LedgerEvent) => event.kind === 'order-issued' && event.purpose === 'foreign'
    await vi.waitFor(async () => expect((await eventsOf(at)).some(isOrdered)).toBe(true), PATIENCE)
    release()
    expect(await end).toMatchObject({ code: 14, signal: null })
    expect(existsSync(join(at.home, 'beside'))).toBe(false)
    const after = await endingOf(at)
    expect(after.ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true] }])
    expect(after.events.flatMap(event => (event.kind === 'foreign-tip' ? [event.state] : []))).toEqual([
      'found',
      'adopted',
    ])
    await expectSound(at, commandLine, after)
  })
})
