import { type Buffer, isUtf8 } from 'node:buffer'
import { posix } from 'node:path'
import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { TreeEntry } from '../git/tree.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Oid, Point } from '../model/ids.ts'
import { toSafeLine } from '../model/text.ts'
import { sortIdeas } from '../plan/intake.ts'
import type { Proposal } from '../plan/world.ts'
import { listDiffReadings, splitDiffLines } from './diff.ts'
import {
  createUnreadableIdea,
  PATCH_FILE,
  type PatchDiff,
  type PatchIdea,
  readPatchText,
} from './patch-text.ts'

type PatchRepository = Pick<Repository, 'applyPatch' | 'commit' | 'mergeTree' | 'writeCommit'>

/** A cache held by the caller, so that a patch is applied once to an incumbent. */
export type PreparedPatches = Map<string, PreparedPatch>

interface PreparedPatch {
  head: Proposal['head']
  learnings: string | null
}

interface PatchRequest {
  repo: PatchRepository
  files: readonly PatchFile[]
  incumbent: Point
  /** The tip of the default branch, for which the patches were written. */
  fallbackBase?: Point
  campaign: Pick<Campaign, 'sources' | 'experiments'>
  limit: number
  prepared: PreparedPatches
}

/**
 * Patches that are not experiments yet, each as one commit on the incumbent or with the reason for its
 * rejection.
 */
export async function proposePatches(request: PatchRequest): Promise<Proposal[]> {
  const { limit } = request
  const proposals: Proposal[] = []
  for (const file of listUntriedPatches(request).slice(0, limit)) {
    const source = { use: 'patch', key: file.key }
    const prepared = await preparePatch(request, file)
    const simplifies = file.simplifies ? { simplifies: true as const } : {}
    proposals.push({ ...file.idea, ...simplifies, source, ...prepared, branch: null, pull: null })
  }
  return proposals
}

/** In the order in which they are opened. File names decide last. */
export function listUntriedPatches({
  campaign,
  files,
}: Pick<PatchRequest, 'campaign' | 'files'>): PatchFile[] {
  const untried = files.filter(({ key }) => !Object.hasOwn(campaign.sources, key))
  const ordered = sortIdeas(
    campaign,
    untried.map(file => ({ ...file.idea, file })),
  )
  return ordered.map(({ file }) => file)
}

async function preparePatch(request: PatchRequest, file: PatchFile): Promise<PreparedPatch> {
  const { prepared, incumbent, fallbackBase } = request
  const id = [incumbent.commit, fallbackBase?.commit ?? '', file.key].join(' ')
  const known = prepared.get(id)
  if (known) return known
  for (const other of prepared.keys()) if (!other.startsWith(incumbent.commit)) prepared.delete(other)
  const made = await buildPatchHead(request, file)
  prepared.set(id, made)
  return made
}

async function buildPatchHead(request: PatchRequest, file: PatchFile): Promise<PreparedPatch> {
  const { repo, incumbent } = request
  const changed = await applyPatchFile(request, file)
  if ('rejected' in changed) return { head: changed, learnings: null }
  const message = `${file.idea.hypothesis}\n\nWinnow-Source: ${file.key}`
  const commit = await commitPatchedTree(repo, incumbent, changed.tree, message)
  const learnings = changed.withEarlier === true ? WITH_EARLIER : null
  return { head: { commit, base: incumbent }, learnings }
}

const WITH_EARLIER =
  'It does not apply without the earlier patches of its series, and was measured together with them.'

type PatchedTree = { tree: Oid; withEarlier?: true } | { rejected: string }

interface PatchTarget extends Pick<PatchRequest, 'incumbent' | 'fallbackBase'> {
  repo: PatchRepository
  /** How messages name the incumbent before there is one. */
  named?: string
}

/** Applies a patch to the incumbent, with the earlier patches of its series if it needs them. */
export async function applyPatchFile(
  applying: PatchTarget,
  { path, content }: Pick<PatchFile, 'path' | 'content'>,
): Promise<PatchedTree> {
  if ('problem' in content) return { rejected: content.problem }
  const { diffs, earlier } = content
  const alone = await applyToIncumbent(applying, path, diffs)
  if ('tree' in alone || earlier.length === 0) return alone
  const after = await applyToIncumbent(applying, path, [...earlier, ...diffs])
  return 'tree' in after ? { ...after, withEarlier: true } : alone
}

