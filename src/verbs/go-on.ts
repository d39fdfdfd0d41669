import { formatDuration } from '../report/duration.ts'
import type { Call } from './call.ts'

/** What is about to be spent, as far as it is known. */
export interface Stake {
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
