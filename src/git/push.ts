import { rm, stat } from 'node:fs/promises'
import type { Oid } from '../model/ids.ts'
import { toNullIfMissing } from './bare-repository.ts'
import { isOid } from './object-format.ts'
import { isNetwork } from './remote-connection.ts'
import type { GitOutput, GitTask } from './runner.ts'

export interface RefUpdate {
  ref: string
  /** The value that the ref must have now; null: the ref must not exist. */
  from: Oid | null
  /** Null deletes the ref. */
  to: Oid | null
}

interface PushAnswer {
  output: GitOutput
  /** Every ref that did not move, with git's reason. */
  rejected: { ref: string; reason: string }[]
}

/**
 * For a remote that is a directory on this machine. Its rules and hooks apply. Only automatic housekeeping is off,
 * because it could run next to a timed execution.
 */
const OWNER_RECEIVE_PACK = '-c receive.autogc=false -c gc.auto=0 -c maintenance.auto=false receive-pack'

/** Delta search is a waste when copying objects between directories of one machine. */
const LOCAL_PACK_OPTIONS = ['-c', 'pack.window=0', '-c', 'pack.threads=1']

/** For the user's own repository, where there is no remote: hooks and gc off, a checked-out branch left alone. */
const QUIET_RECEIVE_PACK =
  'git -c core.hooksPath=/dev/null -c receive.autogc=false -c receive.denyCurrentBranch=refuse ' +
  '-c receive.denyDeleteCurrent=refuse -c receive.denyDeletes=false -c receive.denyNonFastForwards=false ' +
  '-c receive.updateServerInfo=false -c gc.auto=0 -c maintenance.auto=false -c core.fsmonitor=false receive-pack'

/** Enforces invariant 12 before the push starts. */
export function requireOwnRefs(prefix: string, updates: readonly RefUpdate[]): void {
  for (const { ref, from, to } of updates) {
    for (const oid of [from, to]) {
      if (oid !== null && !isOid(oid)) throw new Error(`${JSON.stringify(oid)} is not a git object id`)
    }
    if (isAllowedRef(prefix, ref)) continue
    if ((isSetupRef(ref) || isAnchorRef(prefix, ref)) && from === null) continue
    throw new Error(`invariant 12: winnow does not write ${ref} (its branches start with ${prefix})`)
  }
}

/** The only push in winnow (invariant 12): every ref is leased, and all move or none (invariant 9). */
export function buildPushTask(options: {
  remote: string
  prefix: string
  local: boolean
  /** Stores the push as one pack, which is faster than unpacking a small push. */
  asPack?: boolean
  updates: readonly RefUpdate[]
}): GitTask<PushAnswer> {
  requireOwnRefs(options.prefix, options.updates)
  const leases = options.updates.map(update => `--force-with-lease=${update.ref}:${update.from ?? ''}`)
  const refspecs = options.updates.map(update => `${update.to ?? ''}:${update.ref}`)
  const near = !isNetwork(options.remote)
  const receivePackCommand = options.asPack === true ? 'git -c receive.unpackLimit=1' : 'git'
  const receivePack = options.local ? QUIET_RECEIVE_PACK : `${receivePackCommand} ${OWNER_RECEIVE_PACK}`
  const receive = near ? [`--receive-pack=${receivePack}`] : []
  const fixed = [
    ...(near ? LOCAL_PACK_OPTIONS : []),
    'push',
    '--porcelain',
    '--progress',
    '--atomic',
    '--no-verify',
    '--no-signed',
    '--no-follow-tags',
  ]
  return {
    args: [...fixed, '--recurse-submodules=no', ...leases, ...receive, '--', options.remote, ...refspecs],
    answers: [1, 128],
    parse: output => ({ output, rejected: parseRejected(output.stdout) }),
  }
}

