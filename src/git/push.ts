import { isAllowedRef, isSetupRef } from './allowed-ref.ts'
import { isOid, type Oid } from './object-format.ts'
import { isNetwork } from './remote-failure.ts'
import type { GitOutput, GitTask } from './runner.ts'

export interface RefUpdate {
  ref: string
  /** the value the ref must have now; null: it must not exist */
  from: Oid | null
  /** null deletes it */
  to: Oid | null
}

/** What the remote said to one push, before a worktree or a network failure is looked into. */
export interface PushAnswer {
  output: GitOutput
  /** every ref that did not move, with git's reason */
  rejected: { ref: string; reason: string }[]
}

/**
 * The receiving repository is on this machine but somebody's own: its rules and hooks hold. Only cleaning up is
 * not started by a push of ours, because it would go on beside the next timed execution.
 */
const NEAR_RECEIVE_PACK = '-c receive.autogc=false -c gc.auto=0 -c maintenance.auto=false receive-pack'

/** Objects that are copied from one directory to another gain nothing from a search for what is alike in them. */
const NEAR = ['-c', 'pack.window=0', '-c', 'pack.threads=1']

/** A receiving repository on this machine: its hooks and gc stay off, its checked-out branch stays put. */
export const QUIET_RECEIVE_PACK =
  'git -c core.hooksPath=/dev/null -c receive.autogc=false -c receive.denyCurrentBranch=refuse ' +
  '-c receive.denyDeleteCurrent=refuse -c receive.denyDeletes=false -c receive.denyNonFastForwards=false ' +
  '-c receive.updateServerInfo=false -c gc.auto=0 -c maintenance.auto=false -c core.fsmonitor=false receive-pack'

/** Invariant 12, before anything runs. */
export function requireOwnRefs(prefix: string, updates: readonly RefUpdate[]): void {
  for (const { ref, from, to } of updates) {
    for (const oid of [from, to]) {
      if (oid !== null && !isOid(oid)) throw new Error(`${JSON.stringify(oid)} is not a git object id`)
    }
    if (isAllowedRef(prefix, ref) || (isSetupRef(ref) && from === null)) continue
    throw new Error(`invariant 12: winnow does not write ${ref} (its branches start with ${prefix})`)
  }
}

/** Invariant 12: the one push. Every ref is leased on its old value, all move or none (invariant 9). */
export function buildPushTask(options: {
  remote: string
  prefix: string
  local: boolean
  /** what arrives stays one pack: a file for each object costs more than all else of a small push */
  asPack?: boolean
  updates: readonly RefUpdate[]
}): GitTask<PushAnswer> {
  requireOwnRefs(options.prefix, options.updates)
  const leases = options.updates.map(update => `--force-with-lease=${update.ref}:${update.from ?? ''}`)
  const refspecs = options.updates.map(update => `${update.to ?? ''}:${update.ref}`)
  const near = !isNetwork(options.remote)
  const stored = options.asPack === true ? 'git -c receive.unpackLimit=1' : 'git'
  const receivePack = options.local ? QUIET_RECEIVE_PACK : `${stored} ${NEAR_RECEIVE_PACK}`
  const receive = near ? [`--receive-pack=${receivePack}`] : []
  const fixed = [
    ...(near ? NEAR : []),
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