async function applyToIncumbent(
  { repo, incumbent, fallbackBase, named = 'the incumbent' }: PatchTarget,
  path: string,
  diffs: readonly PatchDiff[],
): Promise<PatchedTree> {
  const here = await applyDiffs(repo, incumbent.tree, { path, diffs, named })
  if ('tree' in here) return here
  if (!fallbackBase || fallbackBase.tree === incumbent.tree) return here
  const there = await applyDiffs(repo, fallbackBase.tree, { path, diffs, named })
  return 'tree' in there
    ? mergeIntoIncumbent(repo, path, { incumbent, base: fallbackBase, tree: there.tree })
    : here
}

async function applyDiffs(
  repo: PatchRepository,
  from: Oid,
  { path, diffs, named }: { path: string; diffs: readonly PatchDiff[]; named: string },
): Promise<PatchedTree> {
  let tree = from
  for (const { diff, linesBefore } of diffs) {
    const readings = listDiffReadings(diff)
    // A policy check rejects an empty patch later.
    if (readings === null && diff.trim() === '') continue
    if (readings === null) return { rejected: `${path}:${linesBefore + 1}: there is no diff in it` }
    const result = await applyFirstReading(repo, tree, readings)
    if ('rejected' in result) {
      const { why, line } = readRejection(result.rejected, diff)
      const location = line === null ? path : `${path}:${line + linesBefore}`
      return { rejected: `${location} does not apply to ${named}: ${why}` }
    }
    tree = result.tree
  }
  return { tree }
}

async function applyFirstReading(
  repo: PatchRepository,
  tree: Oid,
  readings: readonly string[],
): Promise<PatchedTree> {
  let first: PatchedTree | null = null
  for (const reading of readings) {
    const result = await repo.applyPatch(tree, reading)
    if ('tree' in result) return result
    first ??= result
  }
  return first ?? { rejected: 'there is no diff' }
}

/** The patch gives this tree on its own base: git merges it into the incumbent, or names the conflicts. */
async function mergeIntoIncumbent(
  repo: PatchRepository,
  path: string,
  { incumbent, base, tree }: { incumbent: Point; base: Point; tree: Oid },
): Promise<PatchedTree> {
  const written = await commitPatchedTree(repo, base, tree, `Applied: ${path}`)
  const result = await repo.mergeTree(incumbent.commit, written)
  if (result.clean) return { tree: result.tree }
  return { rejected: `${path} conflicts with the incumbent in ${result.conflicts.slice(0, 5).join(', ')}` }
}

/** Uses the parent's date: the same patch on the same incumbent gives the same commit on any machine. */
export async function commitPatchedTree(
  repo: Pick<PatchRepository, 'commit' | 'writeCommit'>,
  parent: Point,
  tree: Oid,
  message: string,
): Promise<Oid> {
  const { committer } = await repo.commit(parent.commit)
  return repo.writeCommit({ tree, parents: [parent.commit], message, date: committer.date })
}

// Patch files

/** An idea stored in the repository as a patch file, or as one mail of a mailbox. */
export interface PatchFile extends PatchIdea {
  path: string
  /** Identifies the idea permanently: a changed file or mail is a new idea. */
  key: string
}

type PatchTree = Pick<Repository, 'findEntry' | 'tree' | 'blob'>

/** The ideas of a folder of patches in name order. A missing folder has none. */
export async function readPatches(repo: PatchTree, tree: string, dir: string): Promise<PatchFile[]> {
  const normal = posix.normalize(dir).replace(/\/+$/, '')
  const folder = normal === '.' ? '' : normal
  const entry = await repo.findEntry(tree, folder)
  if (entry === null) return []
  if (entry.type !== 'tree')
    throw new UserError(`propose.dir ${JSON.stringify(dir)} is a file on the default branch`, {
      place: { path: 'propose.dir' },
      fix: 'name a folder of patches, relative to the top of the repository',
    })
  const files: PatchFile[] = []
  for (const child of await repo.tree(entry.oid)) {
    if (child.type === 'tree' || !PATCH_FILE.test(child.name)) continue
    files.push(...(await readPatch(repo, folder === '' ? child.name : `${folder}/${child.name}`, child)))
  }
  return files
}

