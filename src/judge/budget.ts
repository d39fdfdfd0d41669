import { UserError } from '../errors.ts'
import type { ModelUsage } from '../ports.ts'
import type { Price } from './model-access.ts'

export interface Tokens {
  input: number
  output: number
}

export interface BudgetTerms {
  model: string
  /** Null: no cap. */
  capUsd: number | null
  /** Null: unknown. */
  price: Price | null
  /** Spent under the same cap before. */
  spentUsd?: number
}

export interface Budget {
  /** With a cap, requests run one at a time: no other request is in flight when the cap is reached. */
  readonly capped: boolean
  /** Why no request may be made. Null while requests are allowed. */
  exhausted(): string | null
  paid(tokens: Tokens): void
  /** The usage of this request is unknown. It counts with its highest possible cost. */
  unanswered(most: Tokens): void
  usage(): ModelUsage
}

const MILLION = 1_000_000

/** A hard cap: no request starts once it is reached, so at most one request exceeds it. */
export function openBudget({ model, capUsd, price, spentUsd = 0 }: BudgetTerms): Budget {
  requireValidPrices({ model, capUsd, price, spentUsd })
  const spent = { requests: 0, unanswered: 0, tokens: 0, usd: 0 }

  function add(tokens: Tokens): void {
    spent.requests += 1
    spent.usd += computeCost(price, tokens)
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

/** Nothing where the price is unknown, which no cap allows. */
export function computeCost(price: Price | null, { input, output }: Tokens): number {
  return (input * (price?.input ?? 0) + output * (price?.output ?? 0)) / MILLION
}

/** Every cap would hold with a price that is unknown, NaN or negative (invariant 5). */
export function requireValidPrices({ model, capUsd, price, spentUsd }: Required<BudgetTerms>): void {
  const amounts = [capUsd ?? 0, spentUsd, price?.input ?? 0, price?.output ?? 0]
  const wrong = amounts.find(amount => !(Number.isFinite(amount) && amount >= 0))
  if (wrong !== undefined)
    throw new UserError(`${wrong} is no amount of money`, { fix: 'give a number of at least 0' })
  if (capUsd === null || price !== null) return
  throw new UserError(
    `the price of ${model} is unknown, so winnow cannot keep the cap of ${formatUsd(capUsd)}`,
    {
      fix: `give its price: in the spec as models: [{ id: ${model}, price: { input, output } }], or as WINNOW_MODEL_PRICE`,
    },
  )
}

export function formatUsd(usd: number): string {
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`
}
