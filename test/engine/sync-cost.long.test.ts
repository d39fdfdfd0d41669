import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../src/engine/verify/audit.ts'
import type { EventDraft } from '../../src/model/event.ts'
import { eventOf, rewrite } from '../audit/tampering.ts'
import {
  letters,
  SIZE_HARNESS,
  SIZE_SPEC,
  shorter,
  type SizeOptions,
  createSizeRepository,
} from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const HOUR_MS = 3600 * 1000

async function underWay(options: SizeOptions = {}): Promise<TestRepository> {
  const site = await createSizeRepository([shorter('a', 3)], { remote: true, ...options })
  await site.start()
  await site.run()
  expect(await site.outcomes()).toEqual({ a3: 'kept' })
  return site
}

async function syncOrders(site: TestRepository): Promise<number> {
  return (await site.events()).filter(event => event.kind === 'order-issued' && event.purpose === 'sync')
    .length
}

async function syncs(site: TestRepository) {
  return (await site.events()).flatMap(event => (event.kind === 'synced' ? [event] : []))
}

async function ordered(site: TestRepository): Promise<number> {
  return (await site.events()).filter(({ kind }) => kind === 'order-issued').length
}

describe('a commit on the default branch that no measurement reads', () => {
  it.each<[string, (site: TestRepository) => void]>(
    selectCases(
      [
        ['documentation', site => site.write('README.md', 'hello\n')],
        ['a limit', site => site.write('.winnow/size.yaml', `${SIZE_SPEC}stopping: { max_hours: 50 }\n`)],
        ['another spec', site => site.write('.winnow/other.yaml', SIZE_SPEC)],
      ],
      2,
    ),
  )('is merged in, recorded and proven without a measurement: %s', async (_, change) => {
    const site = await underWay()
    const before = { ...(await site.campaign()), ordered: await ordered(site) }
    change(site)
    const tip = site.commit('nothing that is measured')
    await site.run()

    const after = await site.campaign()
    const [synced, ...more] = await syncs(site)
    expect([synced, more]).toMatchObject([{ order: null, default_tip: tip, harness: before.harness }, []])
    expect(await ordered(site)).toBe(before.ordered)
    expect(after).toMatchObject({
      default_tip: tip,
      incumbent: synced?.to,
      pin: synced?.to,
      harness: before.harness,
      calibration: before.calibration,
      origin: before.origin,
      baseline: { ...before.baseline, tree: synced?.to.tree },
    })
    expect(site.bare('diff', '--name-only', 'main', 'optimize/size')).not.toMatch(/README|other|winnow\/size/)
    await site.proven()
  })

  it('leaves the next idea unchanged, measured on the merge', async () => {
    const site = await underWay()
    site.write('README.md', 'hello\n')
    site.write('ideas/02.patch', shorter('b', 5))
    site.commit('words and an idea')
    await site.run()
    expect(await site.outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
    expect(await site.reasonOf('b5')).toContain('bytes 36 -> 26')
    expect(await syncOrders(site)).toBe(0)
    expect(site.bare('show', 'optimize/size:README.md')).toBe('hello')
    await site.proven()
  })

  it('is measured when a script of the harness names it', async () => {
    const test = '#!/bin/sh\ntest -s README.md && ! grep -q broken src/*.txt\n'
    const site = await underWay({ files: { 'README.md': 'here\n', 'bench/test.sh': test } })
    site.write('README.md', '')
    site.commit('the gate reads it')
    const waiting = await site.run()
    expect(waiting).toMatchObject({ for: 'person', what: expect.stringContaining('gate tests failed') })
    expect(await syncOrders(site)).toBe(1)
    await site.proven()
  })

  releaseTest('does not cover a commit that is read: the audit looks itself', async () => {
    const site = await underWay({ remote: false })
    site.write('src/c.txt', letters('c', 14))
    site.commit('code')
    await site.run()
    const synced = await eventOf(site, 'synced')
    expect(synced.order).not.toBeNull()
    await rewrite(site, draft => [
      draft.kind === 'synced' ? ({ ...draft, order: null } as EventDraft) : draft,
    ])
    const { unproven } = await auditLedger(site.place)
    expect(unproven?.what).toContain(
      'it was not measured, and the harness, a gate or setup may read the files that it changes',
    )
  })
})

describe('a sync without a measurement that changes the harness', () => {
  it.each(
    selectCases(
      [
        ['its files', 'bench/size.sh', `${SIZE_HARNESS}# changed\n`],
        ['a gate in the spec', '.winnow/size.yaml', SIZE_SPEC.replace('sh bench/test.sh', 'sh -c true')],
      ],
      2,
    ),
  )('is refused by the audit: %s', async (_, path, text) => {
    const site = await underWay({ remote: false })
    site.write(path, text)
    site.commit('another harness')
    await site.run()
    const synced = await eventOf(site, 'synced')
    expect(synced.order).not.toBeNull()
    await rewrite(site, draft => [
      draft.kind === 'synced' ? ({ ...draft, order: null } as EventDraft) : draft,
    ])
    const { unproven } = await auditLedger(site.place)
    expect(unproven?.commit).toBe(synced.to.commit)
    expect(unproven?.what).toContain('it was not measured, and changes the harness')
  })
})

describe('a busy default branch', () => {
  releaseTest('costs one sync order a day, and no calibration with the same harness', async () => {
    let ahead = 0
    const site = await underWay({ ahead: () => ahead, spec: 'stopping: { max_hours: 200 }\n' })
    const { calibration } = await site.campaign()
    for (const count of [14, 13, 12]) {
      site.write('src/c.txt', letters('c', count))
      site.commit(`c ${count}`)
      await site.run()
      ahead += HOUR_MS
    }
    expect(await syncOrders(site)).toBe(1)
    expect(site.bare('show', 'optimize/size:src/c.txt')).toBe('c'.repeat(14))

    ahead += 24 * HOUR_MS
    await site.run()
    expect(await syncOrders(site)).toBe(2)
    expect(site.bare('show', 'optimize/size:src/c.txt')).toBe('c'.repeat(12))
    expect((await site.campaign()).calibration).toEqual(calibration)
    await site.proven()
  })

  releaseTest('does not stop new ideas', async () => {
    const site = await underWay()
    for (const count of [14, 13]) {
      site.write('src/c.txt', letters('c', count))
      if (count === 13) site.write('ideas/02.patch', shorter('b', 5))
      site.commit(`c ${count}`)
      await site.run()
    }
    expect(await syncOrders(site)).toBe(1)
    expect(await site.outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
    await site.proven()
  })

  releaseTest('is merged at once for an idea on top of it', async () => {
    const site = await underWay()
    for (const count of [14, 13]) {
      site.write('src/c.txt', letters('c', count))
      site.commit(`c ${count}`)
      await site.run()
    }
    expect(await syncOrders(site)).toBe(1)
    site.push(site.commitOn('main', { 'src/b.txt': letters('b', 2) }, 'on top'), 'optimize-exp/size/mine')
    await site.run()
    expect(await syncOrders(site)).toBe(2)
    expect(site.bare('show', 'optimize/size:src/c.txt')).toBe('c'.repeat(13))
    await site.proven()
  })

  releaseTest('is merged at once with another spec', async () => {
    const site = await underWay()
    site.write('src/c.txt', letters('c', 14))
    site.commit('c 14')
    await site.run()
    site.write('src/c.txt', letters('c', 13))
    site.write('.winnow/size.yaml', SIZE_SPEC.replace('bench/test.sh', 'bench/test.sh strict'))
    site.commit('another gate')
    await site.run()
    expect(await syncOrders(site)).toBe(2)
    await site.proven()
  })
})
