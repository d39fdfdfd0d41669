import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { isBetterAlone } from '../model/outcome.ts'
import { listExperiments } from '../model/experiments.ts'

/** How one kind of idea has fared, and what follows from it for the next ones. */
export interface CategorySummary {
  category: string
  /** Ended with a verdict on what it does: refused and withdrawn ideas say nothing of their kind. */
  tried: number
  kept: number
  /** Measured to be gains, and not on the branch because another change was. */
  better: number
  unproven: number
  /** Those that broke, by gates or by failing. */
  broken: number
  open: number
  /** What was learned, the newest first. */
  learned: { id: string; text: string }[]
  next: 'more' | 'prove' | 'open' | 'leave'
}

const MIN_TRIED = 3

/** What was tried by category: what works first, then what is not settled, then what is not worth another idea. */
export function summarizeCategories(campaign: Pick<Campaign, 'experiments' | 'landings'>): CategorySummary[] {
  const standing = new Set(
    campaign.landings.flatMap(({ experiment, reverted }) => (reverted === null ? [experiment] : [])),
  )
  const groups = new Map<string, Experiment[]>()
  for (const experiment of listExperiments(campaign)) {
    if (experiment.purpose === 'revert' || isWithoutVerdict(experiment)) continue
    const { category } = experiment
    groups.set(category, [...(groups.get(category) ?? []), experiment])
  }
  const all = [...groups].map(([category, ideas]) => summarizeCategory(category, ideas, standing))
  return all.toSorted(
    (a, b) => ADVICE_ORDER[a.next] - ADVICE_ORDER[b.next] || b.kept - a.kept || b.tried - a.tried,
  )
}

const ADVICE_ORDER: Readonly<Record<CategorySummary['next'], number>> = {
  more: 0,
  prove: 1,
  open: 2,
  leave: 3,
}

function isWithoutVerdict({ outcome }: Experiment): boolean {
  return outcome === 'refused' || outcome === 'withdrawn'
}

function summarizeCategory(
  category: string,
  ideas: readonly Experiment[],
  standing: ReadonlySet<string>,
): CategorySummary {
  const ended = ideas.filter(({ verdict }) => verdict !== null)
  const counts = {
    tried: ended.length,
    kept: ended.filter(({ id }) => standing.has(id)).length,
    better: ended.filter(({ outcome }) => isBetterAlone(outcome)).length,
    unproven: ended.filter(({ verdict }) => verdict === 'not proven').length,
    broken: ended.filter(({ verdict }) => verdict === 'broken').length,
    open: ideas.length - ended.length,
  }
  const learned = ideas
    .toSorted((a, b) => b.number - a.number)
    .flatMap(({ id, learnings }) =>
      learnings === null || learnings.trim() === '' ? [] : [{ id, text: learnings }],
    )
  return { category, ...counts, learned, next: selectAdvice(counts) }
}

function selectAdvice({
  tried,
  kept,
  better,
  unproven,
}: Pick<CategorySummary, 'tried' | 'kept' | 'better' | 'unproven'>) {
  if (kept + better > 0) return 'more'
  if (unproven > 0) return 'prove'
  return tried >= MIN_TRIED ? 'leave' : 'open'
}

/** The advice in words, for proposers and people alike. */
export function formatAdvice({ next, tried, kept, better, unproven, broken, open }: CategorySummary): string {
  const alone = better > 0 ? `, ${better} better alone and not taken` : ''
  const breaks = broken > 0 ? `, ${broken} broke` : ''
  const waits = open > 0 ? `, ${open} under way` : ''
  switch (next) {
    case 'more':
      return `${kept} of ${tried} kept${alone}${breaks}${waits}: more of this kind may pay`
    case 'prove':
      return `${tried} tried, ${unproven} not proven${breaks}${waits}: a larger step of this kind could be shown`
    case 'open':
      return tried === 0
        ? `nothing known yet${waits}`
        : `${tried} tried, none kept${breaks}${waits}: too few to tell`
    case 'leave':
      return `${tried} tried, none kept${breaks}${waits}: leave it, unless there is a new reason`
    default:
      return next satisfies never
  }
}