function parseRejected(stdout: string): PushAnswer['rejected'] {
  const rejected: PushAnswer['rejected'] = []
  for (const line of stdout.split('\n')) {
    const [flag, refs = '', summary = ''] = line.split('\t')
    if (flag !== '!') continue
    rejected.push({ ref: refs.slice(refs.indexOf(':') + 1), reason: summary })
  }
  return rejected
}

// Result

export type PushResult =
  | { ok: true }
  /** Other writers moved these refs first. The push wrote nothing; read again. */
  | { ok: false; reason: 'lease'; refs: string[] }
  | { ok: false; reason: 'checked-out'; ref: string; worktree: string }
  | { ok: false; reason: 'atomic-refused' | 'refused'; message: string; rule?: string }

/** Returns null when the output is a failure to reach or use the remote, and not an answer about refs. */
export function classifyPush(answer: PushAnswer, updates: readonly RefUpdate[]): PushResult | null {
  const { output, rejected } = answer
  if (output.exitCode === 0) return { ok: true }
  const missing = findAlreadyDeleted(output.stderr, updates)
  if (missing.length > 0) return { ok: false, reason: 'lease', refs: missing }
  if (/does not support --atomic/.test(output.stderr)) {
    return { ok: false, reason: 'atomic-refused', message: extractRemoteMessage(output.stderr) }
  }
  if (rejected.every(({ reason }) => UNKNOWN_RESULT.test(reason))) return null
  const lost = findLostRefs(answer, updates)
  if (lost.length > 0) return { ok: false, reason: 'lease', refs: lost }
  const held = rejected.find(({ reason }) => CHECKED_OUT.test(reason))
  if (held !== undefined) return { ok: false, reason: 'checked-out', ref: held.ref, worktree: '' }
  return toPushRefusal(answer)
}

/** A lost race shows in the lease check, or in the remote's message that it could not lock the ref. */
function findLostRefs({ output, rejected }: PushAnswer, updates: readonly RefUpdate[]): string[] {
  const seen = rejected.filter(({ reason }) => STALE_LEASE.test(reason)).map(({ ref }) => ref)
  if (seen.length > 0) return seen
  const unlocked = [...`${output.stderr}\n${output.stdout}`.matchAll(LOCK_FAILURE)].filter(([, , why = '']) =>
    LOST_RACE.test(why),
  )
  return updates.map(({ ref }) => ref).filter(ref => unlocked.some(([, name]) => name === ref))
}

const STALE_LEASE = /stale info|fetch first|incorrect old value|reference (?:already exists|does not exist)\)/
/** The connection broke: the refs may or may not have moved. */
const UNKNOWN_RESULT = /remote failed to report status/
const LOCK_FAILURE = /cannot lock ref '([^']+)': (.*)/g
/** Excludes a directory/file conflict (`'refs/heads/a' exists; cannot create 'refs/heads/a/b'`). */
const LOST_RACE =
  /^is at .* but expected|^reference already exists|^unable to resolve reference|: File exists/

const CHECKED_OUT = /branch is currently checked out|deletion of the current branch prohibited/

function findAlreadyDeleted(stderr: string, updates: readonly RefUpdate[]): string[] {
  return updates
    .filter(({ to }) => to === null)
    .map(({ ref }) => ref)
    .filter(ref => stderr.includes(`unable to delete '${ref}': remote ref does not exist`))
}

function toPushRefusal({ output, rejected }: PushAnswer): PushResult {
  const own = rejected.filter(({ reason }) => !ATOMIC_REFUSED.test(reason))
  const words = extractRemoteMessage(output.stderr)
  const causes = (own.length > 0 ? own : rejected).map(({ ref, reason }) => `${ref}: ${reason}`)
  const message = [...causes, ...(words === '' ? [] : [words])].join('\n')
  const rule = /\bGH\d{3}\b/.exec(words)?.[0] ?? (/pre-receive hook declined/.test(message) ? words : '')
  const reason = own.length === 0 ? 'atomic-refused' : 'refused'
  return { ok: false, reason, message, ...(rule === '' ? {} : { rule }) }
}

