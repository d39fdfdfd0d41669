import { describe, expect, it, vi } from 'vitest'
import { letters } from '../support/size-repository.ts'
import { bundledCommandLine } from './command-line.ts'
import { type Ending, endingOf, expectSound } from './ending.ts'
import { full } from './full.ts'
import { BRANCH, holdingScene, inTheMiddle, PATIENCE, push } from './in-the-middle.ts'
import { undisturbed } from './run-through.ts'
import type { Scene } from './scene.ts'

const commandLine = bundledCommandLine()

/** What makes a run end a measurement of its own, and how the run that goes on afterwards ends. */
const DEEDS: Record<string, { does: (at: Scene) => unknown; code: number }> = {
  'its branch is deleted': {
    does: at => at.origin('update-ref', '-d', `refs/heads/${BRANCH}`),
    code: 14,
  },
  'its branch has a new head': {
    does: at => push(at, BRANCH, { 'src/a.txt': letters('a', 10) }),
    code: 14,
  },
  'the campaign is stopped': {
    does: at =>
      at.look(client => client.person({ kind: 'campaign-stopped', code: 'person', reason: 'enough' })),
    code: 10,
  },
}

/** The turn that ends the measurement, from before its push to what follows it. */
const TURN = ['before:commit', 'commit:before-push', 'commit:after-push', 'after:commit']
const POINTS = full ? [...TURN, 'before:cancel', 'after:cancel'] : TURN.slice(0, 1)

async function goOn(at: Scene, code: number): Promise<Ending> {
  const { err, ...ended } = await commandLine.run(at, ['run'])
  expect([ended.code, err]).toEqual([code, err])
  await vi.waitFor(() => expect(at.processes()).toEqual([]), PATIENCE)
  return endingOf(at)
}

describe.each(Object.keys(DEEDS).slice(full ? 0 : -1))('a run that is killed while %s', name => {
  const { does, code } = DEEDS[name] ?? { does: () => {}, code: 0 }

  async function undisturbedEnd(): Promise<Ending> {
    const { at, end, release } = await inTheMiddle(commandLine)
    await does(at)
    const { err, ...ended } = await end
    expect([ended.code, err]).toEqual([code, err])
    release()
    return endingOf(at)
  }

  async function killedAt(WINNOW_FAULT: string): Promise<Ending> {
    const { at, end, release } = await inTheMiddle(commandLine, { env: { WINNOW_FAULT } })
    await does(at)
    expect(await end).toMatchObject({ signal: 'SIGKILL' })
    release()
    const ending = await goOn(at, code)
    await expectSound(at, commandLine, ending)
    return ending
  }

  it(`at ${POINTS.join(', ')} loses nothing and leaves no process running`, {
    timeout: 180_000,
  }, async () => {
    const whole = await undisturbedEnd()
    const before = await onTheWay()
    for (const point of POINTS) {
      const cut = await killedAt(`${point}:${1 + before.filter(each => each === point).length}`)
      expect([point, cut.ending]).toEqual([point, whole.ending])
    }
  })
})

/** Points that are reached before the experiment is being measured: the calibration was, before that. */
async function onTheWay(): Promise<string[]> {
  const reached = await undisturbed(holdingScene())
  const [, second] = reached.flatMap((point, index) => (point === 'measure:started' ? [index] : []))
  return reached.slice(0, second)
}
