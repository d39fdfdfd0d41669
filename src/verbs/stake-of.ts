import type { Spec } from '../spec/schema.ts'
import type { Stake } from './go-on.ts'

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
  const who = [...new Set([...agents, ...judged])]
  if (who.length === 0) return []
  return [`${who.join(' and ')} may cost money, with no limit (stopping.max_total_cost_usd is not set)`]
}
