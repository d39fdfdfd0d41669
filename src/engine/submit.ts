import { UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { shortRef } from '../model/refs.ts'
import type { Place } from './place.ts'

export interface Submission {
  /** A commit of the user's repository. */
  commit: Oid
  /** Where to fetch it from: the user's own repository. */
  from: string
  /** Its name among the experiments; exp-NNN is the engine's. */
  name: string
  title: string
  body: string
}

/** A person's or agent's commit becomes a branch below the experiments and a pull request on it. */
export async function submit(place: Place, idea: Submission): Promise<{ branch: string; pull: number }> {
  const { repository, forge, refs } = place
  if (/^exp-\d+$/.test(idea.name)) {
    throw new UserError(`${idea.name} is a name that winnow gives itself`, {
      fix: 'choose another with --name',
    })
  }
  const ref = `${refs.experiments}${idea.name}`
  const { refs: found } = await repository.remoteRefs([ref, refs.optimize])
  if (!found.has(refs.optimize))
    throw new UserError(`no campaign ${place.name} was started`, { fix: 'winnow run' })
  await repository.fetchFrom(idea.from, idea.commit)
  const from = found.get(ref) ?? null
  if (from !== idea.commit) await pushBranch(place, { ref, from, to: idea.commit })
  const branch = shortRef(ref)
  const [answer] = await forge.batch([
    { kind: 'open', branch, base: shortRef(refs.optimize), title: idea.title, body: idea.body },
  ])
  if (answer?.ok) return { branch, pull: answer.number }
  if (answer?.code === 'duplicate' && answer.number !== null) return { branch, pull: answer.number }
  throw new UserError(`the pull request could not be opened: ${answer?.message ?? 'no answer'}`)
}

async function pushBranch(place: Place, update: { ref: string; from: Oid | null; to: Oid }): Promise<void> {
  const result = await place.repository.push([update])
  if (result.ok) return
  if (result.reason === 'lease')
    throw new UserError(`${shortRef(update.ref)} was moved by somebody else`, { fix: 'try again' })
  const what = result.reason === 'checked-out' ? `it is checked out in ${result.worktree}` : result.message
  throw new UserError(`${shortRef(update.ref)} could not be pushed: ${what}`)
}
