import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import type { Repository } from '../git/repository.ts'
import { createGitRunner } from '../git/runner.ts'
import type { RemoteTip } from '../git/fetch.ts'
import { listTreeFiles, readTreeFile } from '../git/tree.ts'
import type { NewFile } from '../init/harness.ts'
import { buildEventPath } from '../ledger/event-file.ts'
import { isLedger } from '../ledger/read-events.ts'
import { buildCampaignRefs, type Oid, type Point, toShortRef } from '../model/ids.ts'
import type { ProgressReporter } from '../ports.ts'
import { parseSpec } from '../spec/load.ts'
import type { Spec } from '../spec/schema.ts'

export const DEFAULT_PREFIX = 'optimize'
export const PUSH_OR_LOCAL = 'git push, or run winnow with --remote none to use this repository alone'
const LEDGERS = 'refs/heads/*-state/*'
const STATE_REF = /^refs\/heads\/([^/]+)-state\/([^/]+)$/
const SPEC_FILE = /^[^/]+\.ya?ml$/
const USUAL_SPEC = /^\.winnow\/[^/]+\.ya?ml$/

/** A spec on the default branch, a ledger, or both. */
export interface KnownCampaign {
  name: string
  specPath: string | null
  /** All committed specs of that name. More than one is an error. */
  paths: readonly string[]
  spec: Spec | null
  prefix: string
  started: boolean
  /** The first event of its ledger; null without a readable ledger. */
  start: CampaignStart | null
  problem: UserError | null
  /** A branch that is not its ledger has the name of its ledger. */
  blocked?: UserError
}

type StartedLedger = Pick<KnownCampaign, 'name' | 'prefix'> & {
  start: CampaignStart | null
  /** Why the branch is no ledger of this campaign; null if it is one. */
  mistaken: string | null
}

/** A broken spec has the name of its file, and a problem. */
type CommittedSpecFile = Pick<KnownCampaign, 'name' | 'spec' | 'problem'> & { path: string }

/** The fields of the first event that identify a campaign. */
const startSchema = z.looseObject({
  kind: z.literal('campaign-started'),
  spec: z.string(),
  /** Where the spec was then. It may have moved since. */
  spec_path: z.string(),
  default_branch: z.string(),
})

export type CampaignStart = z.infer<typeof startSchema> & {
  /** Text of the spec in force; null if missing. */
  spec_yaml: string | null
}

interface KnownCampaignsRequest {
  /** A spec outside `.winnow`. */
  specPath?: string | undefined
  /** Hears once of each branch that only has the name of a ledger. */
  progress?: ProgressReporter
}

