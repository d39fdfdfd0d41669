import { toCanonicalJson, hashSha256 } from '../../model/canonical.ts'
import type { NewComment } from '../port.ts'

/**
 * Every comment of ours ends in a line nobody sees, by which it is found again: to be rewritten, or not to be
 * written twice. It counts only in comments of our own author.
 */
export function computeCommentKey({ body, marker, nonce }: NewComment): string {
  return hashSha256(toCanonicalJson(marker === undefined ? { body, nonce } : { marker })).slice(0, 24)
}

/** Of the one comment with this marker, whatever it says. */
export function computeMarkerKey(marker: string): string {
  return computeCommentKey({ body: '', marker })
}

export function withKey(body: string, key: string): string {
  return `${body}\n\n<!-- winnow:${key} -->`
}

const KEYED = /^([\s\S]*?)\n\n<!-- winnow:([0-9a-f]{24}) -->\s*$/

/** Who edits a comment in a browser sends it back with other ends of its lines: it is the same comment. */
export function readKey(text: string): { body: string; key: string | null } {
  const [, body, key] = KEYED.exec(text.replaceAll('\r\n', '\n')) ?? []
  return body === undefined || key === undefined ? { body: text, key: null } : { body, key }
}
