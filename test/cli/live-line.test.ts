import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canShowLiveLine, createLiveLine, createTerminal } from '../../src/cli/terminal.ts'
import countColumns from 'string-width'
import { showLive } from '../../src/cli/live.ts'
import { Readable, Writable } from 'node:stream'
import { AScreen } from './a-screen.ts'

const said = (screen: AScreen, text: string) => () => screen.write(`${text}\n`)

describe('the live line', () => {
  it('is overwritten in place, stays below the output, and can be removed', () => {
    const screen = new AScreen(40)
    const line = createLiveLine(screen)
    line.show('exp-001: 0:01')
    line.show('exp-001: 0:02')
    expect(screen.rows).toEqual(['exp-001: 0:02'])
    line.printAbove(said(screen, 'exp-001 Kept.'))
    expect(screen.rows).toEqual(['exp-001 Kept.', 'exp-001: 0:02'])
    line.show(null)
    line.printAbove(said(screen, 'Done.'))
    expect(screen.rows).toEqual(['exp-001 Kept.', 'Done.', ''])
  })

  it.each([10, 40, 80])('is never as wide as a terminal of %i columns', columns => {
    const screen = new AScreen(columns)
    createLiveLine(screen).show('measuring 漢字 '.repeat(20))
    expect(screen.rows).toHaveLength(1)
    expect(countColumns(screen.rows[0] ?? '')).toBeLessThan(columns)
    expect(screen.rows[0]?.endsWith('…')).toBe(true)
  })

  it('is erased completely after the terminal became narrower', () => {
    const screen = new AScreen(60)
    const line = createLiveLine(screen)
    line.show('x'.repeat(100))
    screen.narrow(20)
    expect(screen.rows).toHaveLength(3)
    line.show('short')
    expect(screen.rows).toEqual(['short'])
  })

  it('assumes 80 columns if the terminal does not report its width', () => {
    const screen = new AScreen(200)
    createLiveLine({ write: text => screen.write(text), isTTY: true, columns: 0 }).show('x'.repeat(100))
    expect(screen.rows).toEqual([`${'x'.repeat(78)}…`])
  })

  it('is not written again while it stays the same', () => {
    let writes = 0
    const line = createLiveLine({ write: () => (writes += 1), isTTY: true, columns: 40 })
    line.show('exp-001')
    line.show('exp-001')
    expect(writes).toBe(1)
    line.show('exp-002')
    expect(writes).toBe(3)
  })

  it('shows text from branches as text', () => {
    const screen = new AScreen(60)
    createLiveLine(screen).show('a\u001b[2J\rb\u202ec\nd')
    expect(screen.rows).toEqual(['abc d'])
  })

  it('never changes the printed text, in any order of calls', () => {
    const step = fc.oneof(
      fc.record({ show: fc.option(fc.string({ unit: 'grapheme', maxLength: 60 })) }),
      fc.record({ print: fc.stringMatching(/^[a-z]{0,19}$/) }),
    )
    fc.assert(
      fc.property(fc.array(step), steps => {
        const screen = new AScreen(20)
        const line = createLiveLine(screen)
        const printed: string[] = []
        for (const each of steps) {
          if ('show' in each) line.show(each.show)
          else {
            line.printAbove(said(screen, each.print))
            printed.push(each.print)
          }
          expect(screen.rows.slice(0, -1)).toEqual(printed)
        }
      }),
    )
  })

  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, true],
    [{ isTTY: true }, { TERM: 'dumb' }, false],
    [{ isTTY: true }, { CI: 'true' }, false],
    [{}, {}, false],
  ])('on %j with %j is shown: %s', (stream, env: Record<string, string>, expected) => {
    expect(canShowLiveLine(stream, env)).toBe(expected)
  })
})

function scene(live: AScreen | null) {
  let written = ''
  const stream = new Writable({ write: (chunk, _encoding, done) => ((written += String(chunk)), done()) })
  const colour = { out: false, err: false }
  const words = createTerminal({ input: Readable.from([]), out: stream, err: stream, colour, live })
  let now = 0
  let wake = () => {}
  const clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (milliseconds: number, signal?: AbortSignal) =>
      new Promise<void>(resolve => {
        signal?.addEventListener('abort', () => resolve())
        wake = () => {
          now += milliseconds
          resolve()
        }
      }),
  }
  const later = async () => {
    wake()
    await new Promise(setImmediate)
  }
  return { call: { terminal: words, environment: { clock } } as never, later, written: () => written }
}

describe('showLive', () => {
  const text = (seconds: number) => `measuring, ${seconds} s`

  it('refreshes the line until the work ends', async () => {
    const screen = new AScreen(40)
    const { call, later } = scene(screen)
    const answer = await showLive(call, text, async () => {
      expect(screen.rows).toEqual(['measuring, 0 s'])
      await later()
      expect(screen.rows).toEqual(['measuring, 0.25 s'])
      return 7
    })
    expect([answer, screen.rows]).toEqual([7, ['']])
  })

  it('shows nothing without a terminal', async () => {
    const { call, later, written } = scene(null)
    await showLive(call, text, later)
    expect(written()).toBe('')
  })

  it('removes the line when the work fails, and passes its error on', async () => {
    const screen = new AScreen(40)
    const { call, later } = scene(screen)
    const failing = showLive(call, text, async () => {
      await later()
      throw new Error('the disk is full')
    })
    await expect(failing).rejects.toThrow('the disk is full')
    expect(screen.rows).toEqual([''])
  })
})
