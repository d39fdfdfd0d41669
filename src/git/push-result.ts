import type { PushAnswer, RefUpdate } from './push.ts'

export type PushResult =
  | { ok: true }
  /** somebody moved these refs first: nothing was written, look again */
  | { ok: false; reason: 'lease'; refs: string[] }
  | { ok: false; reason: 'checked-out'; ref: string; worktree: string }
  | { ok: false; reason: 'atomic-refused' | 'refused'; message: string; rule?: string }

/** null: not an answer of the remote about refs, but a failure to reach or use it. */
export function classifyPush(answer: PushAnswer, updates: readonly RefUpdate[]): PushResult | null {
  const { output, rejected } = answer
  if (output.exitCode === 0) return { ok: true }
  const missing = findAlreadyDeleted(output.stderr, updates)
  if (missing.length > 0) return { ok: false, reason: 'lease', refs: missing }
  if (/does not support --atomic/.test(output.stderr)) {
    return { ok: false, reason: 'atomic-refused', message: extractRemoteMessage(output.stderr) }
  }
  if (rejected.every(({ reason }) => UNKNOWN.test(reason))) return null
  const lost = findLostRefs(answer, updates)
  if (lost.length > 0) return { ok: false, reason: 'lease', refs: lost }
  const held = rejected.find(({ reason }) => CHECKED_OUT.test(reason))
  if (held !== undefined) return { ok: false, reason: 'checked-out', ref: held.ref, worktree: '' }
  return toPushRefusal(answer)
}

/** A lost race shows in our own look (stale info), or in the words of the remote that could not lock the ref. */
function findLostRefs({ output, rejected }: PushAnswer, updates: readonly RefUpdate[]): string[] {
  const seen = rejected.filter(({ reason }) => STALE.test(reason)).map(({ ref }) => ref)
  if (seen.length > 0) return seen
  const unlocked = [...`${output.stderr}\n${output.stdout}`.matchAll(LOCK)].filter(([, , why = '']) =>
    MOVED.test(why),
  )
  return updates.map(({ ref }) => ref).filter(ref => unlocked.some(([, name]) => name === ref))
}

const STALE = /stale info|fetch first|incorrect old value|reference (?:already exists|does not exist)\)/
/** The connection broke: the refs may or may not have moved. */
const UNKNOWN = /remote failed to report status/
const LOCK = /cannot lock ref '([^']+)': (.*)/g
/** Not among them: a branch in the way (`'refs/heads/a' exists; cannot create 'refs/heads/a/b'`). */
const MOVED = /^is at .* but expected|^reference already exists|^unable to resolve reference|: File exists/

const CHECKED_OUT = /branch is currently checked out|deletion of the current branch prohibited/

function findAlreadyDeleted(stderr: string, updates: readonly RefUpdate[]): string[] {
  return updates
    .filter(({ to }) => to === null)
    .map(({ ref }) => ref)
    .filter(ref => stderr.includes(`unable to delete '${ref}': remote ref does not exist`))
}

function toPushRefusal({ output, rejected }: PushAnswer): PushResult {
  const own = rejected.filter(({ reason }) => !ATOMIC.test(reason))
  const words = extractRemoteMessage(output.stderr)
  const causes = (own.length > 0 ? own : rejected).map(({ ref, reason }) => `${ref}: ${reason}`)
  const message = [...causes, ...(words === '' ? [] : [words])].join('\n')
  const rule = /\bGH\d{3}\b/.exec(words)?.[0] ?? (/pre-receive hook declined/.test(message) ? words : '')
  const reason = own.length === 0 ? 'atomic-refused' : 'refused'
  return { ok: false, reason, message, ...(rule === '' ? {} : { rule }) }
}

const ATOMIC = /atomic (?:push|transaction) fail|transaction aborted/i

/** What the remote itself printed, without git's prefix. */
function extractRemoteMessage(stderr: string): string {
  const said = stderr.split('\n').filter(line => line.startsWith('remote:'))
  const words = said.map(line => line.slice('remote:'.length).trim()).filter(line => line !== '')
  return words.length > 0 ? words.join('\n') : stderr.trim()
}
