import { parse as parseYaml, stringify } from 'yaml'
import { z } from 'zod'
import { formatNumber } from '../decide/wording.ts'
import { type Campaign, isReverted } from '../model/campaign.ts'
import { listExperiments } from '../model/experiment.ts'
import { quoteCode, toSafeLine } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'

/** An experiment of another tool. It informs proposers, and is never a verdict of winnow. */
const priorResultSchema = z.strictObject({
  /** The tool, and the file that its user imported. */
  from: z.string(),
  idea: z.string(),
  /** In the other tool's word, such as keep, discarded or crash. */
  result: z.string(),
  category: z.string().optional(),
  metrics: z.record(z.string(), z.number()).optional(),
  change: z.string().optional(),
  diff: z.string().optional(),
  learned: z.string().optional(),
  commit: z.string().optional(),
})
export type PriorResult = z.infer<typeof priorResultSchema>

export function buildHistoryPath(name: string): string {
  return `.winnow/history/${name}.yaml`
}

/** Ideas in this file open the backlog of a campaign that starts. */
export function buildIdeasPath(name: string): string {
  return `.winnow/ideas/${name}.yaml`
}

const HISTORY_HEAD = [
  '# Tried before with other tools. Briefs for proposers quote it; it decides nothing.',
  '# Remove what no longer holds.',
]

export function renderHistoryFile(results: readonly PriorResult[]): string {
  return `${HISTORY_HEAD.join('\n')}\n${stringify(results, { lineWidth: 100 })}`
}

/** A person may edit the file: entries that cannot be read are left out, because they only inform. */
export function readHistoryFile(text: string): PriorResult[] {
  const entries = z.array(z.unknown()).safeParse(parseHistoryYaml(text)).data ?? []
  return entries.flatMap(entry => priorResultSchema.safeParse(entry).data ?? [])
}

function parseHistoryYaml(text: string): unknown {
  try {
    return parseYaml(text)
  } catch {
    return null
  }
}

/** Ended experiments of a campaign, in the form of those of other tools. */
export function toPriorResults(campaign: Campaign): PriorResult[] {
  return listExperiments(campaign).flatMap((experiment): PriorResult[] => {
    const { id, outcome, hypothesis, category, learnings, purpose } = experiment
    if (outcome === null || outcome === 'withdrawn' || purpose === 'revert') return []
    const learned = learnings === null ? {} : { learned: learnings }
    const result = isReverted(campaign, id) ? 'reverted' : outcome
    return [{ from: `campaign ${campaign.name}`, idea: hypothesis, result, category, ...learned }]
  })
}

export const EARLIER_HEADING = 'Learned in earlier and other campaigns of this repository'

/** Other campaigns of the repository: those that share words with this one first, gains before others. */
export function listEarlierResults(
  results: readonly PriorResult[],
  { name, description, metric, scope }: Pick<Spec, 'name' | 'description' | 'metric' | 'scope'>,
): string[] {
  const words = new Set(listWords([name, description, metric.primary.name, ...scope.mutable].join(' ')))
  const ranked = results.map(result => {
    const found = new Set(listWords(`${result.from} ${result.idea} ${result.learned ?? ''}`))
    return { result, shared: [...found].filter(word => words.has(word)).length }
  })
  const rank = ({ result }: { result: PriorResult }) => Number(isGoodResult(result))
  return ranked
    .toSorted((a, b) => b.shared - a.shared || rank(b) - rank(a))
    .map(({ result: { from, idea, result, learned } }) => {
      const why = learned === undefined ? '' : ` Learned: ${quoteCode(learned, 200)}`
      return `- ${quoteCode(from, 60)}, ${toSafeLine(result, 40)}: ${quoteCode(idea, 200)}${why}`
    })
}

function listWords(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{4,}/gu) ?? []
}

const GOOD = /^(?:keep|kept|runner_up_kept|committed|promising|not_selected|better)\b/i

/** Gains first, then newest first. */
export function listPriorResults(results: readonly PriorResult[]): string[] {
  const newest = results.toReversed()
  const sorted = [...newest.filter(isGoodResult), ...newest.filter(each => !isGoodResult(each))]
  return sorted.map(({ from, idea, result, metrics, change, learned }) => {
    const numbers = Object.entries(metrics ?? {})
      .slice(0, 2)
      .map(([name, value]) => `, ${quoteCode(name, 40)} ${formatNumber(value)}`)
    const by = change === undefined ? '' : ` (${quoteCode(change, 40)})`
    const lesson = learned === undefined ? '' : `. Learned: ${quoteCode(learned, 160)}`
    return `- ${quoteCode(idea, 140)} ${quoteCode(result, 40)}${numbers.join('')}${by}, ${toSafeLine(from, 60)}${lesson}`
  })
}

function isGoodResult({ result }: PriorResult): boolean {
  return GOOD.test(result)
}
