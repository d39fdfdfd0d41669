import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ForgeError, UserError } from '../../src/errors.ts'
import { openRepository, type Repository } from '../../src/git/repository.ts'
import { appendCommuting } from '../../src/ledger/append.ts'
import { openChain } from '../../src/ledger/event-file.ts'
import { writeLedgerCommit } from '../../src/ledger/ledger-commit.ts'
import { loadCampaign } from '../../src/ledger/load.ts'
import { readTip } from '../../src/ledger/read-events.ts'
import { type GitServer, gitServer } from '../servers/git-http.ts'
import {
  AT,
  BY,
  environment,
  eventsOf,
  fakePacing,
  note,
  refs,
  started,
  type TempLedger,
  tempLedger,
} from './temp-ledger.ts'

describe('a ledger over HTTP', () => {
  let ledger: TempLedger
  let server: GitServer
  let repo: Repository
  let failing = 0
  beforeAll(async () => {
    ledger = await tempLedger()
    await ledger.write([started()])
    server = await gitServer({
      root: ledger.root,
      auth: 'winnow:secret',
      fault: request => (request.method === 'POST' && failing-- > 0 ? 503 : null),
    })
    repo = await ledger.open('over-http.git', { remote: server.url('remote.git'), env: server.credentials() })
  })
  afterAll(async () => {
    await server.stop()
    await ledger.remove()
  })

  test('is appended to and read', async () => {
    const [event] = await appendCommuting(ledger.deps({ repo }), [note('over http')], BY)
    expect(await eventsOf(ledger.repo, (await ledger.tip()).commit ?? '')).toContainEqual(event)
  })

  test('survives a server that fails for a moment', async () => {
    const { seq } = await ledger.tip()
    failing = 2
    await appendCommuting(ledger.deps({ repo }), [note('after the storm')], BY)
    expect((await ledger.tip()).seq).toBe(seq + 1)
    expect(failing).toBeLessThanOrEqual(0)
  })

  test('quotes the rule that refused a push', async () => {
    ledger.hook('echo "GH013: Repository rule violations found" >&2; exit 1')
    const attempt = appendCommuting(ledger.deps({ repo }), [note('forbidden')], BY)
    await expect(attempt).rejects.toThrow(ForgeError)
    await expect(attempt).rejects.toThrow(/GH013: Repository rule violations found/)
    await expect(attempt).rejects.toMatchObject({ detail: { rule: 'GH013' } })
  })
})

describe('a ledger', () => {
  test('works in a SHA-256 repository', async () => {
    const ledger = await tempLedger({ format: 'sha256' })
    onTestFinished(() => ledger.remove())
    await ledger.write([started()])
    await appendCommuting(ledger.deps(), [note('long ids')], BY)
    const { commit } = await ledger.tip()
    expect(commit).toMatch(/^[0-9a-f]{64}$/)
    expect((await loadCampaign(ledger.repo, commit ?? '')).campaign.seq).toBe(2)
  })

  test('written by one machine is continued by another', async () => {
    const ledger = await tempLedger()
    onTestFinished(() => ledger.remove())
    await ledger.write([started()])
    const elsewhere = await ledger.open('elsewhere.git')
    await appendCommuting(ledger.deps({ repo: elsewhere }), [note('from elsewhere')], BY)
    await appendCommuting(ledger.deps(), [note('from here')], BY)
    expect((await ledger.tip()).seq).toBe(3)
  })

  test('without a remote is in the repository itself, whose other refs stay', async () => {
    const root = mkdtempSync(join(tmpdir(), 'winnow-ledger-'))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const user = join(root, 'user repository')
    const git = (...args: string[]) => execFileSync('git', ['-C', user, ...args], { encoding: 'utf8' }).trim()
    execFileSync('git', ['init', '-q', '-b', 'main', user])
    git('-c', 'user.name=u', '-c', 'user.email=u@localhost', 'commit', '-q', '--allow-empty', '-m', 'theirs')
    const before = git('rev-parse', 'main')
    const repo = await openRepository({
      dir: join(root, 'own.git'),
      remote: user,
      prefix: 'optimize',
      local: true,
      env: environment(),
    })
    const sealed = openChain({ seq: 0, head: null }, { at: AT, by: BY }).addEvent(started())
    const commit = await writeLedgerCommit(repo, await readTip(repo, null), [sealed], { message: 'start' })
    expect(await repo.push([{ ref: refs.state, from: null, to: commit }])).toEqual({ ok: true })

    const saved: unknown[] = []
    const deps = {
      repo,
      refs,
      ...fakePacing(),
      failed: async (drafts: readonly unknown[], error: unknown) => {
        saved.push(...drafts)
        return error
      },
    }
    await appendCommuting(deps, [note('at home')], BY)
    expect(git('ls-tree', '-r', '--name-only', refs.state)).toBe(
      'events/0000/000000.json\nevents/0000/000001.json',
    )
    expect(git('rev-parse', 'main')).toBe(before)
    expect(git('status', '--porcelain')).toBe('')

    git('checkout', '-q', 'optimize-state/demo')
    const held = appendCommuting(deps, [note('in the way')], BY)
    await expect(held).rejects.toThrow(UserError)
    await expect(held).rejects.toThrow(/checked out in .*user repository/)
    expect(saved).toEqual([note('in the way')])
    await repo.close()
  })
})
