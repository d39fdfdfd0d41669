import { ConflictError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import { type Attempt, type Pacing, pushAttempt, retryLostRaces } from '../ledger/retry.ts'
import type { Oid } from '../model/ids.ts'
import { type CampaignRefs, shortRef } from '../model/refs.ts'
import { type Ancestry, ancestryOf } from './ancestry.ts'
import { applyChange, type ChangeContext, type PullTable, range } from './apply-change.ts'
import { lookout } from './lookout.ts'
import type { Forge, ForgeAnswer, ForgeChange } from './port.ts'
import type { Pull } from './pull.ts'
import { changedPulls, withAsked, writePulls } from './pull-store.ts'
import { type Branches, settle } from './settle.ts'
import { withSingleChanges } from './single-changes.ts'

export interface LocalForgeOptions extends Pacing {
  repo: Repository
  refs: CampaignRefs
  /** Who opens, comments and reviews. */
  author: string
}

interface Outcome {
  table: PullTable
  answers: ForgeAnswer[]
}

/** Pull requests without a server: files on a branch of their own, moved like every ref by its old value. */
export function localForge(options: LocalForgeOptions): Forge {
  const { repo, refs, author } = options
  const { look, wrote } = lookout(repo, refs)
  const ancestry = ancestryOf(repo)

  async function change(changes: readonly ForgeChange[], watched: readonly number[]): Promise<Outcome> {
    const result = await retryLostRaces(options, () => attempt(changes, watched))
    if (result.done) return result.value
    const where = shortRef(refs.forge)
    throw new ConflictError(`${where} could not be written in two minutes: ${result.why}`, [refs.forge])
  }

  async function attempt(
    changes: readonly ForgeChange[],
    watched: readonly number[],
  ): Promise<Attempt<Outcome>> {
    const seen = await look(changes)
    const at = new Date(options.clock()).toISOString()
    const asked = [...watched, ...changes.flatMap(each => (each.kind === 'open' ? [] : [each.number]))]
    const before = await withAsked(repo, seen.commit, seen.stored, asked)
    const settled = await settleAll(ancestry, before, { tips: seen.tips, at })
    const contained = await containedHeads(ancestry, seen.tips, changes)
    const outcome = applyAll(settled, changes, { at, author, tips: seen.tips, contained })
    const changed = changedPulls(before, outcome.table)
    if (changed.length === 0) return { done: true, value: outcome }
    const write = { changed, at, message: messageOf(changed) }
    const commit = await writePulls(repo, seen.commit, outcome.table, write)
    const pushed = await repo.push([{ ref: refs.forge, from: seen.commit, to: commit }])
    if (pushed.ok) wrote(commit, outcome.table)
    return pushAttempt(pushed, outcome)
  }

  return withSingleChanges({
    kind: 'local',
    async list(watched = []) {
      const { table } = await change([], watched)
      return listed(table, watched)
    },
    async batch(changes) {
      return changes.length === 0 ? [] : (await change(changes, [])).answers
    },
  })
}

async function settleAll(ancestry: Ancestry, table: PullTable, branches: Branches): Promise<PullTable> {
  const pulls = new Map<number, Pull>()
  for (const [number, pull] of table.pulls) pulls.set(number, await settle(ancestry, pull, branches))
  return { ...table, pulls }
}

function applyAll(table: PullTable, changes: readonly ForgeChange[], context: ChangeContext): Outcome {
  const outcome: Outcome = { table, answers: [] }
  for (const change of changes) {
    const applied = applyChange(outcome.table, change, context)
    outcome.table = applied.table
    outcome.answers.push(applied.answer)
  }
  return outcome
}

async function containedHeads(
  ancestry: Ancestry,
  tips: ReadonlyMap<string, Oid>,
  changes: readonly ForgeChange[],
): Promise<Set<string>> {
  const contained = new Set<string>()
  for (const change of changes) {
    if (change.kind !== 'open') continue
    const [base, head] = [tips.get(change.base), tips.get(change.branch)]
    if (base !== undefined && head !== undefined && (await ancestry.contains(base, head))) {
      contained.add(range(change))
    }
  }
  return contained
}

function listed({ pulls }: PullTable, watched: readonly number[]): Pull[] {
  const wanted = [...pulls.values()].filter(each => each.state === 'open' || watched.includes(each.number))
  return wanted.toSorted((a, b) => a.number - b.number)
}

function messageOf(changed: readonly Pull[]): string {
  return `pull requests: ${changed.map(each => `#${each.number} ${each.state}`).join(', ')}`
}
