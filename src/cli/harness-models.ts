import { UserError } from '../errors.ts'
import { createWebFetch } from '../github/web.ts'
import { openHarnessModels, type OpenMeteredModels } from '../judge/metered-models.ts'
import type { ModelCost } from '../model/report.ts'
import { NO_COST } from '../plan/money.ts'
import { formatDollars, type ModelSpending } from '../report/check-trial.ts'
import type { Spec } from '../spec/schema.ts'
import { isMetered } from '../spec/spec-facts.ts'
import { type Call, type Option, refuseOptions } from './verb.ts'

/** Options of commands that measure outside a campaign. */
export const SPENDING_OPTIONS: readonly Option[] = [
  {
    name: 'spend',
    value: 'usd',
    summary: 'for a harness that asks models through winnow: they may cost this much at most',
  },
  {
    name: 'allow-uncapped',
    summary: 'for a harness that asks models through winnow: they may cost money without a cap',
  },
]

/** The largest sum that a command spends on the models of its harness. */
export interface SpendingCap {
  /** Null: a person allowed it to spend without a cap. */
  usd: number | null
  /** The option or key that says so. */
  key: string
}

const CAP_KEY = 'stopping.max_total_cost_usd'

/** The amount of --spend. Null without it. `asksModels`: the command has a use for it. */
export function readSpendingCap(
  { given }: Call,
  spec: Spec,
  asksModels = isMetered(spec),
): SpendingCap | null {
  const text = given.text('spend')
  if (text === undefined) return null
  const usd = Number(text)
  if (!(Number.isFinite(usd) && usd > 0))
    throw new UserError(`--spend ${text} is no amount of US dollars above 0`, { fix: 'write --spend 0.5' })
  if (given.flag('no-try'))
    throw new UserError('--no-try runs nothing, so --spend has no effect', { fix: 'give one of the two' })
  if (asksModels) return { usd, key: '--spend' }
  throw new UserError('--spend is for a harness that asks models through winnow, and this one asks none', {
    place: { path: 'measurement.models' },
    fix: 'leave it out: measuring this spec costs nothing',
  })
}

/** The lowest cap that holds. Null where the harness asks no models. Without a cap, a person has to allow it. */
export function chooseSpendingCap(
  call: Call,
  spec: Spec,
  { what, setAsideUsd = null }: { what: string; setAsideUsd?: number | null },
): SpendingCap | null {
  if (call.given.flag('spend'))
    refuseOptions(call, ['allow-uncapped'], 'and --spend contradict each other', 'give one of the two')
  const given = readSpendingCap(call, spec)
  if (!isMetered(spec)) {
    refuseOptions(
      call,
      ['allow-uncapped'],
      'is for a harness that asks models through winnow, and this one asks none',
    )
    return null
  }
  const caps = [
    ...(given === null ? [] : [given]),
    { usd: spec.stopping.max_total_cost_usd, key: CAP_KEY },
    { usd: setAsideUsd, key: 'may_cost_usd of the order' },
  ].filter(({ usd }) => usd !== null)
  const [least] = caps.toSorted((a, b) => (a.usd ?? 0) - (b.usd ?? 0))
  if (least !== undefined) return least
  if (call.given.flag('allow-uncapped')) return { usd: null, key: '--allow-uncapped' }
  throw new UserError('the harness asks models, and nothing caps what they may cost', {
    place: { path: CAP_KEY },
    fix: `give a cap in US dollars: ${what} --spend 0.5; or allow it: ${what} --allow-uncapped`,
  })
}

/** `before` and `record`: for a measurement that continues after an interruption. */
export function openCommandModels(
  { environment: { env, random } }: Call,
  spec: Spec,
  { usd }: SpendingCap,
  { before = NO_COST, record = () => {} }: { before?: ModelCost; record?: (cost: ModelCost) => void } = {},
): Promise<OpenMeteredModels> {
  return openHarnessModels(spec, { env, random, web: createWebFetch(env), capUsd: usd, before, record })
}

export function toModelSpending(models: OpenMeteredModels, { usd, key }: SpendingCap): ModelSpending {
  return { ...models.usage(), cap_usd: usd, cap_key: key }
}

/** The models could not be asked further, because the cap of the command is reached. */
export class SpendingCapReached extends UserError {
  constructor({ usd: cap, key }: SpendingCap, spentUsd: number) {
    const most = cap ?? spentUsd
    super(
      `the trial spent ${formatDollars(spentUsd)} and did not end, and ${key} allows ${formatDollars(most)}`,
      { fix: `allow more: ${key === '--spend' ? `--spend ${2 * most}` : `${key}: ${2 * most}`}` },
    )
  }
}
