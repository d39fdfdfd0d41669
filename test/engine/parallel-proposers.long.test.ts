import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { LedgerEvent } from '../../src/model/event.ts'
import { bundledCommandLine, ended } from '../kill/command-line.ts'
import { endingOf, expectSound } from '../kill/ending.ts'
import { PATIENCE, push, TIMED } from '../kill/in-the-middle.ts'
import { type Scene, scene } from '../kill/scene.ts'
import { SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { releaseTest } from '../support/cases.ts'

const commandLine = bundledCommandLine()

/** Thinks until HOME has no file called hold; each thinker makes another file shorter, and then none has ideas. */
const THINKER = `#!/bin/sh
mkdir -p "$HOME/thinking"
mine=$(mktemp "$HOME/thinking/$1.XXXXXX")
while [ -e "$HOME/hold" ]; do sleep 0.02; done
rm "$mine"
for letter in a b c; do
  mkdir "$HOME/took-$letter" 2>/dev/null || continue
  printf '%s\\n' "$letter" > "src/$letter.txt"
  echo "{\\"hypothesis\\": \\"one $letter will do\\"}"
  exit
done
exit 3
`

/** Notes when it is run while somebody thinks. */
const HARNESS = `#!/bin/sh
[ -n "$(ls "$HOME/thinking" 2>/dev/null)" ] && touch "$HOME/beside"
printf '{"bytes": %s}' "$(cat src/*.txt | wc -c)"
`
const PROPOSE = `propose:
  - { use: command, command: sh tools/think.sh x, name: x }
  - { use: command, command: sh tools/think.sh y, name: y }
`

async function thinking(spec: string, count: number) {
  const text = `${spec.replace(/propose: .*\n/, PROPOSE)}execution: { max_concurrent: 3 }\nmerge: { hold_above: null, forgeable: allow }\n`
  const files = { ...SIZE_FILES, 'bench/size.sh': HARNESS, 'tools/think.sh': THINKER }
  const at = scene({ ...files, '.winnow/size.yaml': text }, { remote: true })
  writeFileSync(join(at.home, 'hold'), '')
  const end = ended(commandLine.start(at, ['run']))
  await vi.waitFor(() => expect(thinkers(at)).toHaveLength(count), PATIENCE)
  return { at, end, release: () => rmSync(join(at.home, 'hold')) }
}

/** Who thinks now. */
function thinkers({ home }: Scene): string[] {
  const dir = join(home, 'thinking')
  return existsSync(dir)
    ? readdirSync(dir)
        .map(name => name.slice(0, 1))
        .toSorted()
    : []
}

function spentBy(events: readonly LedgerEvent[]): string[] {
  return events.flatMap(event =>
    event.kind === 'spent' ? [`${event.who} had ${event.ok ? 'an idea' : 'none'}`] : [],
  )
}

describe('command proposers', () => {
  releaseTest('run at most max_concurrent at once, and all their ideas are one round', async () => {
    const { at, end, release } = await thinking(SIZE_SPEC, 3)
    expect(thinkers(at)).toEqual(['x', 'x', 'y'])
    release()
    expect(await end).toMatchObject({ code: 0, signal: null })
    const after = await endingOf(at)
    const rounds = after.events.flatMap(event => (event.kind === 'round-closed' ? [event.members] : []))
    expect(rounds).toEqual([['exp-001', 'exp-002', 'exp-003']])
    expect(after.ending.experiments.map(({ hypothesis }) => hypothesis).toSorted()).toEqual([
      'one a will do',
      'one b will do',
      'one c will do',
    ])
    const spent = spentBy(after.events)
    expect(spent.slice(0, 3).toSorted()).toEqual(['x had an idea', 'x had an idea', 'y had an idea'])
    expect(spent.slice(3).filter(each => each.endsWith('an idea'))).toEqual([])
    expect(after.ending.alerts).toEqual(['proposer-disabled', 'proposer-disabled'])
    await expectSound(at, commandLine, after)
  })

  it('end after a stop from elsewhere, without an answer', async () => {
    const { at, end } = await thinking(SIZE_SPEC, 3)
    expect(await commandLine.run(at, ['stop', '-m', 'enough'])).toMatchObject({ code: 0 })
    expect(await end).toMatchObject({ code: 10, signal: null })
    expect(at.processes()).toEqual([])
    const after = await endingOf(at)
    expect([after.ending.experiments, spentBy(after.events)]).toEqual([[], []])
    await expectSound(at, commandLine, after)
  })

  releaseTest('never run beside a timed measurement', async () => {
    const { at, end, release } = await thinking(TIMED, 3)
    push(at, 'main', { 'words.c': 'words\n' })
    const isOrdered = (event: LedgerEvent) => event.kind === 'order-issued' && event.purpose === 'sync'
    const events = () => at.look(client => client.events())
    await vi.waitFor(async () => expect((await events()).some(isOrdered)).toBe(true), PATIENCE)
    release()
    expect(await end).toMatchObject({ code: 0, signal: null })
    expect(existsSync(join(at.home, 'beside'))).toBe(false)
    const after = await endingOf(at)
    expect(after.events.filter(({ kind }) => kind === 'synced')).toHaveLength(1)
    expect(after.ending.kept).toHaveLength(3)
    await expectSound(at, commandLine, after)
  })
})
