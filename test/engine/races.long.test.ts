import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENV } from '../support/campaign-client.ts'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { selectCases } from '../support/cases.ts'

const run = promisify(execFile)
let folder: string
let program: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-hands-'))
  program = join(folder, 'run-process.mjs')
  await build({
    input: fileURLToPath(new URL('run-process.ts', import.meta.url)),
    platform: 'node',
    output: { file: program, format: 'esm', codeSplitting: false },
    logLevel: 'silent',
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Said {
  started: 'started' | 'exists'
  waiting: { for: string }
}

/** Another process that starts the campaign and runs it, on the same repository. */
async function hand(site: TestRepository, cache: string, remote: string): Promise<Said> {
  const args = [program, site.repo, join(site.root, cache), remote, 'size']
  const { stdout } = await run(process.execPath, args, { env: ENV })
  return JSON.parse(stdout)
}

const IDEAS = [
  shorter('a', 3),
  shorter('b', 5),
  patchOf({ 'src/c.txt': [letters('c', 15), 'broken\n'] }, { hypothesis: 'breaks the tests' }),
]

const CASES = [
  { how: 'with a cache each on one remote', caches: ['one', 'two', 'three'], remote: true },
  { how: 'on the same cache and one remote', caches: ['one', 'one'], remote: true },
  { how: 'on the same cache without a remote', caches: ['one', 'one'], remote: false },
]

describe('processes that start and run one campaign at once', () => {
  it.each(selectCases(CASES))('$how end it once', async ({ caches, remote }) => {
    const site = await createSizeRepository(IDEAS, { remote })
    const said = await Promise.all(caches.map(cache => hand(site, cache, remote ? 'origin' : 'none')))
    expect(said.map(({ waiting }) => waiting.for)).toContain('ideas')

    await site.run()
    expect(await site.outcomes()).toEqual({
      a3: 'kept',
      b5: 'runner_up_kept',
      'breaks the tests': 'degenerate',
    })
    expect(site.bare('show', 'optimize/size:src/b.txt')).toBe('bbbbb')
    expect(await doubled(site)).toEqual({})
    expect(site.bare('for-each-ref', 'refs/heads/optimize-exp')).toBe('')
    await site.proven()
  })
})

/** What may be in a ledger once for one experiment or order, and is there more often. */
async function doubled(site: TestRepository): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const event of await site.events()) {
    const about = 'experiment' in event ? event.experiment : 'order' in event ? event.order : ''
    if (['note', 'order-lost', 'order-dispatched', 'order-issued', 'alert'].includes(event.kind)) continue
    const key = `${event.kind} ${about ?? ''} ${event.kind === 'incumbent-moved' ? event.to.commit : ''}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 1))
}
