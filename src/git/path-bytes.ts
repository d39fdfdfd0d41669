import { Buffer, isUtf8 } from 'node:buffer'

const ESCAPED = /[\u{DC80}-\u{DCFF}]/u

/**
 * Git paths are bytes. A name that is not UTF-8 is held with its high bytes as lone surrogates, so that
 * writing a tree back never changes a name winnow did not touch.
 */
export function decodeName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let name = ''
  for (const byte of bytes) name += String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)
  return name
}

export function encodeName(name: string): Buffer {
  if (!ESCAPED.test(name)) return Buffer.from(name, 'utf8')
  const parts: Buffer[] = []
  for (const char of name) {
    parts.push(ESCAPED.test(char) ? Buffer.from([char.charCodeAt(0) - 0xdc00]) : Buffer.from(char, 'utf8'))
  }
  return Buffer.concat(parts)
}

/** A path is decoded name by name, so that it equals the joined names of the trees it runs through. */
export function decodePath(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const names: string[] = []
  for (let start = 0; start <= bytes.length; ) {
    const slash = bytes.indexOf(0x2f, start)
    const end = slash === -1 ? bytes.length : slash
    names.push(decodeName(bytes.subarray(start, end)))
    start = end + 1
  }
  return names.join('/')
}

const NAMED: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
}

/** Undoes git's C-style quoting (core.quotePath), which keeps its output ASCII and so loses no byte. */
export function unquotePath(text: string): string {
  if (!text.startsWith('"')) return text
  const bytes: number[] = []
  const body = text.slice(1, -1)
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== '\\') {
      bytes.push(body.charCodeAt(at))
      continue
    }
    const named = NAMED[body[at + 1] ?? '']
    bytes.push(named ?? Number.parseInt(body.slice(at + 1, at + 4), 8))
    at += named === undefined ? 3 : 1
  }
  return decodePath(Buffer.from(bytes))
}
