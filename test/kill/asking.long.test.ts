import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { bundledCommandLine, ended } from './command-line.ts'
import { type Ending, endingOf, expectSound } from './ending.ts'
import { full } from './full.ts'
import { type Scene, scene } from './scene.ts'
import { releaseTest } from '../support/cases.ts'

const commandLine = bundledCommandLine()

/** One good idea, and then none; while HOME has a file called hold it thinks, with a child of its own. */
const THINKER = `#!/bin/sh
echo asked >> "$HOME/asked"
if [ -e "$HOME/hold" ]; then
  setsid sh -c "sleep 1000; : $HOME/child" &
  touch "$HOME/thinking"
  while :; do sleep 0.05; done
fi
[ "$(wc -c < src/a.txt)" -eq 16 ] || exit 3
printf 'aaa\\n' > src/a.txt
echo '{"hypothesis": "three letters do"}'
`

function thinking(): Scene {
  const proposer = 'propose: [{ use: command, command: sh tools/think.sh, name: thinker }]\n'
  const spec = `${SIZE_SPEC.replace(/propose: .*\n/, proposer)}execution: { mode: serial }\nmerge: { forgeable: allow }\n`
  return scene({ ...SIZE_FILES, 'tools/think.sh': THINKER, '.winnow/size.yaml': spec }, { remote: true })
}

async function goesOn(at: Scene): Promise<Ending> {
  const { code, err } = await commandLine.run(at, ['run'])
  expect([code, err]).toEqual([0, err])
  return endingOf(at)
}

/** Asked until none of its last ten answers was kept; every answer counted once, with what it cost. */
async function expectOneIdea(at: Scene, after: Ending): Promise<void> {
  expect(after.ending.experiments).toMatchObject([
    { id: 'exp-001', hypothesis: 'three letters do', ended: ['kept', 'kept', true], bytes: 36 },
  ])
  const spent = after.events.flatMap(event => (event.kind === 'spent' ? [event] : []))
  expect(spent.map(({ ok }) => ok)).toEqual([true, ...Array(10).fill(false)])
  expect(spent.every(({ minutes }) => minutes > 0)).toBe(true)
  expect(after.ending.alerts).toEqual(['proposer-disabled'])
  await expectSound(at, commandLine, after)
}

describe('a command proposer that is killed', () => {
  it('runs again: one idea, one experiment, and none of its processes is left', async () => {
    const at = thinking()
    const hold = join(at.home, 'hold')
    writeFileSync(hold, '')
    const child = commandLine.start(at, ['run'])
    const end = ended(child)
    const waiting = { timeout: 30_000, interval: 20 }
    await vi.waitFor(() => expect(existsSync(join(at.home, 'thinking'))).toBe(true), waiting)
    child.kill('SIGKILL')
    expect(await end).toMatchObject({ signal: 'SIGKILL' })
    rmSync(hold)
    await expectOneIdea(at, await goesOn(at))
  })
})

describe('a run that is killed while it asks a proposer', () => {
  const points = ['step:open:1', 'ask:stored:1', 'commit:after-push:2', 'ask:answered:1', 'ask:stored:2']
  const others = ['after:propose:1', 'before:propose:1', 'before:propose:2', 'commit:before-push:2']

  releaseTest.each(full ? [...points, ...others] : points.slice(0, 1))(
    'at %s has the idea once',
    async WINNOW_FAULT => {
      const at = thinking()
      expect(await commandLine.run(at, ['run'], { WINNOW_FAULT })).toMatchObject({ signal: 'SIGKILL' })
      await expectOneIdea(at, await goesOn(at))
      const asked = readFileSync(join(at.home, 'asked'), 'utf8').trim().split('\n')
      if (WINNOW_FAULT.startsWith('ask:stored')) expect(asked).toHaveLength(11)
    },
  )
})
