import { Buffer, isUtf8 } from 'node:buffer'
import { posix } from 'node:path'
import { hashSha256 } from '../model/canonical-json.ts'
import { toSafeLine } from '../model/text.ts'
import type { IdeaText } from '../plan/world.ts'
import { countUnpackedBytes, MOST_UNPACKED } from './answers-file.ts'
import { hasDiff, splitDiffLines } from './diff.ts'
import { readBlock, toIdea } from './idea-block.ts'

export interface PatchDiff {
  diff: string
  /** In the file of the diff. */
  linesBefore: number
}

interface PatchContent {
  diffs: readonly PatchDiff[]
  /** Earlier patches of the same series. Applied first if the diffs do not apply without them. */
  earlier: readonly PatchDiff[]
}

export interface PatchIdea {
  idea: IdeaText
  simplifies: boolean
  /** Identifies the mail in a file of several. Null if the file is one idea. */
  part: string | null
  content: PatchContent | { problem: string }
}

/** Files in the folder of patches that count as ideas. */
export const PATCH_FILE = /\.(?:patch|diff|mbox|eml)$/

/**
 * The ideas of one file. Front matter, a mail of `git format-patch` and a plain diff are one idea each. A
 * mailbox of several mails is one idea for each mail with a diff, unless front matter combines them
 * (docs/agents.md).
 */
export function readPatchText(text: string, path: string): PatchIdea[] {
  const split = splitFrontMatter(text, path)
  const offset = split?.linesBefore ?? 0
  const rest = split?.rest ?? text
  const mails = readMails(rest)
  if (split === null) return mails === null ? [readPlainIdea(text, path)] : readMailIdeas(mails, path)
  const block = readBlock(split.block)
  if (!block.ok) return [createUnreadableIdea(block.problem, toFileWords(path))]
  const bodies = mails === null ? [{ body: rest, linesBefore: 0, problem: null }] : selectChangingMails(mails)
  const content = buildPatchContent(bodies, path, offset)
  return [
    { idea: toIdea(block.fields, path), simplifies: block.fields.kind === 'simplify', part: null, content },
  ]
}

export function createUnreadableIdea(problem: string, hypothesis: string): PatchIdea {
  return { idea: toIdea({}, hypothesis), simplifies: false, part: null, content: { problem } }
}

/** Drops mails without a diff, such as cover letters and replies, unless none has a diff. */
function selectChangingMails(mails: readonly PatchMail[]): readonly PatchMail[] {
  const changing = mails.filter(({ body, problem }) => problem !== null || hasDiff(splitDiffLines(body)))
  return changing.length === 0 ? mails : changing
}

