import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ANSWERS } from '../../src/engine/campaign/open.ts'
import { storeAnswer } from '../../src/ideas/stored-answers.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'
import { selectCases } from '../support/cases.ts'

const SERIAL = 'execution: { mode: serial }\n'
const isOrdered = ({ experiments }: Campaign) => experiments['exp-001']?.status === 'ordered'

const ordersOf = (site: TestRepository) => join(site.place.dataDir, 'orders')
const filesOf = (site: TestRepository, pattern: RegExp) =>
  readdirSync(ordersOf(site)).filter(name => pattern.test(name))

/** An idea that was measured, and a process that ended before it recorded the report. */
async function measured(): Promise<TestRepository> {
  const site = await createSizeRepository([shorter('a', 3)], { spec: SERIAL })
  await site.start()
  await site.until(isOrdered)
  await (await site.hands()).runner.settled()
  await site.reopen()
  return site
}

describe('a file of an order', () => {
  it.each(
    selectCases([
      ['claim', ''],
      ['claim', '\0\0\0\0'],
      ['claim', '{"run_id": 1}'],
      ['report', ''],
      ['report', '{"order":'],
    ]),
  )(
    'a %s that holds %j is moved aside with one message, and the idea gets its verdict',
    async (kind, text) => {
      const site = await measured()
      const damaged = filesOf(site, new RegExp(`\\.${kind}\\.json$`))
      expect(damaged).not.toEqual([])
      for (const name of damaged) writeFileSync(join(ordersOf(site), name), text)

      expect(await site.run()).toEqual({ for: 'ideas' })
      expect(await site.outcomes()).toEqual({ a3: 'kept' })
      const aside = filesOf(site, /\.damaged-/)
      expect(aside).toHaveLength(damaged.length)
      expect(site.said.filter(line => line.includes('was damaged'))).toEqual(
        aside.map(name => expect.stringContaining(join(ordersOf(site), name))),
      )
      expect(await site.kinds()).not.toContain('report-rejected')
      await site.proven()
    },
  )

  it('a report without its claim is recorded, and its order is not measured again', async () => {
    const site = await measured()
    for (const name of filesOf(site, /\.claim\.json$/)) writeFileSync(join(ordersOf(site), name), '')
    const before = (await site.kinds()).filter(kind => kind === 'order-issued').length
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect((await site.kinds()).filter(kind => kind === 'order-issued')).toHaveLength(before)
    expect(await site.kinds()).not.toContain('order-lost')
  })
})

describe('the clock file of a work directory', () => {
  it.each(selectCases(['a folder', 'closed']))(
    'that is %s is moved aside, and measuring continues',
    async how => {
      const site = await measured()
      const work = join(site.place.dataDir, 'work', '0')
      const clock = join(work, 'clock')
      rmSync(clock, { force: true })
      if (how === 'a folder') mkdirSync(clock)
      else {
        writeFileSync(clock, 'x')
        chmodSync(clock, 0)
      }
      for (const name of filesOf(site, /\.report\.json$/)) rmSync(join(ordersOf(site), name))
      expect(await site.run()).toEqual({ for: 'ideas' })
      expect(await site.outcomes()).toEqual({ a3: 'kept' })
      expect(readFileSync(clock, 'utf8')).toBe('')
      // Root writes into a file that is closed to everybody.
      if (how === 'a folder' || process.getuid?.() !== 0)
        expect(readdirSync(work).filter(name => name.startsWith('clock.damaged-'))).toHaveLength(1)
    },
  )
})

describe('an idea of a program that is not recorded yet', () => {
  const answered = async (site: TestRepository, key: string, text: string) => {
    const { repository } = site.place
    const main = site.bare('rev-parse', 'main')
    const { tree } = await repository.commit(main)
    const blob = await repository.writeBlob(text)
    const changed = await repository.replaceEntries(tree, [
      { path: 'src/a.txt', entry: { mode: '100644', oid: blob } },
    ])
    const commit = await repository.writeCommit({ tree: changed, parents: [main], message: text, date: 0 })
    const idea = {
      hypothesis: text,
      category: 'x',
      priority: 'high' as const,
      required_deps: [],
      family: null,
    }
    const result = { ok: true as const, idea, learnings: null, commit, base: { commit: main, tree } }
    const { started } = await site.campaign()
    const answer = {
      key,
      campaign: started,
      who: 'agent',
      at: '2026-01-01T00:00:00Z',
      minutes: 1,
      first_unseen: 1,
      result,
    }
    await storeAnswer(join(site.place.dataDir, ANSWERS), answer)
    return { commit, blob }
  }

  it('is recovered from the damaged repository; an unreadable one is reported as lost', async () => {
    const site = await measured()
    const { dir } = site.place.repository
    const kept = await answered(site, 'one', 'a\n')
    const lost = await answered(site, 'two', 'aa\n')
    rmSync(join(dir, 'objects', lost.blob.slice(0, 2), lost.blob.slice(2)))
    writeFileSync(join(dir, 'HEAD'), '')
    await site.reopen()
    expect(site.said).toEqual([
      expect.stringMatching(/was damaged \(its HEAD cannot be read\)\. winnow moved it to .*\.damaged-/),
      expect.stringMatching(
        /^Saved 1 commit of ideas .*; 1 commit could not be read, and those ideas are lost\.$/,
      ),
    ])
    expect(await site.place.repository.has(kept.commit)).toBe(true)
    expect(await site.place.repository.has(lost.commit)).toBe(false)
  })
})
