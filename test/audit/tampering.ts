import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRepositoryContext } from '../../src/engine/campaign/open.ts'
import { auditLedger, type AuditResult } from '../../src/engine/verify/audit.ts'
import type { CampaignContext } from '../../src/engine/campaign/context.ts'
import { recordEvents } from '../../src/engine/controller/record.ts'
import { patchOf, type TestRepository, createTestRepository } from '../support/repository.ts'
import { type ChainedEvent, openChain } from '../../src/ledger/event-file.ts'
import { writeLedgerCommit } from '../../src/ledger/ledger-commit.ts'
import { readEvents, readTip } from '../../src/ledger/read-events.ts'
import { toCanonicalJson } from '../../src/model/canonical-json.ts'
import type { EventDraft, LedgerEvent } from '../../src/model/event.ts'
import type { Oid } from '../../src/model/ids.ts'

const SPEC = `winnow: 1
metric:
  primary: { name: bytes, direction: minimize }
measurement: { command: sh bench/size.sh, probes: off }
gates: [{ name: tests, command: sh bench/test.sh }]
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }]
limits: { max_changed_lines: 20 }
`

export const FILES = {
  'src/a.txt': 'aaaaaaaaaa\n',
  'src/b.txt': 'bbbbbbbbbb\n',
  'bench/size.sh': '#!/bin/sh\nprintf \'{"bytes": %s}\' "$(cat src/*.txt | wc -c)"\n',
  'bench/test.sh': '#!/bin/sh\ntest -s src/a.txt && ! grep -q broken src/*.txt\n',
}

export type Change = Record<string, [before: string | null, after: string]>

export const SHORTER_A: Change = { 'src/a.txt': ['aaaaaaaaaa\n', 'aaa\n'] }
export const SHORTER_B: Change = { 'src/b.txt': ['bbbbbbbbbb\n', 'bbbbb\n'] }
export const SHORT_A: Change = { 'src/a.txt': ['aaaaaaaaaa\n', 'aaaaaaa\n'] }
export const LONGER_B: Change = { 'src/b.txt': ['bbbbbbbbbb\n', 'bbbbbbbbbbbb\n'] }
export const BROKEN: Change = { 'src/b.txt': ['bbbbbbbbbb\n', 'broken\n'] }

export const OPEN_SPEC = SPEC.replace('dir: ideas }', 'dir: ideas }, { use: external }')
const SIZE = 'size'

export function patches(ideas: readonly Change[]): Record<string, string> {
  const files = ideas.map((change, index) => {
    const name = `ideas/${index + 1}.patch`
    return [name, patchOf(change, { hypothesis: `idea ${index + 1}` })] as const
  })
  return Object.fromEntries(files)
}

/** A campaign with these ideas, started and run until they are used up; an open one waits for more. */
export async function finished(
  ideas: readonly Change[],
  options: { remote?: boolean; open?: boolean } = {},
): Promise<TestRepository> {
  const { open = false, ...rest } = options
  const spec = open ? OPEN_SPEC : SPEC
  const site = await createTestRepository({ files: { ...FILES, ...patches(ideas) }, spec, ...rest })
  await site.start()
  await site.run()
  return site
}

/** Two landings, then a revert, a merge by hand and a sync. */
export async function everyStep(options: { remote?: boolean } = {}): Promise<TestRepository> {
  const site = await finished([SHORTER_A, SHORTER_B], { ...options, open: true })
  await takeBack(site)
  await pushForeign(site)
  site.write('lib/other.txt', 'more\n')
  site.commit('the default branch moves')
  await site.run()
  return site
}

async function takeBack(site: TestRepository): Promise<void> {
  const { experiment } = await eventOf(site, 'decided', ({ outcome }) => outcome === 'runner_up_kept')
  await recordEvents(site.place, [{ kind: 'steered', action: 'revert', experiment, reason: 'not wanted' }])
  await site.run()
}

/** Two commits by hand, the way somebody presses Merge. */
async function pushForeign(site: TestRepository): Promise<void> {
  const clone = join(site.root, 'elsewhere')
  site.git('clone', '-q', '-b', 'optimize/size', site.origin, clone)
  gitIn(clone, ['commit', '-q', '--allow-empty', '-m', 'nothing yet'])
  gitIn(clone, ['rm', '-q', 'src/b.txt'])
  gitIn(clone, ['commit', '-q', '-m', 'b is not needed'])
  gitIn(clone, ['push', '-q'])
  rmSync(clone, { recursive: true })
  await site.run()
}

