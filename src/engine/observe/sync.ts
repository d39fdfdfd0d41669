import { posix } from 'node:path'
import { isManifest } from '../../decide/packages.ts'
import { UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import { compareTrees, type EntryValue, listTreeFiles, readTreeFile } from '../../git/tree.ts'
import { computeHarnessHash, selectHarnessEntries } from '../../measure/harness-check.ts'
import type { Campaign } from '../../model/campaign.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import type { ExperimentId, Oid, Point } from '../../model/ids.ts'
import { getOwnValue } from '../../model/own-value.ts'
import type { SyncFacts } from '../../plan/world.ts'
import { getParseOptions, parseSpec } from '../../spec/load.ts'
import { type CampaignLocation, listPlannedFeatures } from '../../spec/planned-features.ts'
import type { Spec } from '../../spec/schema.ts'
import {
  compileUnreadPathTest,
  escapePattern,
  isPathNamed,
  isReadingWholeTree,
  isWalkingTree,
  listMeasuredCommands,
} from '../../spec/scope.ts'
import { describeRename, readPoint } from '../campaign/context.ts'
import { explainExposedPath } from '../campaign/hidden-paths.ts'

interface SyncRequest {
  repository: Repository
  campaign: Campaign
  spec: Spec
  defaultTip: Point
  where: CampaignLocation
  /** Called only when the default branch brings another spec. */
  isPrivate?: (() => Promise<boolean>) | undefined
  /** Set when a person already merged exactly these two on the optimize branch. */
  byHand?: Point | undefined
}

/** A merge of the incumbent with a commit of the default branch, which may have moved on since. */
export async function findManualMerge(
  repository: Repository,
  { incumbent }: Pick<Campaign, 'incumbent'>,
  { optimizeTip, defaultTip }: { optimizeTip: Point | null; defaultTip: Point },
): Promise<{ byHand: Point; defaultTip: Point } | null> {
  if (optimizeTip === null || optimizeTip.commit === incumbent.commit) return null
  const { parents } = await repository.commit(optimizeTip.commit)
  const [first, second] = parents
  if (parents.length !== 2 || first !== incumbent.commit || second === undefined) return null
  if (!(await repository.isAncestor(second, defaultTip.commit))) return null
  return { byHand: optimizeTip, defaultTip: await readPoint(repository, second) }
}

/** Returns null while the default branch is where it was last merged. */
export async function readSyncFacts(request: SyncRequest): Promise<SyncFacts | null> {
  const { repository, campaign, defaultTip } = request
  if (campaign.status === 'none' || defaultTip.commit === campaign.default_tip) return null
  const tip = defaultTip.commit
  const merged = await repository.mergeTree(campaign.incumbent.commit, tip)
  const spec = await readSyncRuler(request)
  if (!merged.clean) {
    const changed = 'parsed' in spec && spec.changed ? { spec: spec.parsed } : {}
    return { result: 'conflict', tip, paths: merged.conflicts, ...changed }
  }
  if ('message' in spec) return { result: 'bad-spec', tip, message: spec.message }
  const exposed = await explainExposedPath(repository, spec.parsed, merged.tree)
  if (exposed !== null) return { result: 'bad-spec', tip, message: exposed }
  const to = { commit: await writeSyncCommit(request, merged.tree), tree: merged.tree }
  const harness = await computeTreeHarness(repository, spec.parsed, merged.tree)
  const { byHand } = request
  const unread =
    harness === campaign.harness &&
    (await isUnread(repository, spec.parsed, { from: campaign.incumbent.tree, to: to.tree }))
  return {
    result: 'clean',
    tip,
    tipTree: defaultTip.tree,
    holds: await findContainedLandings(repository, campaign, tip),
    to,
    spec,
    harness,
    unread,
    ...(byHand?.tree === to.tree ? { byHand } : {}),
  }
}

/** Each landing contains all earlier ones, so a binary search finds the last. */
export async function findContainedLandings(
  repository: Pick<Repository, 'isAncestor'>,
  { landings }: Pick<Campaign, 'landings'>,
  commit: Oid,
): Promise<ExperimentId[]> {
  let [held, unknown] = [0, landings.length]
  while (held < unknown) {
    const middle = Math.floor((held + unknown) / 2)
    const landing = landings[middle]
    if (landing !== undefined && (await repository.isAncestor(landing.commit, commit))) held = middle + 1
    else unknown = middle
  }
  return landings.slice(0, held).map(({ experiment }) => experiment)
}

/** A sync that is being measured ends before a later commit of the default branch is considered. */
export async function findTipInProgress(
  repository: Repository,
  { orders, alerts }: Pick<Campaign, 'orders' | 'alerts'>,
  defaultTip: Point,
): Promise<Point> {
  const live = Object.values(orders).find(({ order }) => order.purpose === 'sync')
  const commit = live && (await repository.commit(live.order.pin.commit)).parents[1]
  const hasFailed = alerts.some(({ code, about }) => code === 'sync-failed' && about === commit)
  if (commit === undefined || hasFailed || !(await repository.isAncestor(commit, defaultTip.commit)))
    return defaultTip
  return readPoint(repository, commit)
}

type SyncRuler = Extract<SyncFacts, { result: 'clean' }>['spec']

async function readSyncRuler({
  repository,
  campaign,
  spec,
  defaultTip,
  where,
  isPrivate,
}: SyncRequest): Promise<SyncRuler | { message: string }> {
  const yaml = await readTreeFile(repository, defaultTip.tree, campaign.spec_path)
  if (yaml === null) return { message: `${campaign.spec_path} is gone` }
  const changed = hashSha256(yaml) !== campaign.default_spec_sha256
  if (!changed) return { yaml: campaign.spec_yaml, sha256: campaign.spec_sha256, changed, parsed: spec }
  try {
    const hidden = await isPrivate?.()
    const placed = hidden === undefined ? campaign : { ...campaign, private_repository: hidden }
    const parsed = parseSpec(yaml, getParseOptions(placed))
    const missing = listPlannedFeatures(parsed.spec, where)
    if (missing.length > 0) return { message: missing.join(' ') }
    const now = describeRename({ name: campaign.name, prefix: spec.branches.prefix }, parsed.spec)
    if (now !== null) return { message: now }
    const syncSpec = { yaml, sha256: parsed.sha256, changed, parsed: parsed.spec }
    return hidden === undefined ? syncSpec : { ...syncSpec, private: hidden }
  } catch (error) {
    if (error instanceof UserError) return { message: error.message }
    throw error
  }
}

/** Deterministic: the same incumbent and tip give the same commit on every machine. */
async function writeSyncCommit(
  { repository, campaign, defaultTip }: SyncRequest,
  tree: string,
): Promise<string> {
  const { committer } = await repository.commit(defaultTip.commit)
  const message = `optimize(${campaign.name}): sync with ${campaign.default_branch.replace('refs/heads/', '')}\n\nWinnow-Sync: ${defaultTip.commit}\n`
  const parents = [campaign.incumbent.commit, defaultTip.commit]
  return repository.writeCommit({ tree, parents, message, date: committer.date })
}

const MOST_PATHS = 200
/** A bundled harness may have some MiB. */
const MOST_SCRIPT_BYTES = 8 * 1024 * 1024

/**
 * Returns whether harness, gates and setup cannot read what differs between two trees. The check is static and
 * conservative: every path is documentation, a spec or a patch, and no command, no script and no other file of
 * the project names it. In doubt it returns false, and the difference is measured.
 */
export async function isUnread(
  repository: Repository,
  spec: Spec,
  { from, to }: { from: Oid; to: Oid },
): Promise<boolean> {
  const differences = await compareTrees(repository, from, to)
  const isUnreadPath = compileUnreadPathTest(spec)
  if (differences.length > MOST_PATHS || !differences.every(({ path }) => isUnreadPath(path))) return false
  // A symbolic link points to another file, and an executable is made to be run.
  const isPlain = (entry: EntryValue | null) => entry === null || entry.mode === '100644'
  if (!differences.every(each => isPlain(each.from) && isPlain(each.to))) return false
  const paths = differences.map(({ path }) => path).filter(path => !path.startsWith('.winnow/'))
  if (paths.length === 0) return true
  return (
    !(await isReadByScripts(repository, spec, { tree: to, paths })) &&
    !(await isMentioned(repository, spec, to, paths))
  )
}

async function isReadByScripts(
  repository: Repository,
  spec: Spec,
  { tree, paths }: { tree: Oid; paths: readonly string[] },
): Promise<boolean> {
  const { working_directory: directory } = spec.measurement
  const readText = (path: string) => readScript(repository, tree, posix.join(directory, path))
  const commands = listMeasuredCommands(spec)
  const manifest = await readText('package.json')
  const lines = [...commands, ...listPackageScripts(commands, manifest)]
  const files = await Promise.all(
    [...new Set([...lines.flatMap(splitWords), ...listTaskFiles(lines)])].map(async word => ({
      path: word,
      text: (await readText(word)) ?? '',
    })),
  )
  if (lines.some(line => isReadingWholeTree(line))) return true
  const texts = [...lines, ...files.map(({ text }) => text)]
  if (paths.some(path => texts.some(text => isPathNamed(text, path)))) return true
  return files.some(({ path, text }) =>
    isShell(path, text) ? isReadingWholeTree(text) : isWalkingTree(text),
  )
}

function splitWords(line: string): string[] {
  return line.split(/[\s;&|()'"=<>]+/).filter(word => /^[\w@.][\w@./+-]*$/.test(word) && !word.includes('..'))
}

function isShell(path: string, text: string): boolean {
  return (
    /(?:\.(?:sh|bash|zsh)|(?:^|\/)(?:makefile|justfile|taskfile\.ya?ml|tox\.ini))$/i.test(path) ||
    /^#!.*\b(?:ba|z|da)?sh\b/.test(text)
  )
}

/** Task files that hold the commands of `make test` and similar. */
function listTaskFiles(lines: readonly string[]): string[] {
  const all: [RegExp, string[]][] = [
    [/\bmake\b/, ['Makefile', 'makefile', 'GNUmakefile']],
    [/\bjust\b/, ['justfile', 'Justfile', '.justfile']],
    [/\btask\b/, ['Taskfile.yml', 'Taskfile.yaml']],
    [/\btox\b/, ['tox.ini']],
    [/\bnox\b/, ['noxfile.py']],
    [/\brake\b/, ['Rakefile']],
  ]
  return all.flatMap(([word, files]) => (lines.some(line => word.test(line)) ? files : []))
}

const RUNS = /\b(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?(?:-\S+\s+)*([\w:.-]+)/g

/** Returns the package.json scripts that the commands run, directly or through other scripts. */
function listPackageScripts(commands: readonly string[], manifest: string | null): string[] {
  const scripts = parseScripts(manifest)
  const found = new Map<string, string>()
  const open = [...commands]
  for (let line = open.pop(); line !== undefined; line = open.pop()) {
    for (const [, word = ''] of line.matchAll(RUNS)) {
      const name = word === 't' ? 'test' : word === 'ci' || word === 'i' ? 'install' : word
      for (const each of [`pre${name}`, name, `post${name}`, ...(name === 'install' ? ['prepare'] : [])]) {
        const text = getOwnValue(scripts, each)
        if (text === undefined || found.has(each)) continue
        found.set(each, text)
        open.push(text)
      }
    }
  }
  return [...found.values()]
}

function parseScripts(manifest: string | null): Record<string, string> {
  try {
    const parsed: unknown = JSON.parse(manifest ?? '{}')
    const scripts = typeof parsed === 'object' && parsed !== null && 'scripts' in parsed ? parsed.scripts : {}
    const entries = typeof scripts === 'object' && scripts !== null ? Object.entries(scripts) : []
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    // An invalid manifest has no scripts to run.
    return {}
  }
}

async function readScript(repository: Repository, tree: Oid, path: string): Promise<string | null> {
  const entry = await repository.findEntry(tree, path)
  if (entry?.type !== 'blob') return null
  const bytes = await repository.blob(entry.oid)
  return bytes.length > MOST_SCRIPT_BYTES ? null : bytes.toString('utf8')
}

/** Files that list documentation files but do not open them during a measurement. */
const ONLY_LISTS =
  /^(?:\.github\/|\.vscode\/|\.winnow\/)|(?:^|\/)(?:\.[\w-]*ignore|\.editorconfig|\.gitattributes|manifest\.in|mkdocs\.ya?ml|typedoc\.json|\.markdownlint[^/]*|\.readthedocs\.ya?ml|renovate\.json|[^/]+\.gemspec)$/i

/** By its name, its folder or its extension. */
async function isMentioned(
  repository: Repository,
  spec: Spec,
  tree: Oid,
  paths: readonly string[],
): Promise<boolean> {
  const isUnreadPath = compileUnreadPathTest(spec)
  const found = await repository.grep(tree, [...new Set(paths.flatMap(buildMentionPatterns))])
  return found.some(path => !isUnreadPath(path) && !ONLY_LISTS.test(path) && !isManifest(path))
}

const BEFORE = '(^|[^A-Za-z0-9_./-]|\\.\\.?/|[}"\'`]/)'

function buildMentionPatterns(path: string): string[] {
  const parts = path.split('/')
  const file = parts.at(-1) ?? path
  const [, type] = /\.([A-Za-z]+)$/.exec(file) ?? []
  const inFolder =
    parts.length > 1
      ? [`${BEFORE}${escapePattern(parts[0] ?? '')}/`, `['"]${escapePattern(parts[0] ?? '')}['"]`]
      : []
  const byType =
    type === undefined ? [] : [`([}*"'\`]|\\\\)\\.${type}([^A-Za-z0-9]|$)`, `\\.\\{[^}]*${type}[^}]*\\}`]
  return [`${BEFORE}${escapePattern(file)}`, ...inFolder, ...byType]
}

/** Invariant 4: hashes the harness as the pinned tree holds it. */
export async function computeTreeHarness(repository: Repository, spec: Spec, tree: Oid): Promise<string> {
  return computeHarnessHash(spec, selectHarnessEntries(spec, await listTreeFiles(repository, tree)))
}