export async function listKnownCampaigns(
  repositoryContext: Pick<RepositoryContext, 'repository' | 'defaultBranch'>,
  { specPath, progress }: KnownCampaignsRequest = {},
): Promise<KnownCampaign[]> {
  const { repository, defaultBranch } = repositoryContext
  const { refs } = await repository.remoteRefs([LEDGERS, ...(defaultBranch === null ? [] : [defaultBranch])])
  const ledgers = await listStartedCampaigns(repository, refs)
  const recorded = ledgers.flatMap(({ start }) => start?.spec_path ?? [])
  const named = specPath === undefined ? recorded : [...recorded, specPath]
  const oid = refs.get(defaultBranch ?? '')
  const committed =
    defaultBranch === null || oid === undefined
      ? []
      : await listCommittedSpecs(repository, { ref: defaultBranch, oid }, named)
  const known = collectStartable(committed)
  const declared = new Set([DEFAULT_PREFIX, ...[...known.values()].map(({ prefix }) => prefix)])
  for (const ledger of ledgers) {
    const { name, prefix, start, mistaken } = ledger
    // A person's branch may look like a ledger of another prefix. Check its first event.
    if (!declared.has(prefix) && start?.spec !== name) continue
    const there = known.get(name)
    if (mistaken !== null) {
      if (progress !== undefined) reportOnce(progress, `${mistaken}, so winnow leaves it alone.`)
      if (there?.started === false && there.prefix === prefix)
        known.set(name, { ...there, blocked: createBlockedError(ledger, mistaken) })
      continue
    }
    if (there?.started !== true || prefix === there.spec?.branches.prefix)
      known.set(name, toStartedCampaign(ledger, there))
  }
  return [...known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const reported = new WeakMap<ProgressReporter, Set<string>>()

/** One run may list the campaigns several times. */
function reportOnce(progress: ProgressReporter, line: string): void {
  const lines = reported.get(progress) ?? new Set()
  reported.set(progress, lines)
  if (!lines.has(line)) progress.say(line)
  lines.add(line)
}

function createBlockedError({ name, prefix }: StartedLedger, mistaken: string): UserError {
  const { state } = buildCampaignRefs(prefix, name)
  return new UserError(`${mistaken}, and campaign ${name} needs that name`, {
    place: { path: toShortRef(state) },
    fix: 'rename that branch, or choose another branches.prefix in the spec',
  })
}

/** A broken spec is listed under its file name, so it must not displace a valid spec of that name. */
function collectStartable(specs: readonly CommittedSpecFile[]): Map<string, KnownCampaign> {
  const found = new Map<string, KnownCampaign>()
  for (const { name, path, spec, problem } of specs.toSorted((a, b) => Number(!a.spec) - Number(!b.spec))) {
    const known = found.get(name)
    if (known === undefined) {
      const prefix = spec?.branches.prefix ?? DEFAULT_PREFIX
      const alone = { specPath: path, paths: [path], started: false, start: null }
      found.set(name, { name, ...alone, spec, prefix, problem })
    } else if (spec !== null) {
      const paths = [...known.paths, path]
      found.set(name, { ...known, paths, problem: createDuplicateNameError(name, paths) })
    }
  }
  return found
}

function toStartedCampaign(
  { name, prefix, start }: Pick<StartedLedger, 'name' | 'prefix' | 'start'>,
  there: KnownCampaign | undefined,
): KnownCampaign {
  const without = { name, specPath: null, paths: [], spec: null, problem: null }
  return { ...without, ...there, prefix, started: true, start }
}

export function createDuplicateNameError(name: string, paths: readonly string[]): UserError {
  return new UserError(`${paths.toSorted().join(' and ')} are both named ${name}`, {
    place: { file: paths.toSorted()[0] ?? '', path: 'name' },
    fix: 'give one of them another name',
  })
}

// Committed specs

/** Reads the specs in `.winnow` and other named files, because ce specs can be anywhere. */
async function listCommittedSpecs(
  repository: Repository,
  tip: RemoteTip,
  others: readonly string[],
): Promise<CommittedSpecFile[]> {
  await repository.fetch([tip])
  const { tree } = await repository.commit(tip.oid)
  const found: CommittedSpecFile[] = []
  for (const path of new Set([...(await listSpecPaths(repository, tree)), ...others])) {
    const yaml = await readTreeFile(repository, tree, path)
    if (yaml !== null) found.push(parseCommittedSpec(path, yaml))
  }
  return found
}

async function listSpecPaths(repository: RepositoryContext['repository'], tree: string): Promise<string[]> {
  const directory = await repository.findEntry(tree, '.winnow')
  if (directory?.type !== 'tree') return []
  const entries = await repository.tree(directory.oid)
  return entries.flatMap(({ type, name }) =>
    type === 'blob' && SPEC_FILE.test(name) ? [`.winnow/${name}`] : [],
  )
}

function parseCommittedSpec(path: string, yaml: string): CommittedSpecFile {
  try {
    const { spec } = parseSpec(yaml, { file: path })
    return { name: spec.name, path, spec, problem: null }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { name: toSpecName(path), path, spec: null, problem: error }
  }
}

export function toSpecName(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.ya?ml$/, '')
}

// Ledgers

/** Returns null if the ref is not a readable ledger. Loading the campaign reports the reason. */
export async function readCampaignStart(
  repository: Repository,
  ledger: RemoteTip,
): Promise<CampaignStart | null> {
  await repository.fetch([ledger])
  const { tree } = await repository.commit(ledger.oid)
  const event = await readTreeFile(repository, tree, buildEventPath(0).path)
  const start = parseCampaignStart(event ?? '')
  return start && { ...start, spec_yaml: await readTreeFile(repository, tree, 'spec.yaml') }
}

function parseCampaignStart(text: string): z.infer<typeof startSchema> | null {
  try {
    return startSchema.safeParse(JSON.parse(text)).data ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Searches all prefixes, so that a campaign is found even if its spec is missing. */
async function listStartedCampaigns(
  repository: Repository,
  refs: ReadonlyMap<string, Oid>,
): Promise<StartedLedger[]> {
  const ledgers: StartedLedger[] = []
  for (const [ref, oid] of refs) {
    const [, prefix, name] = STATE_REF.exec(ref) ?? []
    if (prefix === undefined || name === undefined) continue
    const start = await readCampaignStart(repository, { ref, oid })
    const mistaken = await explainMistakenLedger(repository, { ref, oid }, { name, start })
    ledgers.push({ name, prefix, start, mistaken })
  }
  return ledgers
}

/** A damaged ledger is one all the same: loading it says what is wrong. */
async function explainMistakenLedger(
  repository: Repository,
  { ref, oid }: RemoteTip,
  { name, start }: Pick<StartedLedger, 'name' | 'start'>,
): Promise<string | null> {
  const branch = toShortRef(ref)
  if (start === null) return (await isLedger(repository, oid)) ? null : `${branch} is not a ledger of winnow`
  return start.spec === name ? null : `${branch} holds the ledger of campaign ${start.spec}`
}

/** Returns the tree with these files added or replaced. */
export async function writeFilesToTree(
  repository: Repository,
  tree: string,
  files: readonly NewFile[],
): Promise<string> {
  const changes = []
  for (const { path, text } of files)
    changes.push({ path, entry: { mode: '100644' as const, oid: await repository.writeBlob(text) } })
  return repository.replaceEntries(tree, changes)
}

// Specs elsewhere

/** Finds a spec that is committed here but missing on the remote, which is the only copy that winnow reads. */
export async function findUnpushedSpec(
  { checkout, defaultBranch, local }: RepositoryContext,
  env: Readonly<Record<string, string>>,
  { wanted, pushed }: { wanted: (path: string) => boolean; pushed: readonly string[] },
): Promise<UserError | null> {
  if (local || checkout.topLevel === null || defaultBranch === null) return null
  const here = (await listCommittedPaths(checkout.topLevel, env)).filter(
    path => wanted(path) && !pushed.includes(path),
  )
  const [first] = here
  if (first === undefined) return null
  const [what, is] = here.length === 1 ? [first, 'is'] : [here.slice(0, 3).join(', '), 'are']
  const there = `${toShortRef(defaultBranch)} of the remote does not have ${here.length === 1 ? 'it' : 'them'}`
  return new UserError(`${what} ${is} committed here but not pushed: ${there}`, {
    place: { file: first },
    fix: PUSH_OR_LOCAL,
  })
}

export function isUsualSpec(path: string): boolean {
  return USUAL_SPEC.test(path)
}

async function listCommittedPaths(
  topLevel: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const git = createGitRunner(buildLocalIsolation(topLevel, env))
  return git.run({
    args: ['ls-tree', '-r', '-z', '--name-only', '--full-tree', 'HEAD'],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.split('\0').filter(path => path !== '') : []),
  })
}

/** Lists specs of the work tree and of the default branch, because both block a new spec of the same name. */
export async function listExistingSpecs(
  { repository, checkout }: RepositoryContext,
  base: Point,
): Promise<{ name: string; path: string }[]> {
  const committed = (await listTreeFiles(repository, base.tree)).map(({ path }) => path)
  const here =
    checkout.topLevel === null
      ? null
      : await readdir(join(checkout.topLevel, '.winnow')).catch(toNullIfMissing)
  const paths = new Set([...committed, ...(here ?? []).map(name => `.winnow/${name}`)])
  return [...paths]
    .filter(isUsualSpec)
    .toSorted()
    .map(path => ({ path, name: toSpecName(path) }))
}