/** A repository with a finished campaign in it, for one test to do its worst to. */
export interface Copy {
  root: string
  repo: string
  place: CampaignContext
  git: (...args: string[]) => string
}

export interface Original {
  root: string
  repo: string
}

const roots: string[] = []
const openPlaces: CampaignContext[] = []

/** Kept aside from the testRepository, which is cleared after a test. */
export async function originalOf(ideas: readonly Change[]): Promise<Original> {
  return keepAside(await finished(ideas))
}

export function keepAside(site: TestRepository): Original {
  const root = mkdtempSync(join(tmpdir(), 'winnow-audit-'))
  roots.push(root)
  cpSync(site.repo, join(root, 'repo'), { recursive: true })
  return { root, repo: join(root, 'repo') }
}

export async function copyOf(original: Original): Promise<Copy> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-audit-'))
  roots.push(root)
  const repo = join(root, 'repo')
  cpSync(original.repo, repo, { recursive: true })
  const place = await visit(root, repo, 'none')
  return { root, repo, place, git: (...args) => gitIn(repo, args) }
}

/** winnow on a directory, with nothing cached. */
export async function visit(
  root: string,
  directory: string,
  remote: string | null,
): Promise<CampaignContext> {
  const workshop = await openRepositoryContext({
    directory,
    env: ENV,
    cacheDir: mkdtempSync(join(root, 'cache-')),
    remote,
    prefix: 'optimize',
    by: { run_id: 'somebody', attempt: 1, actor: 'somebody' },
    version: '0.0.0',
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      sleep: () => Promise.resolve(),
    },
    random: { hex: bytes => '0'.repeat(bytes * 2), fraction: () => 0.5 },
    faults: { reach: () => undefined },
    progress: { say: () => undefined },
  })
  const place = workshop.openCampaign(SIZE)
  openPlaces.push(place)
  return place
}

/** Removes what the tests of this file made. */
export async function clearCopies(): Promise<void> {
  for (const place of openPlaces.splice(0)) await place.repository.close()
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true })
}

const ENV = {
  PATH: process.env['PATH'] ?? '',
  HOME: tmpdir(),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Forger',
  GIT_AUTHOR_EMAIL: 'forger@example.invalid',
  GIT_COMMITTER_NAME: 'Forger',
  GIT_COMMITTER_EMAIL: 'forger@example.invalid',
}

