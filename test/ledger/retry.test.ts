import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPacing } from '../../src/engine/campaign/context.ts'
import { ConflictError, ForgeError, LedgerError, UserError } from '../../src/errors.ts'
import { type Attempt, toPushAttempt, retryLostRaces } from '../../src/ledger/retry.ts'
import { fakePacing } from './temp-ledger.ts'

const lost: Attempt<string> = { done: false, why: 'somebody was quicker' }

/** Loses this often, then wins. */
function losing(times: number): () => Promise<Attempt<string>> {
  let attempts = 0
  return async () => (attempts++ < times ? lost : { done: true, value: `won after ${attempts}` })
}

describe('a race', () => {
  test('that is won at once waits for nothing', async () => {
    const pacing = fakePacing()
    expect(await retryLostRaces(pacing, losing(0))).toEqual({ done: true, value: 'won after 1' })
    expect(pacing.waits).toEqual([])
  })

  test('that is lost is repeated after waits that double up to five seconds', async () => {
    const pacing = { ...fakePacing(), random: () => 1 }
    await retryLostRaces(pacing, losing(9))
    expect(pacing.waits).toEqual([50, 100, 200, 400, 800, 1600, 3200, 5000, 5000])
  })

  test('waits a random time between half and all of the limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), async chance => {
        const pacing = { ...fakePacing(), random: () => chance }
        await retryLostRaces(pacing, losing(1))
        expect(pacing.waits).toEqual([expect.closeTo(25 + 25 * chance)])
      }),
    )
  })

  test('that is lost for two minutes ends with its reason', async () => {
    const pacing = fakePacing()
    const begin = pacing.monotonic()
    expect(await retryLostRaces(pacing, losing(Infinity))).toEqual(lost)
    expect(pacing.monotonic() - begin).toBeLessThanOrEqual(120_000)
    expect(pacing.monotonic() - begin).toBeGreaterThan(110_000)
  })

  test('that is lost is repeated although the system clock jumps by a day', async () => {
    let day = 0
    const { monotonic, sleep } = fakePacing()
    const clock = { now: () => (day += 86_400_000), monotonic, sleep }
    const pacing = createPacing({ clock, random: { hex: () => '', fraction: () => 0.5 } })
    expect(await retryLostRaces(pacing, losing(3))).toEqual({ done: true, value: 'won after 4' })
  })
})

describe('an attempt that fails', () => {
  async function waitsAfter(error: Error): Promise<number> {
    const pacing = fakePacing()
    const win = losing(0)
    let failed = false
    await retryLostRaces(pacing, async () => {
      if (failed) return win()
      failed = true
      throw error
    })
    return pacing.waits.length
  }

  test.each([
    ['a ref that moved while it was fetched', new ConflictError('moved', ['refs/heads/x'])],
    ['a broken connection', new ForgeError('cannot push', { output: 'Connection reset by peer' })],
    ['a busy server', new ForgeError('busy', { status: 503 })],
  ])('because of %s is repeated', async (_, error) => {
    expect(await waitsAfter(error)).toBe(1)
  })

  test.each([
    ['a rule', new ForgeError('refused', { status: 503, rule: 'GH006' })],
    ['a missing permission', new ForgeError('who?', { status: 403, output: 'denied' })],
    ['too many requests', new ForgeError('slow down', { status: 429 })],
    ['a broken file', new ForgeError('open.json is missing')],
    ['a broken ledger', new LedgerError('does not fit')],
    ['a bug', new TypeError('undefined is not a function')],
  ])('because of %s is not repeated', async (_, error) => {
    await expect(waitsAfter(error)).rejects.toBe(error)
  })
})

describe('a push', () => {
  const ref = 'refs/heads/optimize-state/demo'

  test('that was accepted is done; one that lost its lease is a lost race', () => {
    expect(toPushAttempt({ ok: true }, 7)).toEqual({ done: true, value: 7 })
    expect(toPushAttempt({ ok: false, reason: 'lease', refs: [ref] }, 7)).toEqual({
      done: false,
      why: `${ref} moved first`,
    })
  })

  test('onto a checked-out branch names the worktree and what to do', () => {
    const held = () => toPushAttempt({ ok: false, reason: 'checked-out', ref, worktree: '/home/me/code' }, 7)
    expect(held).toThrow(UserError)
    expect(held).toThrow(`${ref} is checked out in /home/me/code`)
  })

  test('that was refused quotes the rule', () => {
    const refused = toPushAttempt({ ok: false, reason: 'refused', message: 'protected', rule: 'GH006' }, 7)
    const apart = toPushAttempt({ ok: false, reason: 'atomic-refused', message: 'no atomic pushes' }, 7)
    expect(refused).toMatchObject({ done: false, refused: { detail: { rule: 'GH006' } } })
    expect(apart).toMatchObject({ done: false, refused: { detail: { rule: 'no atomic pushes' } } })
  })

  test('that was refused is repeated four times with back-off', async () => {
    const pacing = { ...fakePacing(), random: () => 1 }
    let pushes = 0
    const result = await retryLostRaces(pacing, async () => {
      pushes++
      return toPushAttempt({ ok: false, reason: 'refused', message: 'protected', rule: 'GH006' }, 7)
    })
    expect(result).toMatchObject({ done: false, refused: expect.any(ForgeError) })
    expect(pushes).toBe(5)
    expect(pacing.waits).toEqual([1000, 2000, 4000, 8000])
  })

  test('that was refused once succeeds at the second attempt', async () => {
    const pacing = fakePacing()
    const answers = [
      { ok: false, reason: 'refused', message: 'hook timed out' } as const,
      { ok: true } as const,
    ]
    const result = await retryLostRaces(pacing, async () => toPushAttempt(answers.shift() ?? { ok: true }, 7))
    expect(result).toEqual({ done: true, value: 7 })
    expect(pacing.waits).toHaveLength(1)
  })
})
