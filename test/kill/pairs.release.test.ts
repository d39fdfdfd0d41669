import { describe, expect, it } from 'vitest'
import { letters, SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { patchOf } from '../support/patch-text.ts'
import { bundledCommandLine } from './command-line.ts'
import { type Ending, endingOf, expectSound, lostOrders, stateOf } from './ending.ts'
import { full } from './full.ts'
import { type Scene, scene } from './scene.ts'

const commandLine = bundledCommandLine()

/**
 * A thousand times the bytes, and a little more with each seed: it varies, so pairs decide, and since both sides of
 * a pair have one seed the verdicts are the same whatever coins were drawn.
 */
const HARNESS = `#!/bin/sh
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) * 1000 + WINNOW_SEED % 401 ))"
`

/** One is a quarter shorter, one as long as before, one longer. */
const IDEAS = { gain: 'a'.repeat(3), idle: 'z'.repeat(15), loss: 'a'.repeat(20) }

function noisy(): Scene {
  const ideas = Object.entries(IDEAS).map(([hypothesis, text], at) => {
    const patch = patchOf({ 'src/a.txt': [letters('a', 15), `${text}\n`] }, { hypothesis })
    return [`ideas/${at + 1}.patch`, patch]
  })
  const files = { ...SIZE_FILES, 'bench/size.sh': HARNESS, ...Object.fromEntries(ideas) }
  return scene(
    { ...files, '.winnow/size.yaml': SIZE_SPEC.replace(', { use: external }', '') },
    { remote: true },
  )
}

/** How often an order with the coins of this one was issued. */
function timesIssued({ events }: Ending, order: string): number {
  const issued = events.flatMap(event => (event.kind === 'order-issued' ? [event] : []))
  const coins = issued.find(event => event.id === order)?.coins
  return issued.filter(event => event.coins === coins).length
}

let undisturbed: Promise<Ending> | null = null
function whole(): Promise<Ending> {
  undisturbed ??= (async () => {
    const at = noisy()
    await commandLine.run(at, ['run'])
    return endingOf(at)
  })()
  return undisturbed
}

/** The harness is calibrated by three orders; the ideas are measured by the fourth, what is promising by the fifth. */
const KILLS = {
  'as the first job of the ideas starts': 'measure:started:4',
  'before the report of their second job is written': 'measure:before-report:5',
  'as their second job starts': 'measure:started:5',
  'before the report of a calibration is written': 'measure:before-report:3',
} as const

describe.each(Object.entries(KILLS).slice(0, full ? 4 : 1))(
  'a campaign in pairs that is killed %s',
  (_, fault) => {
    it('has the same result with the same pairs and the same coins', async () => {
      const at = noisy()
      expect(await commandLine.run(at, ['run'], { WINNOW_FAULT: fault })).toMatchObject({ signal: 'SIGKILL' })
      await commandLine.run(at, ['run'])

      const after = await endingOf(at)
      expect(stateOf(after)).toEqual(stateOf(await whole()))
      expect(after.ending.counts).toEqual({ kept: 1, dropped: 2 })
      const [lost, ...others] = lostOrders(after.events)
      expect([lost, others]).toMatchObject([{ started: true }, []])
      expect(timesIssued(after, lost?.order ?? '')).toBe(2)
      await expectSound(at, commandLine, after)
    })
  },
)