export function gitIn(directory: string, args: readonly string[]): string {
  return execFileSync('git', ['-C', directory, ...args], {
    env: ENV,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd()
}

type Site = Pick<Copy, 'place' | 'repo'> & { git: (...args: string[]) => string }

export async function events(site: Pick<Site, 'place'>): Promise<LedgerEvent[]> {
  const { repository } = site.place
  const tip = await stateTip(site)
  const found: LedgerEvent[] = []
  for await (const event of readEvents(repository, tip, 0)) found.push(event)
  return found
}

export type Of<K extends LedgerEvent['kind']> = Extract<LedgerEvent, { kind: K }>

export async function eventOf<K extends LedgerEvent['kind']>(
  site: Site,
  kind: K,
  matches: (event: Of<K>) => boolean = () => true,
): Promise<Of<K>> {
  const isIt = (event: LedgerEvent): event is Of<K> => event.kind === kind
  const found = (await events(site)).filter(isIt).find(matches)
  if (!found) throw new Error(`no such ${kind}`)
  return found
}

/** The tip of a branch, with its objects in winnow's own repository. */
export async function tipOf({ place }: Pick<Site, 'place'>, ref: string): Promise<Oid> {
  const oid = (await place.repository.remoteRefs([ref])).refs.get(ref)
  if (oid === undefined) throw new Error(`${ref} is gone`)
  await place.repository.fetch([{ ref, oid }])
  return oid
}

async function stateTip(site: Pick<Site, 'place'>): Promise<Oid> {
  return tipOf(site, site.place.refs.state)
}

/** Moves any ref of the user's repository, as somebody with all rights would. */
export function force(site: Site, ref: string, oid: Oid): void {
  site.git('--git-dir', site.place.repository.dir, 'push', '-q', '--force', site.repo, `${oid}:${ref}`)
}

/** Puts every ref back as it was when this was called: one copy serves the tests of a file, in any order. */
export function restorePoint(site: Site): () => void {
  const refs = () => site.git('for-each-ref', '--format=%(refname) %(objectname)').split('\n')
  const before = refs()
  return () => {
    const names = new Set(before.map(line => line.split(' ')[0]))
    for (const line of refs()) {
      const [ref = ''] = line.split(' ')
      if (!names.has(ref)) site.git('update-ref', '-d', ref)
    }
    const now = new Set(refs())
    for (const line of before) if (!now.has(line)) site.git('update-ref', ...line.split(' '))
  }
}

/** A commit on the ledger that changes its files. */
export async function vandalise(site: Site, files: Record<string, string | null>): Promise<Oid> {
  const { repository, refs } = site.place
  const tip = await stateTip(site)
  const changes = []
  for (const [path, content] of Object.entries(files)) {
    const oid = content === null ? null : await repository.writeBlob(content)
    changes.push({ path, entry: oid === null ? null : ({ mode: '100644', oid } as const) })
  }
  const tree = await repository.replaceEntries((await repository.commit(tip)).tree, changes)
  const commit = await repository.writeCommit({ tree, parents: [tip], message: 'vandal', date: 1 })
  force(site, refs.state, commit)
  return commit
}

/** The whole ledger written again with a chain that fits, after `edit` had its way with each event. */
export async function rewrite(
  site: Site,
  edit: (draft: EventDraft, seq: number) => readonly EventDraft[],
): Promise<ChainedEvent[]> {
  const { repository, refs } = site.place
  const all: ChainedEvent[] = []
  const yaml = (await eventOf(site, 'campaign-started')).spec_yaml
  let head = { seq: 0, head: null as string | null }
  for (const event of await events(site)) {
    const { seq: _seq, id: _id, at, by, prev: _prev, ...draft } = event
    const chain = openChain(head, { at, by })
    for (const changed of edit(draft as EventDraft, event.seq)) {
      const sealed = chain.addEvent(changed)
      head = { seq: sealed.event.seq + 1, head: sealed.sha256 }
      all.push(sealed)
    }
  }
  const nothing = await readTip(repository, null)
  const commit = await writeLedgerCommit(repository, nothing, all, { message: 'ledger', spec: yaml })
  force(site, refs.state, commit)
  return all
}

/** Events sealed onto the ledger as it stands, by the library's own functions. */
export async function append(site: Site, drafts: readonly EventDraft[]): Promise<ChainedEvent[]> {
  const { repository, refs, by } = site.place
  const tip = await readTip(repository, await stateTip(site))
  const chain = openChain(tip, { at: new Date(site.place.clock.now()).toISOString(), by })
  const sealed = drafts.map(draft => chain.addEvent(draft))
  force(site, refs.state, await writeLedgerCommit(repository, tip, sealed, { message: 'ledger' }))
  return sealed
}

/** The default branch has another name from now on, and the ledger says so. */
export async function renameMain(site: Site): Promise<void> {
  site.git('update-ref', 'refs/heads/trunk', 'refs/heads/main')
  site.git('update-ref', '-d', 'refs/heads/main')
  const inForce = (await events(site)).findLast(
    event => event.kind === 'campaign-started' || event.kind === 'campaign-amended',
  )
  if (inForce === undefined) throw new Error('no campaign')
  const { spec_sha256, spec_yaml, harness } = inForce
  const draft = { spec_sha256, spec_yaml, harness, source: 'person', reason: 'renamed' } as const
  await append(site, [{ kind: 'campaign-amended', cause: 'x', ...draft, default_branch: 'refs/heads/trunk' }])
}

/** The path and bytes of an event as its file has them. */
export function fileOf(event: LedgerEvent): { path: string; text: string } {
  const path = `events/0000/${String(event.seq).padStart(6, '0')}.json`
  return { path, text: `${toCanonicalJson(event)}\n` }
}

export async function whatAuditSays(site: Site): Promise<{ result: AuditResult; words: string }> {
  const result = await auditLedger(site.place)
  return { result, words: result.problems.map(({ what }) => what).join('\n') }
}
