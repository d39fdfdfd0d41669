import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { describeInterruptions, MAX_INTERRUPTIONS } from '../../src/plan/landing.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { letters, createSizeRepository } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'

const DAY = 86_400_000
const SLOW = patchOf({ 'src/a.txt': [letters('a', 15), 'slow\n'] }, { hypothesis: 'never ends' })

const folder = mkdtempSync(join(tmpdir(), 'winnow-lost-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A gate that never ends for the candidate, and tells how often it has begun to. */
const begun = join(folder, 'begun')
const GATE = `#!/bin/sh
grep -q slow src/*.txt || exit 0
echo again >> '${begun}'
exec sleep 100
`

async function begins(times: number): Promise<void> {
  await vi.waitFor(() => expect(readFileSync(begun, 'utf8').split('again')).toHaveLength(times + 1), 30_000)
}

/** The order under way for the first experiment, if it is another one than this. */
function orderedAnew(than: string | null) {
  return ({ experiments }: Campaign) => {
    const first = experiments['exp-001']
    return first?.status === 'ordered' && first.order !== than
  }
}

describe('an order without a report by its deadline', () => {
  it('is cancelled and issued again unchanged; after five times the experiment is not proven', async () => {
    writeFileSync(begun, '')
    let ahead = 0
    const site = await createSizeRepository([SLOW], { ahead: () => ahead, files: { 'bench/test.sh': GATE } })
    await site.start()
    let order: string | null = null
    for (let days = 1; days <= MAX_INTERRUPTIONS; days++) {
      const { experiments } = await site.until(orderedAnew(order))
      order = experiments['exp-001']?.order ?? null
      await begins(days)
      ahead = days * DAY
    }
    expect(await site.run()).toMatchObject({ for: 'nothing', reason: expect.stringContaining('8 hours') })

    expect(await site.outcomes()).toEqual({ 'never ends': 'inconclusive' })
    expect(await site.reasonOf('never ends')).toContain(describeInterruptions(MAX_INTERRUPTIONS))
    const events = await site.events()
    const lost = events.flatMap(event => (event.kind === 'order-lost' ? [event] : []))
    expect(lost).toHaveLength(MAX_INTERRUPTIONS)
    for (const { started, reason } of lost)
      expect([started, reason]).toEqual([true, expect.stringMatching(/^no report by its deadline, \d{4}-/)])
    const coins = events.flatMap(event =>
      event.kind === 'order-issued' && event.purpose === 'experiment' ? [event.coins] : [],
    )
    expect([coins.length, new Set(coins).size]).toEqual([MAX_INTERRUPTIONS, 1])
    await site.proven()
  })
})
