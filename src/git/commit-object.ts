import { Buffer } from 'node:buffer'
import type { Oid } from './object-format.ts'

export interface Signature {
  name: string
  email: string
  /** seconds since the epoch */
  date: number
  tz: string
}

export interface Commit {
  oid: Oid
  tree: Oid
  parents: Oid[]
  author: Signature
  committer: Signature
  message: string
}

export interface NewCommit {
  tree: Oid
  parents: readonly Oid[]
  message: string
  /** seconds since the epoch, UTC */
  date: number
}

export function parseCommit(oid: Oid, bytes: Buffer): Commit {
  const text = bytes.toString('utf8')
  const blank = text.indexOf('\n\n')
  const head = blank === -1 ? text : text.slice(0, blank)
  const message = blank === -1 ? '' : text.slice(blank + 2)
  const fields = parseHeaderFields(head)
  return {
    oid,
    tree: getRequiredField(fields, 'tree', oid),
    parents: fields.filter(([key]) => key === 'parent').map(([, value]) => value),
    author: parseSignature(getRequiredField(fields, 'author', oid)),
    committer: parseSignature(getRequiredField(fields, 'committer', oid)),
    message,
  }
}

function parseHeaderFields(head: string): [string, string][] {
  const fields: [string, string][] = []
  for (const line of head.split('\n')) {
    if (line.startsWith(' ')) continue
    const space = line.indexOf(' ')
    fields.push([line.slice(0, space), line.slice(space + 1)])
  }
  return fields
}

function getRequiredField(fields: readonly [string, string][], key: string, oid: Oid): string {
  const found = fields.find(([name]) => name === key)
  if (found === undefined) throw new Error(`commit ${oid} has no ${key}`)
  return found[1]
}

function parseSignature(text: string): Signature {
  const match = /^(.*?) ?<([^>]*)>.*?(-?\d+) ([+-]\d+)$/.exec(text)
  return {
    name: match?.[1] ?? text,
    email: match?.[2] ?? '',
    date: Number(match?.[3] ?? 0),
    tz: match?.[4] ?? '+0000',
  }
}

/** One fixed author and committer: authorship is never evidence, and a landing is reproducible. */
const WINNOW = 'winnow <winnow@localhost>'

export function serializeCommit(commit: NewCommit): Buffer {
  if (!Number.isSafeInteger(commit.date) || commit.date < 0) {
    throw new Error(`a commit date is whole seconds since 1970, not ${commit.date}`)
  }
  if (commit.message.includes('\0')) throw new Error('a commit message cannot contain a NUL byte')
  const signature = `${WINNOW} ${commit.date} +0000`
  const lines = [`tree ${commit.tree}`, ...commit.parents.map(parent => `parent ${parent}`)]
  lines.push(`author ${signature}`, `committer ${signature}`, '')
  const message = commit.message.endsWith('\n') ? commit.message : `${commit.message}\n`
  return Buffer.from(`${lines.join('\n')}\n${message}`, 'utf8')
}
