import type { Repository } from '../git/repository.ts'
import type { Oid } from '../model/ids.ts'
import { type CampaignRefs, toShortRef } from '../model/refs.ts'
import type { PullTable } from './apply-change.ts'
import type { ForgeChange, NewPull, RefView } from './port.ts'
import { readOpenPulls } from './pull-store.ts'

/** The local pull requests and the branches they are about, at one moment. */
export interface LocalPullsView {
  commit: Oid | null
  /** The open pull requests as they are stored. */
  stored: PullTable
  /** Tips of their branches, by short name. */
  tips: ReadonlyMap<string, Oid>
}

export interface LocalPullsReader {
  look: (changes: readonly ForgeChange[], view?: RefView) => Promise<LocalPullsView>
  /** Our own write was accepted: it need not be read back. */
  remember: (commit: Oid, table: PullTable) => void
}

/** Looks at the remote: one question to it while nobody else has written pull requests. */
export function createLocalPullsReader(repo: Repository, refs: CampaignRefs): LocalPullsReader {
  let known: { commit: Oid | null; stored: PullTable } = {
    commit: null,
    stored: { next: 1, pulls: new Map() },
  }

  async function ask(wanted: readonly string[]): Promise<RefView> {
    const { refs: found } = await repo.remoteRefs(wanted)
    return { refs: found, covers: ref => wanted.includes(ref) }
  }

  /** Pull requests and tips must be of one moment: others may change `known` while this one waits. */
  async function look(changes: readonly ForgeChange[], view?: RefView): Promise<LocalPullsView> {
    let mine = known
    const seen = view ?? (await ask([refs.forge, ...listBranchRefs(mine.stored, changes)]))
    const commit = seen.refs.get(refs.forge) ?? null
    if (commit !== mine.commit) {
      if (commit !== null) await repo.fetch([{ ref: refs.forge, oid: commit }])
      mine = { commit, stored: await readOpenPulls(repo, commit) }
      known = mine
    }
    const unseen = listBranchRefs(mine.stored, changes).filter(ref => !seen.covers(ref))
    const found = new Map(seen.refs)
    if (unseen.length > 0) for (const [ref, oid] of (await repo.remoteRefs(unseen)).refs) found.set(ref, oid)
    if (!view) await repo.fetch(listBaseRefs(mine.stored, changes).flatMap(ref => findTip(found, ref)))
    const tips = new Map([...found].map(([ref, oid]) => [toShortRef(ref), oid]))
    return { ...mine, tips }
  }

  return {
    look,
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
