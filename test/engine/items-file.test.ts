import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readItemsFile } from '../../src/engine/jobs/judging.ts'
import { serializeJobFile } from '../../src/model/job-file.ts'
import { scratch } from '../git/scratch.ts'
import { order, printed } from '../judge/a-printed-order.ts'

const runId = 'actions:1'
const read = (items: string) => readItemsFile({ items, runId })

it('the items file must be a regular file of limited size: no link, folder or device', async () => {
  const dir = scratch('winnow-items-')
  const at = (name: string) => join(dir, name)
  const entries = [{ key: 'k1', order: order().id, printed: printed(8, 8) }]
  writeFileSync(at('file'), serializeJobFile('items', { run: 'actions:1/1', entries }))
  symlinkSync(at('file'), at('link'))
  mkdirSync(at('folder'))
  writeFileSync(at('large'), '{')
  truncateSync(at('large'), 257 * 1024 * 1024)
  expect(await read(at('file'))).toEqual(entries)
  expect(await read('')).toEqual({ unusable: 'there is no file of items' })
  expect(await read(at('none'))).toEqual({ unusable: 'there is no file of items' })
  expect(await read(at('link'))).toEqual({ unusable: 'the file of items is a link' })
  expect(await read(at('folder'))).toEqual({ unusable: 'the file of items is no file' })
  expect(await read(at('large'))).toEqual({ unusable: expect.stringContaining('more than 268435456') })
})