function readMailIdeas(mails: readonly PatchMail[], path: string): PatchIdea[] {
  const changing = selectChangingMails(mails)
  const parts = changing.map(({ subject, body }) =>
    hashSha256(`${subject}\n\n${extractDiff(body)}`).slice(0, 16),
  )
  return changing.flatMap((mail, index) => {
    // A duplicate mail is one idea.
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

/** Strips message and signature, so that the same change with other words stays the same idea. */
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

function buildPatchContent(
  bodies: readonly Pick<PatchMail, 'body' | 'linesBefore' | 'problem'>[],
  path: string,
  offset: number,
): PatchContent | { problem: string } {
  const diffs: PatchDiff[] = []
  for (const { body, linesBefore, problem } of bodies) {
    const before = offset + linesBefore
    if (problem !== null) return { problem: `${path}:${before + 1}: ${problem}` }
    if (countUnpackedBytes(body) > MOST_UNPACKED) {
      const line = before + body.split('\n').findIndex(each => each.startsWith('GIT binary patch')) + 1
      const most = `${MOST_UNPACKED / 2 ** 20} MiB`
      const why = `its binary content is larger than ${most}; propose so large a change as a branch (winnow propose <commit>)`
      return { problem: `${path}:${line}: ${why}` }
    }
    diffs.push({ diff: body, linesBefore: before })
  }
  return { diffs, earlier: [] }
}

function readPlainIdea(text: string, path: string): PatchIdea {
  if (!hasDiff(splitDiffLines(text))) {
    return createUnreadableIdea(`${path}:1: ${explainMissingDiff(text)}`, toFileWords(path))
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

/** The first line of prose before the diff: `git show` prints the commit message there. */
function findProse(text: string): string | null {
  for (const line of text.replace(/^\uFEFF/, '').split('\n')) {
    if (/^(?:diff --|--- |Index: )/.test(line)) return null
    if (line.trim() !== '' && !NO_PROSE.test(line)) return toSafeLine(line, 300)
  }
  return null
}

/** `patches/0002-use-a-map.patch` becomes "use a map". */
function toFileWords(path: string): string {
  const name = posix.basename(path).replace(/\.[a-z]+$/, '')
  const words = name
    .replace(/^\d+[-_.]/, '')
    .replaceAll(/[-_]+/g, ' ')
    .trim()
  return /\p{L}/u.test(words) ? words : `patch ${path}`
}

// Mails

interface PatchMail {
  /** Without `[PATCH 2/3]`. Empty if the mail has none. */
  subject: string
  /** `[PATCH 2/3]` is number 2 of 3. */
  series: { number: number; total: number } | null
  /** The decoded text after the headers. */
  body: string
  linesBefore: number
  problem: string | null
}

/** The first line of a mail in a mailbox: `From <sender> <weekday> … <time> <year>`. */
const MAIL_START = /^From \S+\s.*\d{1,2}:\d{2}(?::\d{2})?\s+(?:\S+\s+)?\d{4}\s*$/
const HEADER = /^([A-Za-z][A-Za-z0-9-]*):[ \t]?(.*)$/

/** The mails of a mailbox, or a single mail. Null for other text. */
export function readMails(text: string): PatchMail[] | null {
  const lines = text.split('\n').map((line, index) => (index === 0 ? line.replace(/^\uFEFF/, '') : line))
  const starts = findMailStarts(lines)
  if (starts.length === 0) {
    const first = lines.findIndex(line => line.trim() !== '')
    const headers = first === -1 ? null : readHeaders(lines, first)
    const isMail = headers !== null && headers.fields.has('subject') && headers.fields.size > 1
    return isMail ? [readMail(lines, first, lines.length)] : null
  }
  return starts.map((start, index) => readMail(lines, start + 1, starts[index + 1] ?? lines.length))
}

/** Content of a diff never begins with `From `. A message may, but no headers follow. */
function findMailStarts(lines: readonly string[]): number[] {
  const starts = lines.flatMap((line, index) => {
    if (!MAIL_START.test(line.replace(/\r$/, ''))) return []
    return readHeaders(lines, index + 1).fields.size > 0 ? [index] : []
  })
  const [first] = starts
  const leads = first === undefined || lines.slice(0, first).every(line => line.trim() === '')
  return leads ? starts : []
}

/** `end` is the line after the empty line that ends the headers. */
function readHeaders(lines: readonly string[], from: number): { fields: Map<string, string>; end: number } {
  const fields = new Map<string, string>()
  let last = ''
  let at = from
  for (; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').replace(/\r$/, '')
    const [, name, value = ''] = HEADER.exec(line) ?? []
    if (name !== undefined) {
      last = name.toLowerCase()
      fields.set(last, value)
    } else if (/^[ \t]+\S/.test(line) && last !== '') {
      fields.set(last, `${fields.get(last) ?? ''}\n${line}`)
    } else {
      break
    }
  }
  const isBlank = (lines[at] ?? '').trim() === ''
  return { fields: isBlank ? fields : new Map(), end: at + 1 }
}

function readMail(lines: readonly string[], from: number, until: number): PatchMail {
  const { fields, end } = readHeaders(lines.slice(0, until), from)
  const { subject, series } = readSubject(decodeWords(fields.get('subject') ?? ''))
  const body = decodeBody(lines.slice(end, until).join('\n'), fields)
  return { subject, series, linesBefore: end, ...body }
}

/** `[PATCH v2 3/5] Use a map` and `Re: [PATCH] Use a map` both become "Use a map". */
function readSubject(raw: string): Pick<PatchMail, 'subject' | 'series'> {
  const [prefix = ''] = /^(?:\s*(?:re|fwd?|aw):)*\s*(?:\[[^\]]*\]\s*)*/i.exec(raw) ?? []
  const [, number, total] = /\b(\d+)\/(\d+)\s*\]/.exec(prefix) ?? []
  const series = number === undefined ? null : { number: Number(number), total: Number(total) }
  const subject = raw.slice(prefix.length).trim()
  // A subject that consists only of brackets is kept.
  return subject === '' ? { subject: raw.trim(), series } : { subject, series }
}

/**
 * Decodes the encoded words of RFC 2047: unfolds lines, and removes white space between two encoded words.
 */
function decodeWords(raw: string): string {
  const unfolded = raw.replaceAll(/\r?\n[ \t]+/g, ' ').trim()
  const joined = unfolded.replaceAll(/(\?=)\s+(?==\?[^?\s]+\?[bq]\?)/gi, '$1')
  const words = /(?:=\?[^?\s]+\?[bq]\?[^?\s]*\?=)+/gi
  return joined.replaceAll(words, run => decodeRun(run) ?? run)
}

/** Decodes adjacent words as one: a character may begin in one and end in the next. */
function decodeRun(run: string): string | null {
  const parts = [...run.matchAll(/=\?([^?*\s]+)(?:\*[^?\s]*)?\?([bq])\?([^?\s]*)\?=/gi)]
  const charsets = new Set(parts.map(([, charset = '']) => charset.toLowerCase()))
  const [charset = 'utf-8'] = charsets
  const bytes = parts.map(([, , kind = '', text = '']) =>
    kind.toLowerCase() === 'b'
      ? Buffer.from(text, 'base64')
      : decodeQuotedPrintable(text.replaceAll('_', ' ')),
  )
  if (charsets.size === 1) return decodeCharset(Buffer.concat(bytes), charset)
  const each = parts.map(([, name = 'utf-8'], index) => decodeCharset(bytes[index] ?? Buffer.alloc(0), name))
  return each.includes(null) ? null : each.join('')
}

function decodeBody(raw: string, fields: ReadonlyMap<string, string>): Pick<PatchMail, 'body' | 'problem'> {
  const type = fields.get('content-type') ?? ''
  const encoding = (fields.get('content-transfer-encoding') ?? '').trim().toLowerCase()
  if (/^\s*multipart\//i.test(type)) {
    const problem = 'it is a mail with attachments; save the attached patch itself as a file'
    return { body: '', problem }
  }
  if (encoding !== 'quoted-printable' && encoding !== 'base64') return { body: raw, problem: null }
  const bytes =
    encoding === 'base64'
      ? Buffer.from(raw, 'base64')
      : decodeQuotedPrintable(raw.replaceAll(/=[ \t]*\r?\n/g, ''))
  const charset = /charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1] ?? 'utf-8'
  const body = decodeCharset(bytes, charset)
  return body === null
    ? { body: '', problem: `its text is not ${charset}, which its mail header says` }
    : { body, problem: null }
}

/** `=C3=A4` is two bytes. Other characters stay. */
function decodeQuotedPrintable(text: string): Buffer {
  const parts = text.split(/(=[0-9a-f]{2})/i)
  return Buffer.concat(
    parts.map(part => (/^=[0-9a-f]{2}$/i.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
  )
}

function decodeCharset(bytes: Buffer, charset: string): string | null {
  const isPlain = /^(?:utf-?8|us-ascii)$/i.test(charset)
  if (isPlain) return isUtf8(bytes) ? bytes.toString('utf8') : null
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    // An unknown charset, or bytes that are invalid in it.
    return null
  }
}

// Front matter

const FENCE = /^---[ \t]*\r?$/

/**
 * The text between two `---` lines at the top of a file. Null if there is none. `linesBefore` translates git's
 * line numbers.
 */
function splitFrontMatter(text: string, file: string) {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  if (!FENCE.test(lines[0] ?? '')) return null
  const end = lines.findIndex((line, index) => index > 0 && FENCE.test(line))
  if (end === -1) return null
  const block = { yaml: lines.slice(1, end).join('\n'), file, linesBefore: 1 }
  return { block, rest: lines.slice(end + 1).join('\n'), linesBefore: end + 1 }
}