const ATOMIC_REFUSED = /atomic (?:push|transaction) fail|transaction aborted/i

function extractRemoteMessage(stderr: string): string {
  const remoteLines = stderr.split('\n').filter(line => line.startsWith('remote:'))
  const words = remoteLines.map(line => line.slice('remote:'.length).trim()).filter(line => line !== '')
  return words.length > 0 ? words.join('\n') : stderr.trim()
}

// Refs that winnow writes

/** Invariant 12: the only refs that winnow ever writes, matched as whole path components. */
const SPEC_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const BRANCH_PART = /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/
const TIMESTAMP = /^[0-9]+(?:[-T.]?[0-9]+)*Z?$/
const ARCHIVED = /^(?:optimize|state|closed)$/

const REF_FAMILIES: Readonly<Record<string, readonly RegExp[]>> = {
  '': [SPEC_NAME],
  '-exp': [SPEC_NAME, BRANCH_PART],
  '-campaign': [SPEC_NAME],
  '-state': [SPEC_NAME],
  '-closed': [SPEC_NAME],
  '-archive': [SPEC_NAME, TIMESTAMP, ARCHIVED],
}

export function isAllowedRef(prefix: string, ref: string): boolean {
  const head = `refs/heads/${prefix}`
  if (!isPrefix(prefix) || !ref.startsWith(head)) return false
  const [suffix = '', ...rest] = ref.slice(head.length).split('/')
  const family = Object.hasOwn(REF_FAMILIES, suffix) ? REF_FAMILIES[suffix] : undefined
  if (family === undefined || rest.length !== family.length) return false
  return family.every((pattern, index) => isComponent(rest[index] ?? '', pattern))
}

export function isPrefix(prefix: string): boolean {
  return prefix !== '' && prefix.split('/').every(part => isComponent(part, BRANCH_PART))
}

function isComponent(part: string, pattern: RegExp): boolean {
  return part.length <= 200 && pattern.test(part) && !part.toLowerCase().endsWith('.lock')
}

/** The branch of winnow's setup pull request. A number follows if an earlier branch still exists. */
export const SETUP_BRANCH = 'winnow-setup'
export const MOST_SETUP_BRANCHES = 9
const SETUP_REF = /^refs\/heads\/winnow-setup(?:-[2-9])?$/

/** A setup branch is only created and never moved, so that a person's commits on it stay. */
function isSetupRef(ref: string): boolean {
  return SETUP_REF.test(ref)
}

const ANCHOR = /^[0-9]+-[0-9a-f]{12}$/

/** The tags with which people vouch for a ledger. winnow creates them, and moves and deletes none. */
export function buildAnchorPrefix(prefix: string, name: string): string {
  return `${prefix}-anchor/${name}/`
}

function isAnchorRef(prefix: string, ref: string): boolean {
  const head = `refs/tags/${prefix}-anchor/`
  if (!isPrefix(prefix) || !ref.startsWith(head)) return false
  const [name = '', anchor = '', ...rest] = ref.slice(head.length).split('/')
  return rest.length === 0 && isComponent(name, SPEC_NAME) && ANCHOR.test(anchor)
}

// Stale locks

/** git holds a ref lock for milliseconds. After a minute, its owner must have been killed. */
const STALE_MS = 60_000

/** A killed push can leave a lock forever (invariant 7). Removes only locks of refs it is about to write. */
export async function removeStaleLock(stderr: string, updates: readonly RefUpdate[]): Promise<boolean> {
  const path = /Unable to create '([^']+\.lock)': File exists/.exec(stderr)?.[1]
  if (path === undefined || !updates.some(({ ref }) => path.endsWith(`/${ref}.lock`))) return false
  const found = await stat(path).catch(toNullIfMissing)
  if (found !== null && Date.now() - found.mtimeMs < STALE_MS) return false
  await rm(path, { force: true })
  return true
}
