import { ConflictError, UserError } from '../../errors.ts'
import type { ForgeAnswer } from '../../github/port.ts'
import { type Attempt, retryLostRaces, toPushAttempt } from '../../ledger/retry.ts'
import { type Oid, toShortRef } from '../../model/ids.ts'
import { type CampaignContext, createPacing } from './context.ts'

export interface Submission {
  commit: Oid
  /** Repository to fetch it from; null when winnow's own has it. */
  from: string | null
  /** The branch name below the experiments prefix. exp-NNN is reserved for the engine. */
  name: string
  title: string
  body: string
}

interface SubmittedIdea {
  branch: string
  pull: number
}

/**
 * Creates an experiment branch and a pull request for a commit of a person or an agent. Refuses an
 * unmeasurable idea before any write. With a local forge, both appear in one push.
 */
export async function submitIdea(context: CampaignContext, idea: Submission): Promise<SubmittedIdea> {
  if (/^exp-\d+$/.test(idea.name)) {
    throw new UserError(`${idea.name} is a name that winnow reserves for itself`, {
      fix: 'choose another with --name',
    })
  }
  if (idea.from !== null) await context.repository.fetchFrom(idea.from, idea.commit)
  const first = await readSubmissionBase(context, idea)
  const result = await retryLostRaces(createPacing(context), async () => {
    const now = await readSubmissionBase(context, idea)
    requireUnmoved(idea, first, now)
    return trySubmit(context, idea, now)
  })
  if (result.done) return result.value
  throw (
    result.refused ??
    new ConflictError(`the idea could not be written in two minutes: ${result.why}`, [first.ref])
  )
}

interface SubmissionBase {
  ref: string
  from: Oid | null
  refs: ReadonlyMap<string, Oid>
}

/** Requires a started campaign and a commit that its branch lacks. */
async function readSubmissionBase(
  { repository, refs, name }: CampaignContext,
  idea: Submission,
): Promise<SubmissionBase> {
  const ref = `${refs.experiments}${idea.name}`
  const { refs: found } = await repository.remoteRefs([ref, refs.optimize, refs.forge])
  const optimize = found.get(refs.optimize)
  if (optimize === undefined) throw new UserError(`no campaign ${name} was started`, { fix: 'winnow run' })
  await repository.fetch([{ ref: refs.optimize, oid: optimize }])
  if (await repository.isAncestor(idea.commit, optimize)) {
    throw new UserError(`${idea.commit.slice(0, 12)} has no commit that ${toShortRef(refs.optimize)} lacks`, {
      fix: 'commit the idea first, then propose that commit',
    })
  }
  return { ref, from: found.get(ref) ?? null, refs: found }
}

/** A retry after a lost race must not overwrite another process's branch of the same name. */
function requireUnmoved({ commit }: Submission, first: SubmissionBase, now: SubmissionBase): void {
  if (now.from === first.from || now.from === commit) return
  throw new UserError(`${toShortRef(now.ref)} was moved by another process`, { fix: 'try again' })
}

async function trySubmit(
  context: CampaignContext,
  idea: Submission,
  base: SubmissionBase,
): Promise<Attempt<SubmittedIdea>> {
  const { repository, forge, refs } = context
  const { ref, from } = base
  const branch = toShortRef(ref)
  const open = { branch, base: toShortRef(refs.optimize), title: idea.title, body: idea.body }
  const move = from === idea.commit ? [] : [{ ref, from, to: idea.commit }]
  if (!forge.stage) {
    const pushed = await repository.push(move)
    if (!pushed.ok) return toPushAttempt(pushed, { branch, pull: 0 })
    return {
      done: true,
      value: { branch, pull: getPullNumber(await forge.batch([{ kind: 'open', ...open }])) },
    }
  }
  const after = new Map(base.refs).set(ref, idea.commit)
  const listed = new Set([ref, refs.optimize, refs.forge])
  const staged = await forge.stage([{ kind: 'open', ...open }], {
    refs: after,
    covers: one => listed.has(one),
  })
  const pull = getPullNumber(staged.answers)
  const updates = [...move, ...staged.updates]
  const pushed = await repository.push(updates)
  if (pushed.ok && staged.updates.length > 0) staged.accepted()
  return toPushAttempt(pushed, { branch, pull })
}

/** A branch that has a pull request keeps it. */
function getPullNumber([answer]: readonly ForgeAnswer[]): number {
  if (answer?.ok) return answer.number
  if (answer?.code === 'duplicate' && answer.number !== null) return answer.number
  throw new UserError(`the pull request could not be opened: ${answer?.message ?? 'no answer'}`)
}
