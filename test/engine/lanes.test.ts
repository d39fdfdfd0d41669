import { describe, expect, it } from 'vitest'
import { Lanes } from '../../src/engine/lanes.ts'

const { signal } = new AbortController()

/** Whoever asked, with the lane it got, in the order in which they got one. */
function entering(lanes: Lanes) {
  const inside: string[] = []
  return {
    inside,
    ask: (name: string, most: number, wanted: AbortSignal = signal) =>
      lanes.enter(most, wanted).then(lane => inside.push(`${name} ${lane}`)),
  }
}

/** Everything that can happen without anybody leaving has happened. */
const settled = () => new Promise(resolve => setImmediate(resolve))

describe('lanes', () => {
  it('are as many as whoever enters allows, and the lowest free one is taken', async () => {
    const lanes = new Lanes()
    const { inside, ask } = entering(lanes)
    for (const name of ['a', 'b', 'c']) void ask(name, 2)
    await settled()
    expect(inside).toEqual(['a 0', 'b 1'])
    lanes.leave(0)
    await settled()
    expect(inside).toEqual(['a 0', 'b 1', 'c 0'])
  })

  it('whoever is timed waits for all others, and nobody enters beside it', async () => {
    const lanes = new Lanes()
    const { inside, ask } = entering(lanes)
    for (const name of ['a', 'b']) void ask(name, 4)
    await settled()
    void ask('timed', 1)
    await settled()
    lanes.leave(0)
    await settled()
    expect(inside).toEqual(['a 0', 'b 1'])
    lanes.leave(1)
    await settled()
    void ask('late', 4)
    await settled()
    expect(inside).toEqual(['a 0', 'b 1', 'timed 0'])
    lanes.leave(0)
    await settled()
    expect(inside).toEqual(['a 0', 'b 1', 'timed 0', 'late 0'])
  })

  it('who is not wanted any more gets none, and takes nobody’s', async () => {
    const lanes = new Lanes()
    const { inside, ask } = entering(lanes)
    const abort = new AbortController()
    void ask('a', 1)
    void ask('b', 1, abort.signal)
    void ask('c', 1)
    await settled()
    abort.abort()
    await settled()
    expect(inside).toEqual(['a 0', 'b null'])
    lanes.leave(0)
    await settled()
    expect(inside).toEqual(['a 0', 'b null', 'c 0'])
  })
})
