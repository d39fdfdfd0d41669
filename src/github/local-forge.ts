import { ConflictError } from '../errors.ts'
import type { RefUpdate } from '../git/push.ts'
import type { Repository } from '../git/repository.ts'
import { type Attempt, type Pacing, retryLostRaces, toPushAttempt } from '../ledger/retry.ts'
import { type CampaignRefs, type Oid, toShortRef } from '../model/ids.ts'
import {
  addRequestedPulls,
  applyChange,
  type ChangeContext,
  formatRange,
  listChangedPulls,
  type PullTable,
  readOpenPulls,
  writePulls,
} from './local-store.ts'
import {
  type Forge,
  type ForgeAnswer,
  type ForgeChange,
  type NewPull,
  type PullQuery,
  type RefView,
  withSingleChanges,
} from './port.ts'
import type { Pull } from './pull.ts'

interface LocalForgeOptions extends Pacing {
  repo: Repository
  refs: CampaignRefs
  author: string
}

interface LocalOutcome {
  table: PullTable
  answers: ForgeAnswer[]
}

/**
 * Stores pull requests as files on a separate branch. Like every ref, the branch moves with a lease on its old
 * value.
 */
export function createLocalForge(options: LocalForgeOptions): Forge {
  const { repo, refs, author } = options
  const { read, remember: rememberWrite } = createLocalPullsReader(repo, refs)
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
    const current = await read(changes, view)
    const at = new Date(options.clock()).toISOString()
    const changed = changes.flatMap(each => (each.kind === 'open' ? [] : [each.number]))
    const { numbers = [], branches = [], elsewhere = [] } = wanted
    const before = await addRequestedPulls(repo, current.commit, current.stored, {
      numbers: [...numbers, ...changed],
      branches: [...branches, ...elsewhere.map(({ branch }) => branch)],
    })
    const settled = await settleAll(ancestry, before, { tips: current.tips, at })
    const contained = await findContainedHeads(ancestry, current.tips, changes)
    const outcome = applyAll(settled, changes, { at, author, tips: current.tips, contained })
    const written = listChangedPulls(before, outcome.table)
    if (written.length === 0) return { outcome, updates: [], accepted: () => {} }
    const write = { changed: written, at, message: formatPullsMessage(written) }
    const commit = await writePulls(repo, current.commit, outcome.table, write)
    const updates = [{ ref: refs.forge, from: current.commit, to: commit }]
    return { outcome, updates, accepted: () => rememberWrite(commit, outcome.table) }
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

// Reading the branch

/** Local pull requests and the tips of their branches at one moment. */
interface LocalPullsView {
  commit: Oid | null
  stored: PullTable
  /** By short name. */
  tips: ReadonlyMap<string, Oid>
}

interface LocalPullsReader {
  read: (changes: readonly ForgeChange[], view?: RefView) => Promise<LocalPullsView>
  /** Records our own accepted write, so that it is not read back. */
  remember: (commit: Oid, table: PullTable) => void
}

/** Asks the remote once as long as no other process writes pull requests. */
function createLocalPullsReader(repo: Repository, refs: CampaignRefs): LocalPullsReader {
  let known: { commit: Oid | null; stored: PullTable } = {
    commit: null,
    stored: { next: 1, pulls: new Map() },
  }

  async function ask(wanted: readonly string[]): Promise<RefView> {
    const { refs: found } = await repo.remoteRefs(wanted)
    return { refs: found, covers: ref => wanted.includes(ref) }
  }

  /**
   * Pull requests and tips must be of one moment: a concurrent call may change `known` while this one awaits.
   */
  async function read(changes: readonly ForgeChange[], view?: RefView): Promise<LocalPullsView> {
    let mine = known
    const current = view ?? (await ask([refs.forge, ...listBranchRefs(mine.stored, changes)]))
    const commit = current.refs.get(refs.forge) ?? null
    if (commit !== mine.commit) {
      if (commit !== null) await repo.fetch([{ ref: refs.forge, oid: commit }])
      mine = { commit, stored: await readOpenPulls(repo, commit) }
      known = mine
    }
    const missing = listBranchRefs(mine.stored, changes).filter(ref => !current.covers(ref))
    const found = new Map(current.refs)
    if (missing.length > 0)
      for (const [ref, oid] of (await repo.remoteRefs(missing)).refs) found.set(ref, oid)
    if (!view) await repo.fetch(listBaseRefs(mine.stored, changes).flatMap(ref => findTip(found, ref)))
    const tips = new Map([...found].map(([ref, oid]) => [toShortRef(ref), oid]))
    return { ...mine, tips }
  }

  return {
    read,
    remember(commit, { next, pulls }) {
      const open = [...pulls].filter(([, pull]) => pull.state === 'open')
      known = { commit, stored: { next, pulls: new Map(open) } }
    },
  }
}

function findTip(refs: ReadonlyMap<string, Oid>, ref: string): { ref: string; oid: Oid }[] {
  const oid = refs.get(ref)
  return oid === undefined ? [] : [{ ref, oid }]
}

function listBranchRefs(table: PullTable, changes: readonly ForgeChange[]): string[] {
  const heads = listConcernedPulls(table, changes).map(each => `refs/heads/${each.branch}`)
  return [...new Set([...heads, ...listBaseRefs(table, changes)])]
}

function listBaseRefs(table: PullTable, changes: readonly ForgeChange[]): string[] {
  return [...new Set(listConcernedPulls(table, changes).map(each => `refs/heads/${each.base}`))]
}

function listConcernedPulls(
  table: PullTable,
  changes: readonly ForgeChange[],
): Pick<NewPull, 'branch' | 'base'>[] {
  const opening = changes.flatMap(each => (each.kind === 'open' ? [each] : []))
  return [...table.pulls.values(), ...opening]
}

// Merged pull requests

/**
 * Answers ancestry questions about a base branch. The tip must be fetched, so that a missing commit is known
 * not to be in it.
 */
interface Ancestry {
  contains(base: Oid, commit: Oid): Promise<boolean>
  /** Loads the answers for many later `contains` calls at once. */
  learn(questions: ReadonlyMap<Oid, readonly Oid[]>): Promise<void>
  findMergeCommit(base: Oid, head: Oid): Promise<Oid>
}

const MAX_CACHED_PAIRS = 10_000

interface BranchTips {
  /** By short name, as the remote has them now. */
  tips: ReadonlyMap<string, Oid>
  at: string
}

/** Ancestry of two commits never changes, so each pair costs at most one git process. */
function createAncestry(repo: Pick<Repository, 'has' | 'isAncestor' | 'notContained' | 'commit'>): Ancestry {
  const known = new Map<string, boolean>()

  async function contains(base: Oid, commit: Oid): Promise<boolean> {
    const pair = `${base} ${commit}`
    const before = known.get(pair)
    if (before !== undefined) return before
    const found = base === commit || ((await repo.has(commit)) && (await repo.isAncestor(commit, base)))
    remember(pair, found)
    return found
  }

  function remember(pair: string, found: boolean): void {
    if (known.size >= MAX_CACHED_PAIRS) known.clear()
    known.set(pair, found)
  }

  async function learn(questions: ReadonlyMap<Oid, readonly Oid[]>): Promise<void> {
    for (const [base, commits] of questions) {
      const open: Oid[] = []
      for (const commit of commits)
        if (!known.has(`${base} ${commit}`) && (await repo.has(commit))) open.push(commit)
      if (open.length < 2) continue
      const missing = await repo.notContained(base, open)
      for (const commit of open) remember(`${base} ${commit}`, !missing.has(commit))
    }
  }

  return {
    contains,
    learn,
    async findMergeCommit(base, head) {
      for (let at = base; ; ) {
        const [before, ...merged] = (await repo.commit(at)).parents
        if (merged.includes(head)) return at
        if (before === undefined || !(await contains(before, head))) return at
        at = before
      }
    },
  }
}

async function settleAll(ancestry: Ancestry, table: PullTable, branches: BranchTips): Promise<PullTable> {
  await ancestry.learn(listAncestryQuestions(table, branches))
  const pulls = new Map<number, Pull>()
  for (const [number, pull] of table.pulls) pulls.set(number, await settlePull(ancestry, pull, branches))
  return { ...table, pulls }
}

/**
 * Collects all ancestry questions for one base, so that one git process answers them instead of one per pull
 * request.
 */
function listAncestryQuestions(table: PullTable, { tips }: BranchTips): Map<Oid, Oid[]> {
  const questions = new Map<Oid, Oid[]>()
  for (const pull of table.pulls.values()) {
    const base = tips.get(pull.base)
    if (pull.state !== 'open' || base === undefined) continue
    questions.set(base, [...(questions.get(base) ?? []), tips.get(pull.branch) ?? pull.head])
  }
  return questions
}

async function settlePull(ancestry: Ancestry, pull: Pull, { tips, at }: BranchTips): Promise<Pull> {
  if (pull.state !== 'open') return pull
  const tip = tips.get(pull.branch)
  const head = tip ?? pull.head
  const base = tips.get(pull.base)
  if (base !== undefined && (await ancestry.contains(base, head))) {
    const merged_commit = await ancestry.findMergeCommit(base, head)
    return { ...pull, head, state: 'merged', merged_commit, closed_at: at }
  }
  if (tip === undefined) return { ...pull, state: 'closed', closed_at: at }
  return head === pull.head ? pull : { ...pull, head }
}
