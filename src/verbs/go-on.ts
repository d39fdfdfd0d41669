import { durationText } from '../report/duration.ts'
import type { Call } from './call.ts'

/** What is about to be spent, as far as it is known. */
export interface Stake {
  /** At most; null where nobody knows yet. */
  seconds: number | null
  /** What may cost money, in words: who asks for it, and up to how much. */
  money: readonly string[]
  /** Nothing is expected: the time is the limit that the spec sets. */
  upTo?: boolean
}

const LONG_SECONDS = 3_600

/** What a person should agree to before it begins; null where so little is at stake that nobody needs to be asked. */
export function stakeText({ seconds, money, upTo = false }: Stake): string | null {
  const long = seconds !== null && seconds > LONG_SECONDS
  if (!long && money.length === 0) return null
  return [timeText(seconds, upTo), ...money].join('; ')
}

function timeText(seconds: number | null, upTo: boolean): string {
  if (seconds === null) return 'How long this takes is not known yet'
  const time = durationText(seconds)
  return upTo
    ? `How long this takes is not known yet (winnow check says), at most ${time}`
    : `This will take about ${time}`
}

/** Asked once, and only where somebody can answer: --yes, CI and pipes go on. */
export async function goesOn(
  { given, terminal, interrupt }: Pick<Call, 'given' | 'terminal' | 'interrupt'>,
  stake: Stake,
): Promise<boolean> {
  const text = stakeText(stake)
  if (text === null || given.flag('yes') || terminal.confirm === null) return true
  return terminal.confirm(`${text}. Go on?`, interrupt)
}
