import { ConflictError, UserError } from '../../errors.ts'
import { type Attempt, retryLostRaces, toPushAttempt } from '../../ledger/retry.ts'
import { type Oid, toShortRef } from '../../model/ids.ts'
import { type CampaignContext, createPacing } from './context.ts'

export interface Submission {
  commit: Oid
  /** Repository to fetch it from; null when winnow's own has it. */
  from: string | null
  /** winnow made the commit, and may give it another message. */
  isOurs: boolean
  /** The branch name below the experiments prefix. exp-NNN is reserved for the engine. */
  name: string
  /** The idea as a commit message: its subject is the hypothesis, a winnow block has the details. */
  message: string
}

/** Refuses an unmeasurable idea before any write. Returns the short name of the branch. */
export async function submitIdea(context: CampaignContext, idea: Submission): Promise<string> {
  if (/^exp-\d+$/.test(idea.name)) {
    throw new UserError(`${idea.name} is a name that winnow reserves for itself`, {
      fix: 'choose another with --name',
    })
  }
  if (idea.from !== null) await context.repository.fetchFrom(idea.from, idea.commit)
  const first = await readSubmissionBase(context, idea)
  const head = await describeInCommit(context, idea)
  const result = await retryLostRaces(createPacing(context), async () => {
    const now = await readSubmissionBase(context, idea)
    requireUnmoved(head, first, now)
    return trySubmit(context, head, now)
  })
  if (result.done) return result.value
  throw (
    result.refused ??
    new ConflictError(`the idea was not submitted within two minutes: ${result.why}`, [first.ref])
  )
}

/** A new commit has the date of the person's commit, so that repeating the command makes the same commit. */
async function describeInCommit(
  { repository }: CampaignContext,
  { commit, message, isOurs }: Submission,
): Promise<Oid> {
  const own = await repository.commit(commit)
  const [subject = '', ...details] = message.trim().split('\n')
  if (own.message.trim() === message.trim()) return commit
  if (details.length === 0 && own.message.split('\n', 1)[0] === subject) return commit
  const { tree, committer } = own
  const parents = isOurs ? own.parents : [commit]
  return repository.writeCommit({ tree, parents, message, date: committer.date })
}

interface SubmissionBase {
  ref: string
  from: Oid | null
}

async function readSubmissionBase(
  { repository, refs, name }: CampaignContext,
  idea: Submission,
): Promise<SubmissionBase> {
  const ref = `${refs.experiments}${idea.name}`
  const { refs: found } = await repository.remoteRefs([ref, refs.optimize])
  const optimize = found.get(refs.optimize)
  if (optimize === undefined) throw new UserError(`no campaign ${name} was started`, { fix: 'winnow run' })
  await repository.fetch([{ ref: refs.optimize, oid: optimize }])
  if (await repository.isAncestor(idea.commit, optimize)) {
    throw new UserError(`${idea.commit.slice(0, 12)} has no commit that ${toShortRef(refs.optimize)} lacks`, {
      fix: 'commit the idea first, then propose that commit',
    })
  }
  return { ref, from: found.get(ref) ?? null }
}

/** A retry after a lost race must not overwrite another process's branch of the same name. */
function requireUnmoved(head: Oid, first: SubmissionBase, now: SubmissionBase): void {
  if (now.from === first.from || now.from === head) return
  throw new UserError(`${toShortRef(now.ref)} was moved by another process`, { fix: 'try again' })
}

async function trySubmit(
  { repository }: CampaignContext,
  head: Oid,
  { ref, from }: SubmissionBase,
): Promise<Attempt<string>> {
  const pushed = await repository.push(from === head ? [] : [{ ref, from, to: head }])
  return toPushAttempt(pushed, toShortRef(ref))
}
