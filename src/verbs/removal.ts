import { rename } from 'node:fs/promises'
import { basename } from 'node:path'
import { ConflictError, ForgeError, UserError } from '../errors.ts'
import { saveBundle } from '../git/bundle.ts'
import type { Repository } from '../git/repository.ts'
import { removeAll } from '../measure/remove.ts'
import { toShortRef } from '../model/refs.ts'
import { withRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import type { Remains } from './remains.ts'

/** Everything that is about to be removed, in a file that is whole or not there. */
export async function saveRemains(call: Call, remains: Remains, file: string): Promise<void> {
  const { env } = call.around
  const around = { ...call.around, remote: remains.remote }
  const tips = remains.branches.map(({ tip }) => tip)
  await withRepository({ ...call, around }, listBranchPrefixes(remains)[0] ?? '', ({ repository }) =>
    repository.fetch(tips),
  )
  const { repositoryDir: dir, format } = remains
  const part = `${file}.part`
  await saveBundle({ dir, format, tips, file: part, env })
  await rename(part, file)
}

export function formatBundleName(place: string, now: number, local: boolean): string {
  const date = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const name = basename(place)
    .replace(/\.git$/, '')
    .replaceAll(/[^\w.-]/g, '-')
  return `winnow-${name}${local ? '' : '-remote'}-${date}.bundle`
}

/** The branches in the repository, then what this machine keeps; a second attempt goes on where one was killed. */
export async function removeRemains(call: Call, remains: Remains): Promise<void> {
  const around = { ...call.around, remote: remains.remote }
  for (const prefix of listBranchPrefixes(remains)) {
    await withRepository({ ...call, around }, prefix, async ({ repository }) => {
      await deleteBranches(
        repository,
        remains.branches.filter(each => each.prefix === prefix),
      )
    })
  }
  await removeAll(remains.dataDir)
}

function listBranchPrefixes({ branches }: Remains): string[] {
  return [...new Set(branches.map(({ prefix }) => prefix))]
}

const MOST_AT_ONCE = 300
const LEDGER_BRANCH = /-(?:state|closed|archive)\//

/** Experiments first: as long as the ledger is there, what is left is known to be winnow's. */
async function deleteBranches(repository: Repository, branches: Remains['branches']): Promise<void> {
  const ordered = branches.toSorted((a, b) => Number(isLedger(a)) - Number(isLedger(b)))
  for (let at = 0; at < ordered.length; at += MOST_AT_ONCE) {
    const updates = ordered
      .slice(at, at + MOST_AT_ONCE)
      .map(({ tip }) => ({ ref: tip.ref, from: tip.oid, to: null }))
    const result = await repository.push(updates)
    if (result.ok) continue
    if (result.reason === 'lease')
      throw new ConflictError('branches moved while they were removed', result.refs)
    if (result.reason === 'checked-out') {
      throw new UserError(`${toShortRef(result.ref)} is checked out in ${result.worktree}`, {
        fix: 'check out another branch there, then winnow uninstall again',
      })
    }
    throw new ForgeError('the remote does not let winnow remove its branches', { output: result.message })
  }
}

function isLedger({ prefix, tip }: Remains['branches'][number]): boolean {
  const name = toShortRef(tip.ref)
  return LEDGER_BRANCH.test(name) || name.startsWith(`${prefix}/`)
}

/** How everything comes back. */
export function renderRestoreHint({ local }: Remains, file: string, remoteName: string): string {
  const path = /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
  if (local) return `git fetch ${path} 'refs/heads/*:refs/heads/*'`
  return `git fetch ${path} 'refs/heads/*:refs/winnow-saved/*' && git push ${remoteName} 'refs/winnow-saved/*:refs/heads/*'`
}
