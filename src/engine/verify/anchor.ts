import { ConflictError, ForgeError, UserError } from '../../errors.ts'
import { buildAnchorPrefix } from '../../git/push.ts'
import { readTip } from '../../ledger/read-events.ts'
import { type Oid, toShortRef } from '../../model/ids.ts'
import type { CampaignContext } from '../campaign/context.ts'

interface WrittenAnchor {
  tag: string
  /** Events that the anchor vouches for. */
  events: number
  isNew: boolean
}

/**
 * Signs a tag of this ledger commit and pushes it. The tag outlives the branch: a replaced ledger no longer contains
 * the commit that it names. `target` is the tip that the caller has audited.
 */
export async function writeAnchor(context: CampaignContext, target: Oid): Promise<WrittenAnchor> {
  const { repository, refs, prefix, name } = context
  const { seq: events, head } = await readTip(repository, target)
  const tag = `${buildAnchorPrefix(prefix, name)}${events - 1}-${target.slice(0, 12)}`
  const ref = `refs/tags/${tag}`
  if ((await repository.remoteRefs([ref])).refs.has(ref)) return { tag, events, isNew: false }
  const message = [
    `Ledger of campaign ${name}, events 0 to ${events - 1}`,
    '',
    `branch ${toShortRef(refs.state)}`,
    `sha256 of the last event ${head}`,
    `audited with winnow ${context.version}`,
  ].join('\n')
  const to = await repository.signer.signTag({ name: tag, target, message })
  const result = await repository.push([{ ref, from: null, to }])
  if (result.ok) return { tag, events, isNew: true }
  if (result.reason === 'lease') throw new ConflictError(`the tag ${tag} was created meanwhile`, [ref])
  if (result.reason === 'checked-out') throw new UserError(`${ref} is checked out in ${result.worktree}`)
  const { message: words, rule } = result
  throw new ForgeError(`the remote rejected the tag ${tag}: ${words}`, rule === undefined ? {} : { rule })
}
