import { UserError } from '../errors.ts'
import type { ModelUsage } from '../ports.ts'
import type { Price } from './endpoint.ts'

export interface Tokens {
  input: number
  output: number
}

export interface BudgetTerms {
  model: string
  /** Null: as much as it takes. */
  capUsd: number | null
  /** Null: not known. */
  price: Price | null
  /** What was spent under the same cap before. */
  spentUsd?: number
}

/** What may still be asked, and what it came to. */
export interface Budget {
  /** There is a limit, so that one request at a time is made: nothing else can be under way when it is reached. */
  readonly capped: boolean
  /** Why nothing more may be asked; null while something may. */
  exhausted(): string | null
  paid(tokens: Tokens): void
  /** Nobody said what it cost: it counts with the most that it can have cost. */
  unanswered(most: Tokens): void
  usage(): ModelUsage
}

const MILLION = 1_000_000

/** Hard: nothing is asked once the cap is reached, so that it is exceeded by one request at the most. */
export function openBudget({ model, capUsd, price, spentUsd = 0 }: BudgetTerms): Budget {
  requireValidPrices({ model, capUsd, price, spentUsd })
  const spent = { requests: 0, unanswered: 0, tokens: 0, usd: 0 }

  function add({ input, output }: Tokens): void {
    spent.requests += 1
    spent.usd += (input * (price?.input ?? 0) + output * (price?.output ?? 0)) / MILLION
  }

  return {
    capped: capUsd !== null,
    exhausted() {
      const all = spentUsd + spent.usd
      if (capUsd === null || all < capUsd) return null
      return `${formatUsd(all)} of ${formatUsd(capUsd)} are spent on ${model}`
    },
    paid(tokens) {
      add(tokens)
      spent.tokens += tokens.input + tokens.output
    },
    unanswered(most) {
      add(most)
      spent.unanswered += 1
    },
    usage: () => ({ ...spent, usd: price === null ? null : spent.usd }),
  }
}

/** A price that is not known, not a number or less than nothing would make every cap hold (invariant 5). */
function requireValidPrices({ model, capUsd, price, spentUsd }: Required<BudgetTerms>): void {
  const amounts = [capUsd ?? 0, spentUsd, price?.input ?? 0, price?.output ?? 0]
  const wrong = amounts.find(amount => !(Number.isFinite(amount) && amount >= 0))
  if (wrong !== undefined)
    throw new UserError(`${wrong} is no amount of money`, { fix: 'give a number of at least 0' })
  if (capUsd === null || price !== null) return
  throw new UserError(
    `what ${model} costs is not known, so that no cap of ${formatUsd(capUsd)} can be kept`,
    {
      fix: 'give its price, choose a model whose price is known, or ask without a cap',
    },
  )
}

export function formatUsd(usd: number): string {
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`
}
