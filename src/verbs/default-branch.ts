import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import type { Point } from '../model/ids.ts'
import { shortRef } from '../model/refs.ts'

/** Where everything starts from: the default branch as it is committed (and pushed) now. */
export async function defaultTip(workshop: Workshop): Promise<Point> {
  const { repository, defaultBranch, local } = workshop
  if (defaultBranch === null) throw noDefaultBranch(workshop)
  const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch)
  if (oid === undefined) {
    throw new UserError(`${shortRef(defaultBranch)} has no commits`, {
      fix: local ? 'commit first' : 'commit and push first',
    })
  }
  await repository.fetch([{ ref: defaultBranch, oid }])
  return { commit: oid, tree: (await repository.commit(oid)).tree }
}

export function noDefaultBranch({ local }: Workshop): UserError {
  return local
    ? new UserError('no branch is checked out, so the default branch is not known', {
        fix: 'check out the branch to be optimised, or give the repository a remote',
      })
    : new UserError('the remote names no default branch: it is empty, or its HEAD points nowhere', {
        fix: 'push the branch to be optimised first',
      })
}
