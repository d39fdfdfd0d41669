import { areFilesDisjoint } from './disjoint.ts'

export type QueuedIdea = { id: string; number: number; category: string; priority: 'high' | 'medium' | 'low' }

const PRIORITY_ORDER = { high: 0, medium: 1, low: 2 } as const satisfies Record<
  QueuedIdea['priority'],
  number
>

function comparePriority(a: QueuedIdea, b: QueuedIdea): number {
  return PRIORITY_ORDER[a.priority] - PRIORITY_ORDER[b.priority] || a.number - b.number
}

/** Both lists of files are known and have none in common. */
export function areDisjoint(changes: ReadonlyMap<string, readonly string[]>, a: string, b: string): boolean {
  const [ours, theirs] = [changes.get(a), changes.get(b)]
  return ours !== undefined && theirs !== undefined && areFilesDisjoint(ours, theirs)
}

/** The next round: the best idea of each category first, so that one kind of idea does not crowd out others. */
export function selectRound(queued: readonly QueuedIdea[], size: number): string[] {
  const seen = new Set<string>()
  const leaders: QueuedIdea[] = []
  const rest: QueuedIdea[] = []
  for (const experiment of queued.toSorted(comparePriority)) {
    const target = seen.has(experiment.category) ? rest : leaders
    seen.add(experiment.category)
    target.push(experiment)
  }
  return [...leaders, ...rest].slice(0, Math.max(0, size)).map(experiment => experiment.id)
}

/**
 * Who may be tried on top of the winner: the next in rank whose files touch neither the winner's nor those
 * of a runner-up before it. Without a known list of files nothing can be shown to be disjoint.
 */
export function selectRunnersUp(
  ranked: readonly string[],
  winner: string,
  changes: ReadonlyMap<string, readonly string[]>,
  max: number,
): string[] {
  const taken = [...(changes.get(winner) ?? [])]
  const chosen: string[] = []
  if (!changes.has(winner)) return chosen
  for (const id of ranked) {
    const paths = changes.get(id)
    if (chosen.length >= max) break
    if (id === winner || paths === undefined || !areFilesDisjoint(taken, paths)) continue
    chosen.push(id)
    taken.push(...paths)
  }
  return chosen
}
