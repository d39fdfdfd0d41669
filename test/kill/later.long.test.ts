import { describe, expect, it } from 'vitest'
import { letters, shorter, SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { bundledCommandLine } from './command-line.ts'
import { endingOf, expectSound } from './ending.ts'
import { full } from './full.ts'
import { push } from './in-the-middle.ts'
import { killedAt, undisturbed } from './run-through.ts'
import { type Scene, scene } from './scene.ts'

const commandLine = bundledCommandLine()

/** A campaign that has kept two ideas, and waits. */
async function underWay(): Promise<Scene> {
  const ideas = { 'ideas/1.patch': shorter('a', 3), 'ideas/2.patch': shorter('b', 5) }
  const spec = `${SIZE_SPEC}execution: { mode: serial }\n`
  const at = scene({ ...SIZE_FILES, ...ideas, '.winnow/size.yaml': spec }, { remote: true })
  await undisturbed(at)
  return at
}

async function takeBack(at: Scene, experiment: string): Promise<void> {
  expect(await commandLine.run(at, ['revert', experiment])).toMatchObject({ code: 0 })
}

async function takeAlone(at: Scene, experiment: string): Promise<void> {
  expect(await commandLine.run(at, ['pick', experiment])).toMatchObject({ code: 0 })
}

const COUNTS_TWICE = SIZE_FILES['bench/size.sh'].replace("'{", '\'{"twice": 2, ')

/** What people do to a campaign that is under way, and the step that answers it. */
const DEEDS: Record<string, { deed: (at: Scene) => unknown; step: string }> = {
  'the default branch brings another harness': {
    deed: at => push(at, 'main', { 'bench/size.sh': COUNTS_TWICE, 'src/c.txt': letters('c', 12) }),
    step: 'step:move',
  },
  'the last landing is taken back': { deed: at => takeBack(at, 'exp-002'), step: 'step:revert' },
  'an earlier landing is taken back': { deed: at => takeBack(at, 'exp-001'), step: 'step:land' },
  'a kept change is taken alone': { deed: at => takeAlone(at, 'exp-001'), step: 'step:keep' },
  'a commit by hand is adopted': {
    deed: at => push(at, 'optimize/size', { 'src/c.txt': letters('c', 9) }),
    step: 'step:keep',
  },
  'a commit by hand is moved back': {
    deed: at => push(at, 'optimize/size', { 'bench/test.sh': '#!/bin/sh\nexit 0\n' }),
    step: 'step:move',
  },
}

describe.each(Object.keys(DEEDS).slice(0, full ? undefined : 1))('%s', name => {
  async function done(): Promise<Scene> {
    const at = await underWay()
    await DEEDS[name]?.deed(at)
    return at
  }

  it('has the same result whatever step of the answer is killed', async () => {
    const left = await done()
    const reached = new Set(await undisturbed(left))
    const step = DEEDS[name]?.step ?? ''
    expect(reached).toContain(step)
    const whole = await endingOf(left)

    const others = ['before:commit', 'commit:after-push', 'measure:started'].filter(each => reached.has(each))
    for (const point of full ? [step, ...others] : [step]) {
      const again = await done()
      const fault = `${point}:1`
      expect(await killedAt(again, commandLine, [fault])).toEqual([fault])
      const cut = await endingOf(again)
      expect(cut.ending).toEqual(whole.ending)
      await expectSound(again, commandLine, cut)
    }
  })
})
