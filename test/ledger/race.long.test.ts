import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { environment, eventsOf, started, type TempLedger, tempLedger } from './temp-ledger.ts'

const run = promisify(execFile)
const full = process.env['WINNOW_RACE'] === 'full'
const [writers, appends] = full ? [16, 25] : [8, 6]

let ledger: TempLedger
let program: string
beforeAll(async () => {
  ledger = await tempLedger()
  await ledger.write([started()])
  program = join(ledger.root, 'race-writer.mjs')
  await build({
    input: fileURLToPath(new URL('race-writer.ts', import.meta.url)),
    platform: 'node',
    output: { file: program, format: 'esm', codeSplitting: false },
    logLevel: 'silent',
  })
})
afterAll(() => ledger.remove())

describe('many processes that append to one remote', () => {
  test('all append their events, each exactly once, in one intact chain', async () => {
    const names = Array.from({ length: writers }, (_, index) => `writer-${index}`)
    await Promise.all(
      names.map(name => {
        const args = [program, join(ledger.root, `${name}.git`), ledger.remote, name, String(appends)]
        return run(process.execPath, args, { env: environment() })
      }),
    )
    const { commit, seq } = await ledger.tip()
    const events = await eventsOf(ledger.repo, commit ?? '')
    const texts = events.flatMap(event => (event.kind === 'note' ? [event.text] : []))
    const expected = names.flatMap(name => Array.from({ length: appends }, (_, index) => `${name}-${index}`))
    expect(texts.toSorted()).toEqual(expected.toSorted())
    expect(seq).toBe(1 + writers * appends)
    for (const name of names) {
      const own = texts.filter(text => text.startsWith(`${name}-`))
      expect(own).toEqual(Array.from({ length: appends }, (_, index) => `${name}-${index}`))
    }
  }, 600_000)
})
