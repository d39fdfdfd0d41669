import { formatNumber } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import type { Judgement, MeasuredOrder } from './judgement.ts'
import { selectComparison } from './orders.ts'
import type { CandidateChange, World } from './world.ts'

/** Why a change may not be judged as a simplification; null where it may. */
export function explainNotSimplification(world: World, changes: readonly CandidateChange[]): string | null {
  if (selectComparison(world)?.by === 'numbers')
    return 'kind: simplify is shown to cost nothing by pairs, and this campaign compares numbers: bring it as an idea'
  const added = changes.reduce((sum, change) => sum + (change.added ?? 0), 0)
  const deleted = changes.reduce((sum, change) => sum + (change.deleted ?? 0), 0)
  if (deleted > added) return null
  return `kind: simplify has to remove lines, and this adds ${added} and removes ${deleted}`
}

/**
 * Each simplification is only shown to cost less than min_effect, so many could cost a lot: all of them together
 * may cost one min_effect (decision.md 3.4).
 */
export function limitSimplification(
  { simplified }: Pick<Campaign, 'simplified'>,
  { purpose }: Pick<Experiment, 'purpose'>,
  { order }: MeasuredOrder,
  judgement: Judgement,
): Judgement {
  if (purpose !== 'simplify' || judgement.is !== 'eligible' || order.stop.rule !== 'paired') return judgement
  const { assessment } = judgement
  const { min_effect, scale } = order.stop
  const loss = Math.max(0, -(assessment.primary_delta ?? 0))
  if (simplified + loss <= min_effect) return judgement
  const said = (value: number) => (scale === 'log' ? `${(value * 100).toFixed(1)} %` : formatNumber(value))
  const reason = `it costs ${said(loss)}, and simplifications may cost ${said(min_effect)} in all, of which ${said(simplified)} is spent`
  const outcome = order.purpose === 'combination' ? 'runner_up_dropped' : 'dropped'
  return { is: 'final', outcome, assessment, reason }
}
