import { Buffer, isUtf8 } from 'node:buffer'
import { splitDiffLines, hasDiff } from './diff-lines.ts'

/** One mail of a patch file: `git format-patch` writes them, and mail programs save them. */
export interface PatchMail {
  /** Without `[PATCH 2/3]`; empty where the mail has none. */
  subject: string
  /** `[PATCH 2/3]` is number 2 of 3. */
  series: { number: number; total: number } | null
  /** The decoded text after the headers. */
  body: string
  /** Lines of the file before the body. */
  linesBefore: number
  /** Why the body cannot be read. */
  problem: string | null
}

/** The line that begins a mail in a mailbox: `From <sender> <weekday> … <time> <year>`. */
const MAIL_START = /^From \S+\s.*\d{1,2}:\d{2}(?::\d{2})?\s+(?:\S+\s+)?\d{4}\s*$/
const HEADER = /^([A-Za-z][A-Za-z0-9-]*):[ \t]?(.*)$/

/** The mails of a mailbox, or the one mail that a text is; null where it is neither. */
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

/** Content of a diff never begins with `From `; a message may, and then no headers follow. */
function findMailStarts(lines: readonly string[]): number[] {
  const starts = lines.flatMap((line, index) => {
    if (!MAIL_START.test(line.replace(/\r$/, ''))) return []
    return readHeaders(lines, index + 1).fields.size > 0 ? [index] : []
  })
  const [first] = starts
  const leads = first === undefined || lines.slice(0, first).every(line => line.trim() === '')
  return leads ? starts : []
}

interface MailHeaders {
  fields: Map<string, string>
  /** The line after the empty one that ends them. */
  end: number
}

function readHeaders(lines: readonly string[], from: number): MailHeaders {
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

/** `[PATCH v2 3/5] Use a map` and `Re: [PATCH] Use a map` are about using a map. */
function readSubject(raw: string): Pick<PatchMail, 'subject' | 'series'> {
  const [prefix = ''] = /^(?:\s*(?:re|fwd?|aw):)*\s*(?:\[[^\]]*\]\s*)*/i.exec(raw) ?? []
  const [, number, total] = /\b(\d+)\/(\d+)\s*\]/.exec(prefix) ?? []
  const series = number === undefined ? null : { number: Number(number), total: Number(total) }
  const subject = raw.slice(prefix.length).trim()
  // A subject that is nothing but brackets is kept as it is.
  return subject === '' ? { subject: raw.trim(), series } : { subject, series }
}

/** Encoded words of RFC 2047; folded lines are one line, and white space between two encoded words is none. */
function decodeWords(raw: string): string {
  const unfolded = raw.replaceAll(/\r?\n[ \t]+/g, ' ').trim()
  const joined = unfolded.replaceAll(/(\?=)\s+(?==\?[^?\s]+\?[bq]\?)/gi, '$1')
  const words = /(?:=\?[^?\s]+\?[bq]\?[^?\s]*\?=)+/gi
  return joined.replaceAll(words, run => decodeRun(run) ?? run)
}

/** Words beside each other are decoded as one: a character may begin in one and end in the next. */
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

/** `=C3=A4` is two bytes; everything else stands for itself. */
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
    // A charset that Node does not know, or bytes that are not of it.
    return null
  }
}

/** The mails that change something: a cover letter and answers to it have no diff. */
export function withDiffs(mails: readonly PatchMail[]): PatchMail[] {
  return mails.filter(({ body, problem }) => problem !== null || hasDiff(splitDiffLines(body)))
}
