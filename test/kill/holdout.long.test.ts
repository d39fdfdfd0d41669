import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shorter, SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { bundledCommandLine } from './command-line.ts'
import { endingOf, expectSound, lostOrders } from './ending.ts'
import { pathsBelow, type Scene, scene } from './scene.ts'

const commandLine = bundledCommandLine()
const HOLDOUT = 'holdout: { command: sh bench/held-back.sh, source: refs/holdout/a }'

/** The holdout is the start itself: its three files, counted with the side's. */
const HELD_BACK = `#!/bin/sh
printf '{"bytes": %s}' "$(cat src/*.txt "$WINNOW_HOLDOUT_DIR"/src/*.txt | wc -c)"
`

function withHoldout(): Scene {
  const spec = SIZE_SPEC.replace('timeout_seconds: 60', `timeout_seconds: 60, ${HOLDOUT}`)
  const files = {
    ...SIZE_FILES,
    'bench/held-back.sh': HELD_BACK,
    'ideas/1.patch': shorter('a', 3),
    '.winnow/size.yaml': spec,
  }
  const at = scene(files, { remote: true })
  at.origin('update-ref', 'refs/holdout/a', at.origin('rev-parse', 'main'))
  return at
}

function heldBackFiles(at: Scene): string[] {
  return pathsBelow(join(at.home, 'cache')).filter(path => /work\/[^/]+\/holdout/.test(path))
}

describe('a holdout whose run is killed', () => {
  it('counts as used, is issued once more, and the next run leaves no file of it', async () => {
    const at = withHoldout()
    // The incumbent and the experiment are measured before it.
    const killed = await commandLine.run(at, ['run'], { WINNOW_FAULT: 'measure:started:3' })
    expect([killed.signal, killed.err]).toEqual(['SIGKILL', killed.err])
    expect(heldBackFiles(at).some(name => name.endsWith('data/src/a.txt'))).toBe(true)

    expect(await commandLine.run(at, ['run'])).toMatchObject({ code: 14 })
    const after = await endingOf(at)
    expect(after.ending.experiments).toMatchObject([{ ended: ['kept', 'kept', true], bytes: 36 }])
    expect(lostOrders(after.events)).toMatchObject([{ started: true }])
    expect(Object.values(after.campaign.holdout_uses)).toEqual([2])
    expect(heldBackFiles(at)).toEqual([])
    await expectSound(at, commandLine, after)
  })
})
