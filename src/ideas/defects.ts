import { computeMean, listEpochSteps } from '../decide/epochs.ts'
import { formatNumber } from '../decide/wording.ts'
import type { Campaign, EpochRun, MeasuredEpoch } from '../model/campaign.ts'
import { listExperiments } from '../model/experiment.ts'
import { cutText, parseReason, toOneLine } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import { EARLIER_HEADING, listEarlierResults, type PriorResult } from './prior-results.ts'

const LONGEST = 12_000
const LONGEST_EARLIER = 3_000
const TRIED = 8

/** What the last epoch showed, the worst task first, and what was tried before, here and in other campaigns. */
export function renderDefects(campaign: Campaign, spec: Spec, earlier: readonly PriorResult[] = []): string {
  const passes = listEpochSteps(campaign, spec)
  const [before, last] = passes.length < 2 ? [undefined, passes[0]] : passes.slice(-2)
  const others = renderEarlier(earlier, spec)
  if (last === undefined) return ['No epoch was measured yet.', ...others].join('\n')
  const { primary } = spec.metric
  const isLess = primary.direction === 'minimize'
  const better = isLess ? 'lower' : 'higher'
  const sections = [
    `Mean ${primary.name}: ${formatScore(last.epoch.mean)} (${better} is better)`,
    ...renderTasks(last.epoch, before?.epoch, isLess),
    ...renderTried(campaign),
  ]
  const text = sections.join('\n')
  const shown = text.length <= LONGEST ? text : `${cutText(text, LONGEST)}\n(cut off)`
  return [shown, ...others].join('\n')
}

function renderEarlier(earlier: readonly PriorResult[], spec: Spec): string[] {
  let left = LONGEST_EARLIER
  const lines = listEarlierResults(earlier, spec).filter(line => (left -= line.length) >= 0)
  return lines.length === 0 ? [] : ['', `${EARLIER_HEADING}:`, ...lines]
}

function renderTasks(last: MeasuredEpoch, before: MeasuredEpoch | undefined, isLess: boolean): string[] {
  const earlier = before === undefined ? new Map<string, EpochRun[]>() : groupRuns(before.runs)
  const tasks = [...groupRuns(last.runs)].map(([name, runs]) => ({ name, runs, score: scoreRuns(runs) }))
  const rank = ({ score }: { score: number | null }) => (score === null ? Infinity : isLess ? score : -score)
  return tasks
    .toSorted((a, b) => rank(b) - rank(a))
    .flatMap(({ name, runs, score }) => {
      const was = scoreRuns(earlier.get(name) ?? [])
      const isWorse = score !== null && was !== null && (isLess ? score > was : score < was)
      const change = isWorse ? `, worse than ${formatScore(was)} in the epoch before` : ''
      return [`- ${name}: ${formatScore(score)}${change}`, ...runs.flatMap(renderRun)]
    })
}

function renderRun({ metrics, error, feedback }: EpochRun): string[] {
  const parts = Object.entries(metrics).map(([name, value]) => `${name} ${formatNumber(value)}`)
  return [
    ...(parts.length === 0 ? [] : [`  ${parts.join(', ')}`]),
    ...(error === null ? [] : [`  failed: ${toOneLine(error, 600)}`]),
    ...(feedback === null ? [] : [`  feedback: ${feedback}`]),
  ]
}

function groupRuns(runs: readonly EpochRun[]): Map<string, EpochRun[]> {
  const groups = new Map<string, EpochRun[]>()
  for (const run of runs) {
    const name = run.task ?? 'all tasks'
    groups.set(name, [...(groups.get(name) ?? []), run])
  }
  return groups
}

/** One missing score leaves none. */
export function scoreRuns(runs: readonly EpochRun[]): number | null {
  const scores = runs.flatMap(({ score }) => score ?? [])
  return runs.length === 0 || scores.length < runs.length ? null : computeMean(scores)
}

function formatScore(score: number | null): string {
  return score === null ? 'no score' : formatNumber(score)
}

function renderTried(campaign: Campaign): string[] {
  const tried = listExperiments(campaign)
    .filter(({ status, purpose }) => status === 'ended' && purpose === 'idea')
    .slice(-TRIED)
    .map(({ id, category, hypothesis, verdict, reason }) => {
      const why = reason === null ? '' : `: ${toOneLine(parseReason(reason).sentence, 160)}`
      const undone = campaign.landings.some(
        ({ experiment, reverted }) => experiment === id && reverted !== null,
      )
      return `- ${category}: ${toOneLine(hypothesis, 200)} (${undone ? 'rolled back' : (verdict ?? 'ended')}${why})`
    })
  return tried.length === 0 ? [] : ['', 'Tried before:', ...tried]
}
