import { join } from 'node:path'
import { z } from 'zod'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { readStoredJson, writeStoredJson } from '../measure/file-system.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Oid } from '../model/ids.ts'
import { formatDuration } from '../report/terminal.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './verb.ts'

interface Stake {
  seconds: number | null
  money: readonly string[]
  /** most: an upper bound. limit: the limit in the spec, without a forecast. */
  bound?: 'expected' | 'most' | 'limit'
}

const LONG_SECONDS = 3_600
const AGENTS = /\b(claude|codex|gemini|copilot|opencode|aider)\b/

/** Cached result of `winnow check` for one spec and tree. Used only to decide whether to ask. */
const forecastSchema = z.strictObject({ seconds: z.number().nonnegative() })

interface ForecastKey {
  yaml: string
  tree: Oid
}

/** Returns null if the cost is too low to ask. */
export function describeStake({ seconds, money, bound = 'expected' }: Stake): string | null {
  const long = seconds !== null && seconds > LONG_SECONDS
  if (!long && money.length === 0) return null
  return [describeStakeTime(seconds, bound), ...money].join('; ')
}

function describeStakeTime(seconds: number | null, bound: NonNullable<Stake['bound']>): string {
  const unknown = 'How long this takes is not known yet'
  if (seconds === null) return unknown
  const time = formatDuration(seconds)
  switch (bound) {
    case 'expected':
      return `This will take about ${time}`
    case 'most':
      return `This will take ${time} at most`
    case 'limit':
      return `${unknown} (from winnow check), at most ${time}`
    default:
      return bound satisfies never
  }
}

/** Asks once. Continues without asking in CI, in pipes and with --yes. */
export async function confirmStake(
  { given, terminal, interrupt }: Pick<Call, 'given' | 'terminal' | 'interrupt'>,
  stake: Stake,
): Promise<boolean> {
  const text = describeStake(stake)
  if (text === null || given.flag('yes') || terminal.confirm === null) return true
  return terminal.confirm(`${text}. Go on?`, interrupt)
}

/** `seconds` is the forecast of `winnow check`; null if it did not run. */
export function estimateStake(spec: Spec, seconds: number | null): Stake {
  return {
    seconds: estimateStakeSeconds(spec, seconds),
    money: describeStakeMoney(spec),
    bound: seconds === null ? 'limit' : 'expected',
  }
}

/** Assumes the full time limit without a forecast. A campaign without own proposers only waits. */
function estimateStakeSeconds({ propose, stopping }: Spec, seconds: number | null): number | null {
  const most = stopping.max_hours === null ? null : stopping.max_hours * 3_600
  if (seconds !== null) return most === null ? seconds : Math.min(most, seconds)
  return propose.every(({ use }) => use === 'external') ? null : most
}

function describeStakeMoney({ propose, metric, stopping }: Spec): string[] {
  if (stopping.max_total_cost_usd !== null) return []
  const agents = propose.flatMap(proposer => {
    if (proposer.use !== 'command') return []
    const name = proposer.preset ?? AGENTS.exec(proposer.command ?? '')?.[0]
    return name === undefined ? [] : [name]
  })
  const uncapped = metric.primary.type === 'judge' && metric.judge?.max_total_cost_usd === null
  const judged = uncapped ? ['the judge'] : []
  const payees = [...new Set([...agents, ...judged])]
  if (payees.length === 0) return []
  return [`${payees.join(' and ')} may cost money, with no limit (stopping.max_total_cost_usd is not set)`]
}

// The forecast of winnow check

export function saveForecast(
  repositoryContext: RepositoryContext,
  about: ForecastKey,
  seconds: number,
): void {
  writeStoredJson(getForecastPath(repositoryContext, about), { seconds })
}

/** Returns null if `winnow check` did not run, or if the file is damaged. */
export function readForecast(repositoryContext: RepositoryContext, about: ForecastKey): number | null {
  const stored = readStoredJson(getForecastPath(repositoryContext, about))
  return forecastSchema.safeParse(stored).data?.seconds ?? null
}

function getForecastPath({ dataDir }: RepositoryContext, { yaml, tree }: ForecastKey): string {
  return join(dataDir, 'forecasts', `${hashSha256(`${tree}\n${yaml}`)}.json`)
}
