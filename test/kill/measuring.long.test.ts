import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { describeInterruptions, MAX_INTERRUPTIONS } from '../../src/plan/landing.ts'
import { shorter, SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { bundledCommandLine, type Ended, ended } from './command-line.ts'
import { type Ending, endingOf, expectSound, lostOrders } from './ending.ts'
import { full } from './full.ts'
import { pathsBelow, type Scene, scene } from './scene.ts'

const commandLine = bundledCommandLine()

/**
 * Counts bytes. Where `a.txt` is short, and as long as HOME has a file called hold, it leaves a child of a
 * session of its own behind, says so, and does not end.
 */
const HARNESS = `#!/bin/sh
if [ "$(wc -c < src/a.txt)" -lt 9 ] && [ -e "$HOME/hold" ]; then
  setsid sh -c "sleep 1000; : $HOME/child" &
  touch "$HOME/measuring"
  while :; do sleep 0.05; done
fi
printf '{"bytes": %s}' "$(cat src/*.txt | wc -c)"
`

function measured(): Scene {
  const files = { ...SIZE_FILES, 'bench/size.sh': HARNESS, 'ideas/1.patch': shorter('a', 3) }
  const spec = SIZE_SPEC.replace('timeout_seconds: 60', 'timeout_seconds: 60, env: [HOME]')
  return scene({ ...files, '.winnow/size.yaml': spec }, { remote: true })
}

/** The first measurement of a campaign is the incumbent's own; then comes the experiment's. */
function killedAsItStarts(at: Scene, nth: number): Promise<Ended> {
  return commandLine.run(at, ['run'], { WINNOW_FAULT: `measure:started:${nth}` })
}

function killedAsItReports(at: Scene, nth: number): Promise<Ended> {
  return commandLine.run(at, ['run'], { WINNOW_FAULT: `measure:before-report:${nth}` })
}

/** Killed by somebody else, in the middle of an execution that does not end. */
async function killedInTheMiddle(at: Scene): Promise<Ended> {
  const hold = join(at.home, 'hold')
  const measuring = join(at.home, 'measuring')
  writeFileSync(hold, '')
  const child = commandLine.start(at, ['run'])
  const end = ended(child)
  await vi.waitFor(() => expect(existsSync(measuring)).toBe(true), { timeout: 30_000, interval: 20 })
  child.kill('SIGKILL')
  rmSync(hold)
  rmSync(measuring)
  return end
}

const KILLS: Record<string, (at: Scene, nth: number) => Promise<Ended>> = {
  'as it starts': killedAsItStarts,
  'in the middle': killedInTheMiddle,
  'before its report is written': killedAsItReports,
}

/** Coins of the orders that were issued for the one experiment. */
function coinsOf({ events }: Ending): string[] {
  return events.flatMap(event =>
    event.kind === 'order-issued' && event.purpose === 'experiment' ? [event.coins] : [],
  )
}

async function kill(at: Scene, how: string, nth: number): Promise<void> {
  const { signal, err } = (await KILLS[how]?.(at, nth)) ?? {}
  expect([signal, err]).toEqual(['SIGKILL', err])
}

const HOWS = Object.keys(KILLS)

describe('a measurement that is killed', () => {
  // The incumbent's own measurement below is killed in the other two ways.
  it.each(full ? HOWS : ['in the middle'])(
    '%s is issued again unchanged; its verdict is the same, and no file is left',
    async how => {
      const at = measured()
      await kill(at, how, 2)
      expect(await commandLine.run(at, ['run'])).toMatchObject({ code: 14 })

      const after = await endingOf(at)
      expect(after.ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true], bytes: 36 }])
      expect(lostOrders(after.events)).toMatchObject([
        { started: true, reason: 'the process that measured it ended early' },
      ])
      expect([coinsOf(after).length, new Set(coinsOf(after)).size]).toEqual([2, 1])
      await expectSound(at, commandLine, after)
      await vi.waitFor(() => expect(at.processes()).toEqual([]), 60_000)
      const left = pathsBelow(join(at.home, 'cache'))
      expect(left.filter(name => /running\.json|\.part$|(claim|report)\.json$/.test(name))).toEqual([])
    },
  )

  // That an order is lost as often as that, and what comes of it, is told by test/engine/lost-orders.long.test.ts too.
  it.each(full ? HOWS : [])(
    '%s every time is not proven, with the same coins throughout, and a retry continues it',
    async how => {
      const at = measured()
      await kill(at, how, 2)
      for (let more = 1; more < MAX_INTERRUPTIONS; more++) await kill(at, how, 1)
      expect(new Set(coinsOf(await endingOf(at))).size).toBe(1)
      // It is not proven, and taken up once more since nothing else is queued.
      for (let more = 0; more < MAX_INTERRUPTIONS; more++) await kill(at, how, 1)
      await commandLine.run(at, ['run'])
      const unproven = await endingOf(at)
      expect(unproven.campaign.experiments['exp-001']).toMatchObject({
        status: 'not-proven',
        verdict: 'not proven',
        reason: describeInterruptions(MAX_INTERRUPTIONS),
      })
      expect(await commandLine.run(at, ['retry', 'exp-001'])).toMatchObject({ code: 0 })
      await commandLine.run(at, ['run'])
      const after = await endingOf(at)
      expect(after.ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true], bytes: 36 }])
      await expectSound(at, commandLine, after)
    },
  )
})

describe('a killed measurement of the incumbent', () => {
  it('is issued again, and the campaign continues', async () => {
    const at = measured()
    expect(await killedAsItStarts(at, 1)).toMatchObject({ signal: 'SIGKILL' })
    expect(await killedAsItReports(at, 1)).toMatchObject({ signal: 'SIGKILL' })
    expect(await commandLine.run(at, ['run'])).toMatchObject({ code: 14 })
    const after = await endingOf(at)
    expect(after.ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true] }])
    await expectSound(at, commandLine, after)
  })
})
