import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Oid } from '../model/ids.ts'
import { formatDuration } from '../report/terminal.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './verb.ts'

/** What is about to be spent, as far as it is known. */
interface Stake {
  /** At most; null where nobody knows yet. */
  seconds: number | null
  /** What may cost money, in words: who asks for it, and up to how much. */
  money: readonly string[]
  /** expected unless told; most: if everything is used up; limit: nobody looked, and the spec sets it. */
  bound?: 'expected' | 'most' | 'limit'
}

const LONG_SECONDS = 3_600

/** What a person should agree to before it begins; null where so little is at stake that nobody needs to be asked. */
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
      return `${unknown} (winnow check says), at most ${time}`
    default:
      return bound satisfies never
  }
}

/** Asked once, and only where somebody can answer: --yes, CI and pipes go on. */
export async function confirmStake(
  { given, terminal, interrupt }: Pick<Call, 'given' | 'terminal' | 'interrupt'>,
  stake: Stake,
): Promise<boolean> {
  const text = describeStake(stake)
  if (text === null || given.flag('yes') || terminal.confirm === null) return true
  return terminal.confirm(`${text}. Go on?`, interrupt)
}

/** What a campaign may take of a person's time and money; `seconds` is what `check` found, null where it did not look. */
export function estimateStake(spec: Spec, seconds: number | null): Stake {
  return {
    seconds: estimateStakeSeconds(spec, seconds),
    money: describeStakeMoney(spec),
    bound: seconds === null ? 'limit' : 'expected',
  }
}

/** Where nobody looked, all that it may take is at stake; without ideas of its own it waits, and that is cheap. */
function estimateStakeSeconds({ propose, stopping }: Spec, seconds: number | null): number | null {
  const most = stopping.max_hours === null ? null : stopping.max_hours * 3_600
  if (seconds !== null) return most === null ? seconds : Math.min(most, seconds)
  return propose.every(({ use }) => use === 'external') ? null : most
}

const AGENTS = /\b(claude|codex|gemini|copilot|opencode|aider)\b/

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

/** What `check` found on this machine about exactly this spec and this tree. Nothing but a question depends on it. */
const forecastSchema = z.strictObject({ seconds: z.number().nonnegative() })

interface ForecastKey {
  yaml: string
  tree: Oid
}

export async function saveForecast(
  { around }: Call,
  repositoryContext: RepositoryContext,
  about: ForecastKey,
  seconds: number,
): Promise<void> {
  const path = getForecastPath(repositoryContext, about)
  await mkdir(dirname(path), { recursive: true })
  const part = `${path}.${around.random.hex(4)}.part`
  await writeFile(part, JSON.stringify({ seconds }))
  await rename(part, path)
}

/** null: nobody has looked yet. */
export async function readForecast(
  repositoryContext: RepositoryContext,
  about: ForecastKey,
): Promise<number | null> {
  const text = await readFile(getForecastPath(repositoryContext, about), 'utf8').catch(toNullIfMissing)
  return text === null ? null : parseForecast(text)
}

/** A damaged note is none: `check` writes another. */
function parseForecast(text: string): number | null {
  try {
    return forecastSchema.safeParse(JSON.parse(text)).data?.seconds ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function getForecastPath({ dataDir }: RepositoryContext, { yaml, tree }: ForecastKey): string {
  return join(dataDir, 'forecasts', `${hashSha256(`${tree}\n${yaml}`)}.json`)
}
