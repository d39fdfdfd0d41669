import { posix } from 'node:path'
import { hashSha256 } from '../model/canonical.ts'
import type { IdeaText } from '../plan/world.ts'
import { MOST_UNPACKED, countUnpackedBytes } from './answers-file.ts'
import { splitDiffLines, hasDiff } from './diff-lines.ts'
import { splitFrontMatter } from './front-matter.ts'
import { toIdea, readBlock } from './idea-block.ts'
import { type PatchMail, readMails, withDiffs } from './patch-mail.ts'
import { toSafeLine } from './quoted-text.ts'

/** A diff, and the lines of its file that stand before it. */
export interface PatchDiff {
  diff: string
  linesBefore: number
}

/** Diffs that are applied one after the other. */
export interface PatchContent {
  diffs: readonly PatchDiff[]
  /** Earlier patches of the same series, applied first where the diffs do not apply without them. */
  earlier: readonly PatchDiff[]
}

export interface PatchIdea {
  idea: IdeaText
  /** The patch declares itself a simplification. */
  simplifies: boolean
  /** Names the mail in a file of several; null where the file is one idea. */
  part: string | null
  content: PatchContent | { problem: string }
}

/** Files of these names in the folder of patches are ideas. */
export const PATCH_FILE = /\.(?:patch|diff|mbox|eml)$/

/**
 * The ideas of one file: front matter, a mail of `git format-patch` or a plain diff is one; a mailbox of several
 * mails is one idea for each mail with a diff, unless front matter makes one of them all (docs/agents.md).
 */
export function readPatchText(text: string, path: string): PatchIdea[] {
  const split = splitFrontMatter(text, path)
  const offset = split?.linesBefore ?? 0
  const rest = split?.rest ?? text
  const mails = readMails(rest)
  if (split === null) return mails === null ? [readPlainIdea(text, path)] : readMailIdeas(mails, path)
  const block = readBlock(split.block)
  if (!block.ok) return [createUnreadableIdea(block.problem, { hypothesis: toFileWords(path) })]
  const bodies = mails === null ? [{ body: rest, linesBefore: 0, problem: null }] : selectChangingMails(mails)
  const content = buildPatchContent(bodies, path, offset)
  return [{ idea: toIdea(block.told, path), simplifies: block.told.kind === 'simplify', part: null, content }]
}

function createUnreadableIdea(problem: string, told: { hypothesis: string }): PatchIdea {
  return { idea: toIdea(told, ''), simplifies: false, part: null, content: { problem } }
}

function selectChangingMails(mails: readonly PatchMail[]): readonly PatchMail[] {
  const changing = withDiffs(mails)
  return changing.length === 0 ? mails : changing
}

function readMailIdeas(mails: readonly PatchMail[], path: string): PatchIdea[] {
  const changing = selectChangingMails(mails)
  const parts = changing.map(({ subject, body }) =>
    hashSha256(`${subject}\n\n${extractDiff(body)}`).slice(0, 16),
  )
  return changing.flatMap((mail, index) => {
    // The same mail twice is one idea.
    if (parts.indexOf(parts[index] ?? '') !== index) return []
    const { subject } = mail
    const content = buildPatchContent([mail], path, 0)
    return {
      idea: toIdea({ hypothesis: subject }, toFileWords(path)),
      simplifies: false,
      part: changing.length === 1 ? null : (parts[index] ?? null),
      content:
        'problem' in content ? content : { ...content, earlier: collectEarlierDiffs(changing, index, path) },
    }
  })
}

/** Without the message and the signature: words about the change do not make it another one. */
function extractDiff(body: string): string {
  const lines = body.split('\n')
  const start = lines.findIndex(line => /^(?:diff --git |--- .*[^-\s])/.test(line))
  return lines
    .slice(Math.max(start, 0))
    .join('\n')
    .replace(/\n-- \r?\n[^\n]*\s*$/, '')
}

function collectEarlierDiffs(mails: readonly PatchMail[], index: number, path: string): PatchDiff[] {
  const own = mails[index]?.series
  if (own === null || own === undefined) return []
  const before = mails
    .slice(0, index)
    .filter(({ series }) => series !== null && series.total === own.total && series.number < own.number)
  const content = buildPatchContent(before, path, 0)
  return 'problem' in content ? [] : [...content.diffs]
}

type PatchBody = Pick<PatchMail, 'body' | 'linesBefore' | 'problem'>

function buildPatchContent(
  bodies: readonly PatchBody[],
  path: string,
  offset: number,
): PatchContent | { problem: string } {
  const diffs: PatchDiff[] = []
  for (const { body, linesBefore, problem } of bodies) {
    const line = offset + linesBefore + 1
    if (problem !== null) return { problem: `${path}:${line}: ${problem}` }
    const large = findTooLargeBinary(body)
    if (large !== null) return { problem: `${path}:${offset + linesBefore + large.line}: ${large.why}` }
    diffs.push({ diff: body, linesBefore: offset + linesBefore })
  }
  return { diffs, earlier: [] }
}

function findTooLargeBinary(body: string): { line: number; why: string } | null {
  if (countUnpackedBytes(body) <= MOST_UNPACKED) return null
  const line = body.split('\n').findIndex(each => each.startsWith('GIT binary patch')) + 1
  const most = `${MOST_UNPACKED / 2 ** 20} MiB`
  return {
    line,
    why: `its binary content is larger than ${most}; propose so large a change as a branch (winnow propose <commit>)`,
  }
}

function readPlainIdea(text: string, path: string): PatchIdea {
  const lines = splitDiffLines(text)
  if (!hasDiff(lines)) {
    return createUnreadableIdea(`${path}:1: ${explainMissingDiff(text)}`, { hypothesis: toFileWords(path) })
  }
  const hypothesis = findProse(text) ?? toFileWords(path)
  return {
    idea: toIdea({ hypothesis }, toFileWords(path)),
    simplifies: false,
    part: null,
    content: buildPatchContent([{ body: text, linesBefore: 0, problem: null }], path, 0),
  }
}

function explainMissingDiff(text: string): string {
  if (/^\uFEFF?---[ \t]*\r?$/m.test(text.split('\n', 1)[0] ?? ''))
    return 'the front matter has no end; put a line with --- after it'
  const what = text.trim() === '' ? 'the file is empty' : 'there is no diff in it'
  return `${what}; make it with git format-patch or git diff`
}

const NO_PROSE =
  /^(?:diff |index |Index: |={3,}|-{3}|\+{3}|Only in |#|commit [0-9a-f]{7,}|Merge: |Author: |Date: )/

/** The first line of words before the diff: `git show` prints the commit's message there. */
function findProse(text: string): string | null {
  for (const line of text.replace(/^\uFEFF/, '').split('\n')) {
    if (/^(?:diff --|--- |Index: )/.test(line)) return null
    if (line.trim() !== '' && !NO_PROSE.test(line)) return toSafeLine(line, 300)
  }
  return null
}

/** `patches/0002-use-a-map.patch` is about using a map. */
function toFileWords(path: string): string {
  const name = posix.basename(path).replace(/\.[a-z]+$/, '')
  const words = name
    .replace(/^\d+[-_.]/, '')
    .replaceAll(/[-_]+/g, ' ')
    .trim()
  return /\p{L}/u.test(words) ? words : `patch ${path}`
}
