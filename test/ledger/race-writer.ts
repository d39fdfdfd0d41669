import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { openRepository } from '../../src/git/repository.ts'
import { appendCommuting } from '../../src/ledger/append.ts'
import { BY, environment, note, refs } from './temp-ledger.ts'

/** One writer of a race, a process of its own: `node race-writer.js <dir> <remote> <name> <appends>`. */
const [dir = '', remote = '', name = '', appends = ''] = process.argv.slice(2)
const repo = await openRepository({ dir, remote, prefix: 'optimize', local: false, env: environment() })
const deps = {
  repo,
  refs,
  now: Date.now,
  monotonic: performance.now.bind(performance),
  sleep: (milliseconds: number) => sleep(milliseconds, undefined),
  random: Math.random,
  async failed(drafts: unknown, error: unknown) {
    await writeFile(`${dir}.failed.json`, JSON.stringify(drafts))
    return error
  },
}
for (let index = 0; index < Number(appends); index++) {
  await appendCommuting(deps, [note(`${name}-${index}`)], BY)
}
await repo.close()
