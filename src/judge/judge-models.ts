import type { Models, ModelUsage } from '../ports.ts'
import { type Budget, formatUsd, openBudget } from './budget.ts'
import type { ModelAccess } from './model-access.ts'

type ChatTerms = Pick<ModelAccess, 'endpoint' | 'key'> & { budget: Budget }

/** Several models under one cap: each counts its own price, and none is asked once their sum reaches the cap. */
export function createJudgeModels(
  access: readonly ModelAccess[],
  { capUsd, spentUsd }: { capUsd: number | null; spentUsd: number },
  create: (terms: ChatTerms) => Models,
): Models {
  const budgets = new Map(
    access.map(({ model, price }) => [model, openBudget({ model, capUsd, price, spentUsd })]),
  )
  const usage = () => sumUsage([...budgets.values()].map(budget => budget.usage()))
  const exhausted = () => {
    const all = spentUsd + (usage().usd ?? 0)
    if (capUsd === null || all < capUsd) return null
    return `${formatUsd(all)} of ${formatUsd(capUsd)} are spent on ${formatModels(access)}`
  }
  const byName = new Map(
    access.flatMap(({ model, endpoint, key }) => {
      const budget = budgets.get(model)
      return budget === undefined
        ? []
        : [[model, create({ endpoint, key, budget: { ...budget, exhausted } })] as const]
    }),
  )
  return {
    ask(question, signal) {
      const models = byName.get(question.model)
      if (models === undefined) throw new TypeError(`no judge is called ${question.model}`)
      return models.ask(question, signal)
    },
    usage,
  }
}

function sumUsage(all: readonly ModelUsage[]): ModelUsage {
  const sum = (read: (each: ModelUsage) => number) => all.reduce((total, each) => total + read(each), 0)
  return {
    requests: sum(({ requests }) => requests),
    unanswered: sum(({ unanswered }) => unanswered),
    tokens: sum(({ tokens }) => tokens),
    usd: all.every(({ usd }) => usd === null) ? null : sum(({ usd }) => usd ?? 0),
  }
}

export function formatModels(access: readonly Pick<ModelAccess, 'model'>[]): string {
  return [...new Set(access.map(({ model }) => model))].join(' + ')
}