async function readPatch(repo: PatchTree, path: string, { oid, mode }: TreeEntry): Promise<PatchFile[]> {
  const isLink = mode === '120000' || mode === '160000'
  const ideas = isLink
    ? [createUnreadableIdea(`${path}: it is a link, not a file`, `patch ${path}`)]
    : readPatchBytes(await repo.blob(oid), path)
  return ideas.map(idea => ({ ...idea, path, key: `patch:${path}:${idea.part ?? oid}` }))
}

/** A file that is not UTF-8 text becomes one unreadable idea. */
export function readPatchBytes(bytes: Buffer, path: string): PatchIdea[] {
  if (isUtf8(bytes)) return readPatchText(bytes.toString('utf8'), path)
  const why = 'it is not UTF-8 text; propose a change to files in another encoding as a branch'
  return [createUnreadableIdea(`${path}: ${why}`, `patch ${path}`)]
}

// Rejections by git

/**
 * Translates messages of git apply for the author of the patch. `line` is a line of the diff, `hunk` a line of
 * the file. The first match is the cause.
 */
const REJECTIONS: readonly (readonly [message: RegExp, explain: (path: string, hunk: string) => string])[] = [
  [/corrupt patch at (?:line |.*:)(?<line>\d+)/, () => 'the diff is damaged here'],
  [
    /patch fragment without header at (?:line |.*:)(?<line>\d+)/,
    () => 'this change does not say to which file it belongs',
  ],
  [
    /corrupt binary patch at (?:line |.*:)(?<line>\d+)/,
    () => 'the binary content is damaged here; make it with git diff --binary',
  ],
  [
    /(?:cannot apply binary patch to|missing binary patch data for) '(?<path>.*?)'/,
    path => `${path} is binary and its content is not in the patch; make it with git diff --binary`,
  ],
  [/patch failed: (?<path>.*):(?<hunk>\d+)$/m, (path, hunk) => `${path} does not match at line ${hunk}`],
  [/error: (?<path>.*): does not exist in index/, path => `${path} does not exist`],
  [/error: (?<path>.*): already exists in index/, path => `${path} exists already`],
  [/invalid path '(?<path>.*?)'/, path => `${path} is not a path a patch may change`],
  [/No valid patches in input/, () => 'git finds no change in it; make it with git diff or git format-patch'],
]

export function readRejection(gitMessage: string, diff: string): { why: string; line: number | null } {
  for (const [message, explain] of REJECTIONS) {
    const match = message.exec(gitMessage)
    if (match === null) continue
    const { path = '', hunk = '', line } = match.groups ?? {}
    const why = toSafeLine(explain(path, hunk), 300)
    if (path === '') return { why, line: line === undefined ? null : Number(line) }
    return { why, line: hunk === '' ? findHeaderLine(diff, path) : findHunkLine(diff, path, Number(hunk)) }
  }
  return { why: toSafeLine(gitMessage.replace(/^(?:error|fatal): /, ''), 300), line: null }
}

function findHeaderLine(diff: string, path: string): number | null {
  const found = splitDiffLines(diff).findIndex(
    ({ kind, text }) =>
      kind === 'header' && isFileHeader(text.replace(/\r$/, '').split('\t', 1)[0] ?? '', path),
  )
  return found === -1 ? null : found + 1
}

/** `src/a.ts` is another file than `a.ts`. */
function isFileHeader(text: string, path: string): boolean {
  return ['', 'a/', 'b/'].some(prefix => text.endsWith(` ${prefix}${path}`))
}

/** The `@@` line of the hunk that starts at this line of the file. */
function findHunkLine(diff: string, path: string, oldLine: number): number | null {
  const from = findHeaderLine(diff, path)
  if (from === null) return null
  const lines = splitDiffLines(diff)
  const at = lines.findIndex(
    ({ kind, text }, index) =>
      index + 1 > from && kind === 'header' && Number(/^@@ -(\d+)/.exec(text)?.[1]) === oldLine,
  )
  return at === -1 ? from : at + 1
}
