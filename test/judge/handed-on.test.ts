import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type HandedItems, limitItems, readItemsFile, readScoresFile } from '../../src/judge/judged-report.ts'
import type { JobFile } from '../../src/measure/job-file.ts'
import { scratch } from '../git/scratch.ts'
import { order, printed } from './a-printed-order.ts'

const STARTED = 'e'.repeat(64)
const ABOUT = { winnow: 1, campaign: 'a', started: STARTED } as const

const items = (...keys: string[]): HandedItems => ({
  ...ABOUT,
  orders: keys.map(key => ({ key, order: order().id, printed: printed(8, 8) })),
})

const judging = (key: string, changes: object = {}) => ({
  key,
  order: order().id,
  model: 'm',
  records: [{ judge: 0, item: 'q1', side: 'base', time: 1, scores: { quality: 3 } }],
  requests: 1,
  tokens: 2,
  usd: 0.5,
  ended: null,
  ...changes,
})

function file(content: unknown): string {
  const path = join(scratch('winnow-handed-'), 'handed.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function handed(content: unknown): JobFile {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return { ok: true, bytes: new TextEncoder().encode(text) }
}

describe('what jobs of one run hand to each other', () => {
  it('arrives as it was', async () => {
    expect(await readItemsFile(file(items('k1', 'k2')))).toEqual(items('k1', 'k2'))
    const scores = {
      ...ABOUT,
      judgings: [judging('k1'), judging('k2', { ended: { is: 'late', reason: 'x' } })],
    }
    expect(readScoresFile(handed(scores))).toEqual(scores)
  })

  it.each<[string, unknown, string]>([
    ['is no JSON', '{"winnow": 1', 'the file of scores holds no JSON'],
    ['is empty', '', 'the file of scores holds no JSON'],
    ['is something else', [], 'the file of scores: '],
    ['has another number', { ...ABOUT, winnow: 2, judgings: [] }, 'winnow: '],
    ['has more than it should', { ...ABOUT, judgings: [], verdict: 'kept' }, 'the file of scores: '],
    ['answers twice', { ...ABOUT, judgings: [judging('k'), judging('k')] }, 'one request is answered twice'],
    ['costs less than nothing', { ...ABOUT, judgings: [judging('k', { usd: -1 })] }, 'judgings.0.usd'],
    [
      'ends as nothing does',
      { ...ABOUT, judgings: [judging('k', { ended: { is: 'x', reason: '' } })] },
      'ended.is',
    ],
    [
      'has a score that is a word',
      {
        ...ABOUT,
        judgings: [
          judging('k', {
            records: [{ judge: 0, item: 'q', side: 'base', time: 1, scores: { quality: '3' } }],
          }),
        ],
      },
      'judgings.0.records.0.scores.quality',
    ],
  ])('is of no use where it %s, and says so in a line', (_, content, why) => {
    const given = readScoresFile(handed(content))
    expect(given).toEqual({ unusable: expect.stringContaining(why) })
    expect(JSON.stringify(given)).not.toContain('\\n')
  })

  it('is a file, and nothing that leads elsewhere or has no end', async () => {
    const dir = scratch('winnow-handed-')
    const [link, folder, large] = ['link', 'folder', 'large'].map(name => join(dir, name))
    symlinkSync(file(items()), link ?? '')
    mkdirSync(folder ?? '')
    writeFileSync(large ?? '', '{')
    truncateSync(large ?? '', 257 * 1024 * 1024)
    expect(await readItemsFile('')).toEqual({ unusable: 'there is no file of items' })
    expect(await readItemsFile(join(dir, 'none'))).toEqual({ unusable: 'there is no file of items' })
    expect(await readItemsFile(link ?? '')).toEqual({ unusable: 'the file of items is a link' })
    expect(await readItemsFile(folder ?? '')).toEqual({ unusable: 'the file of items is not a regular file' })
    expect(await readItemsFile(large ?? '')).toEqual({
      unusable: expect.stringContaining('more than 268435456'),
    })
  })
})

describe('the items that one job is handed', () => {
  const sizeOf = (one: HandedItems) => JSON.stringify(one.orders[0]).length

  it('are all there are, as long as they fit', () => {
    expect(limitItems(items('k1', 'k2'))).toEqual(items('k1', 'k2'))
  })

  it('are those that fit, in turn: one that is too large keeps no other out', () => {
    const [small, large] = [items('k1', 'k3'), items('k2')]
    for (const side of Object.values(large.orders[0]?.printed.items ?? {}))
      for (const each of side) each.content = 'x'.repeat(5_000)
    const all = { ...small, orders: [...small.orders.slice(0, 1), ...large.orders, ...small.orders.slice(1)] }
    const fitting = limitItems(all, 1_024 + 2 * sizeOf(small) + 100)
    expect(fitting.orders.map(({ key }) => key)).toEqual(['k1', 'k3'])
    expect(fitting).toMatchObject(ABOUT)
  })

  it('are of no more orders than a file may have', async () => {
    const many = items(...Array.from({ length: 300 }, (_, at) => `k${at}`))
    const fitting = limitItems(many)
    expect(fitting.orders).toHaveLength(256)
    expect(await readItemsFile(file(fitting))).toEqual(fitting)
    expect(await readItemsFile(file(many))).toHaveProperty('unusable')
  })
})
