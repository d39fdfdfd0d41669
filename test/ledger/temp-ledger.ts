import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRepository, type Repository } from '../../src/git/repository.ts'
import type { AppendDeps } from '../../src/ledger/append.ts'
import { type ChainedEvent, openChain } from '../../src/ledger/event-file.ts'
import { type LedgerWrite, writeLedgerCommit } from '../../src/ledger/ledger-commit.ts'
import { readEvents, readTip, type Tip } from '../../src/ledger/read-events.ts'
import type { EventAuthor, EventDraft, LedgerEvent } from '../../src/model/event.ts'
import { buildCampaignRefs, type Oid } from '../../src/model/ids.ts'

export const AT = '2026-01-02T03:04:05.000Z'
export const BY: EventAuthor = { run_id: 'run-1', attempt: 1, actor: 'tester' }
export const refs = buildCampaignRefs('optimize', 'demo')

export function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value ? [[key, value]] : [])),
  )
}

export function note(text: string): EventDraft<'note'> {
  return { kind: 'note', cause: `nonce of ${text}`, text, experiment: null }
}

export function started(): EventDraft<'campaign-started'> {
  const start = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
  return {
    kind: 'campaign-started',
    cause: 'nonce',
    spec: 'demo',
    spec_path: '.winnow/demo.yaml',
    spec_sha256: 'c'.repeat(64),
    spec_yaml: 'name: demo\n',
    rule_version: '1',
    default_branch: 'main',
    object_format: 'sha1',
    start,
    harness: 'd'.repeat(64),
    first_number: 1,
    winnow: '0.1.0',
  }
}

export async function eventsOf(repo: Repository, commit: Oid, fromSeq = 0): Promise<LedgerEvent[]> {
  const events: LedgerEvent[] = []
  for await (const event of readEvents(repo, commit, fromSeq)) events.push(event)
  return events
}

/** A two-minute wait takes no time, and is told by the clock. */
export function fakePacing(): {
  now: () => number
  monotonic: () => number
  sleep: (ms: number) => Promise<void>
  random: () => number
  waits: number[]
} {
  let now = Date.parse(AT)
  const waits: number[] = []
  return {
    waits,
    now: () => now,
    monotonic: () => now,
    random: () => 0.5,
    async sleep(milliseconds) {
      waits.push(milliseconds)
      now += milliseconds
    },
  }
}

export interface TempLedger {
  root: string
  remote: string
  repo: Repository
  saved: EventDraft[]
  open(name: string, from?: { remote: string; env: Record<string, string> }): Promise<Repository>
  git(...args: string[]): string
  tip(): Promise<Tip>
  /** Seals and pushes drafts at the current tip, in one commit. */
  write(
    drafts: readonly EventDraft[],
    write?: Partial<LedgerWrite>,
  ): Promise<{ commit: Oid; sealed: ChainedEvent[] }>
  /** Commits a tree with these files changed (null removes) on the current tip, as a vandal would. */
  vandalise(files: Record<string, string | null>): Promise<Oid>
  deps(overrides?: Partial<AppendDeps>): AppendDeps
  hook(script: string): void
  remove(): Promise<void>
}

/** A bare remote on disk, a repository of winnow's own beside it. */
export async function tempLedger(options: { format?: 'sha1' | 'sha256' } = {}): Promise<TempLedger> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-ledger-'))
  const bare = join(root, 'remote.git')
  execFileSync('git', ['init', '-q', '--bare', `--object-format=${options.format ?? 'sha1'}`, bare])
  const opened: Repository[] = []
  const open: TempLedger['open'] = async (name, from = { remote: `file://${bare}`, env: {} }) => {
    const env = { ...environment(), ...from.env }
    const repo = await openRepository({
      dir: join(root, name),
      remote: from.remote,
      prefix: 'optimize',
      local: false,
      env,
    })
    opened.push(repo)
    return repo
  }
  const repo = await open('cache.git')
  const saved: EventDraft[] = []

  async function push(from: Oid | null, to: Oid): Promise<void> {
    const result = await repo.push([{ ref: refs.state, from, to }])
    if (!result.ok) throw new Error(JSON.stringify(result))
  }

  const ledger: TempLedger = {
    root,
    remote: `file://${bare}`,
    repo,
    saved,
    open,
    git: (...args) => execFileSync('git', ['-C', bare, ...args], { encoding: 'utf8' }).trim(),
    async tip() {
      const oid = (await repo.remoteRefs([refs.state])).refs.get(refs.state) ?? null
      if (oid !== null) await repo.fetch([{ ref: refs.state, oid }])
      return readTip(repo, oid)
    },
    async write(drafts, write = {}) {
      const tip = await ledger.tip()
      const chain = openChain(tip, { at: AT, by: BY })
      const sealed = drafts.map(draft => chain.addEvent(draft))
      const commit = await writeLedgerCommit(repo, tip, sealed, { message: 'test', ...write })
      await push(tip.commit, commit)
      return { commit, sealed }
    },
    async vandalise(files) {
      const oid = (await repo.remoteRefs([refs.state])).refs.get(refs.state)
      if (oid === undefined) throw new Error('nothing to vandalise')
      const changes = []
      for (const [path, content] of Object.entries(files)) {
        const entry =
          content === null ? null : ({ mode: '100644', oid: await repo.writeBlob(content) } as const)
        changes.push({ path, entry })
      }
      const tree = await repo.replaceEntries((await repo.commit(oid)).tree, changes)
      const commit = await repo.writeCommit({ tree, parents: [oid], message: 'vandal', date: 0 })
      await push(oid, commit)
      return commit
    },
    deps: (overrides = {}) => ({
      repo,
      refs,
      ...fakePacing(),
      async failed(drafts, error) {
        saved.push(...drafts)
        return error instanceof Error ? Object.assign(error, { message: `${error.message}; kept` }) : error
      },
      ...overrides,
    }),
    hook(script) {
      writeFileSync(join(bare, 'hooks', 'pre-receive'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    },
    async remove() {
      await Promise.all(opened.map(each => each.close()))
      rmSync(root, { recursive: true, force: true })
    },
  }
  return ledger
}
