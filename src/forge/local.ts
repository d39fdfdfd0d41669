import { ConflictError } from '../errors.ts'
import type { RefUpdate } from '../git/push.ts'
import type { Repository } from '../git/repository.ts'
import { type Attempt, type Pacing, toPushAttempt, retryLostRaces } from '../ledger/retry.ts'
import type { Oid } from '../model/ids.ts'
import { type CampaignRefs, toShortRef } from '../model/refs.ts'
import { type Ancestry, createAncestry } from './ancestry.ts'
import { applyChange, type ChangeContext, type PullTable, formatRange } from './apply-change.ts'
import { createLocalPullsReader } from './lookout.ts'
import type { Forge, ForgeAnswer, ForgeChange, RefView, PullQuery } from './port.ts'
import type { Pull } from './pull.ts'
import { listChangedPulls, addRequestedPulls, writePulls } from './pull-store.ts'
import { type BranchTips, settlePull } from './settle.ts'
import { withSingleChanges } from './single-changes.ts'

export interface LocalForgeOptions extends Pacing {
  repo: Repository
  refs: CampaignRefs
  /** Who opens, comments and reviews. */
  author: string
}

interface LocalOutcome {
  table: PullTable
  answers: ForgeAnswer[]
}

/** Pull requests without a server: files on a branch of their own, moved like every ref by its old value. */
export function createLocalForge(options: LocalForgeOptions): Forge {
  const { repo, refs, author } = options
  const { look, remember: wrote } = createLocalPullsReader(repo, refs)
  const ancestry = createAncestry(repo)

  async function change(
    changes: readonly ForgeChange[],
    wanted: PullQuery,
    view?: RefView,
  ): Promise<LocalOutcome> {
    let first = view
    const result = await retryLostRaces(options, async () => {
      const outcome = await attempt(changes, wanted, first)
      first = undefined
      return outcome
    })
    if (result.done) return result.value
    const where = toShortRef(refs.forge)
    throw (
      result.refused ??
      new ConflictError(`${where} could not be written in two minutes: ${result.why}`, [refs.forge])
    )
  }

  async function attempt(
    changes: readonly ForgeChange[],
    wanted: PullQuery,
    view?: RefView,
  ): Promise<Attempt<LocalOutcome>> {
    const { outcome, updates, accepted } = await prepare(changes, wanted, view)
    if (updates.length === 0) return { done: true, value: outcome }
    const pushed = await repo.push(updates)
    if (pushed.ok) accepted()
    return toPushAttempt(pushed, outcome)
  }

  async function prepare(
    changes: readonly ForgeChange[],
    wanted: PullQuery,
    view?: RefView,
  ): Promise<PreparedChanges> {
    const seen = await look(changes, view)
    const at = new Date(options.clock()).toISOString()
    const changed = changes.flatMap(each => (each.kind === 'open' ? [] : [each.number]))
    const { numbers = [], branches = [], elsewhere = [] } = wanted
    const before = await addRequestedPulls(repo, seen.commit, seen.stored, {
      numbers: [...numbers, ...changed],
      branches: [...branches, ...elsewhere.map(({ branch }) => branch)],
    })
    const settled = await settleAll(ancestry, before, { tips: seen.tips, at })
    const contained = await findContainedHeads(ancestry, seen.tips, changes)
    const outcome = applyAll(settled, changes, { at, author, tips: seen.tips, contained })
    const written = listChangedPulls(before, outcome.table)
    if (written.length === 0) return { outcome, updates: [], accepted: () => {} }
    const write = { changed: written, at, message: formatPullsMessage(written) }
    const commit = await writePulls(repo, seen.commit, outcome.table, write)
    const updates = [{ ref: refs.forge, from: seen.commit, to: commit }]
    return { outcome, updates, accepted: () => wrote(commit, outcome.table) }
  }

  return withSingleChanges({
    kind: 'local',
    async list(wanted = {}, view) {
      const { table } = await change([], wanted, view)
      return selectPulls(table, wanted)
    },
    async batch(changes) {
      return changes.length === 0 ? [] : (await change(changes, {})).answers
    },
    async stage(changes, after) {
      const { outcome, updates, accepted } = await prepare(changes, {}, after)
      return { answers: outcome.answers, updates, accepted }
    },
  })
}

interface PreparedChanges {
  outcome: LocalOutcome
  updates: RefUpdate[]
  accepted: () => void
}

async function settleAll(ancestry: Ancestry, table: PullTable, branches: BranchTips): Promise<PullTable> {
  await ancestry.learn(listAncestryQuestions(table, branches))
  const pulls = new Map<number, Pull>()
  for (const [number, pull] of table.pulls) pulls.set(number, await settlePull(ancestry, pull, branches))
  return { ...table, pulls }
}

/** Everything that settling will ask about one base, so that it costs one process and not one a pull request. */
function listAncestryQuestions(table: PullTable, { tips }: BranchTips): Map<Oid, Oid[]> {
  const asked = new Map<Oid, Oid[]>()
  for (const pull of table.pulls.values()) {
    const base = tips.get(pull.base)
    if (pull.state !== 'open' || base === undefined) continue
    asked.set(base, [...(asked.get(base) ?? []), tips.get(pull.branch) ?? pull.head])
  }
  return asked
}

function applyAll(table: PullTable, changes: readonly ForgeChange[], context: ChangeContext): LocalOutcome {
  const outcome: LocalOutcome = { table, answers: [] }
  for (const change of changes) {
    const applied = applyChange(outcome.table, change, context)
    outcome.table = applied.table
    outcome.answers.push(applied.answer)
  }
  return outcome
}

async function findContainedHeads(
  ancestry: Ancestry,
  tips: ReadonlyMap<string, Oid>,
  changes: readonly ForgeChange[],
): Promise<Set<string>> {
  const contained = new Set<string>()
  for (const change of changes) {
    if (change.kind !== 'open') continue
    const [base, head] = [tips.get(change.base), tips.get(change.branch)]
    if (base !== undefined && head !== undefined && (await ancestry.contains(base, head))) {
      contained.add(formatRange(change))
    }
  }
  return contained
}

function selectPulls(
  { pulls }: PullTable,
  { numbers = [], branches = [], elsewhere = [] }: PullQuery,
): Pull[] {
  const wanted = [...pulls.values()].filter(
    each =>
      each.state === 'open' ||
      numbers.includes(each.number) ||
      branches.includes(each.branch) ||
      elsewhere.some(({ branch, base }) => each.branch === branch && each.base === base),
  )
  return wanted.toSorted((a, b) => a.number - b.number)
}

function formatPullsMessage(changed: readonly Pull[]): string {
  return `pull requests: ${changed.map(each => `#${each.number} ${each.state}`).join(', ')}`
}
