import type { Campaign } from '../../model/campaign.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Outcome } from '../../model/outcome.ts'
import { findSubject } from '../../model/picked.ts'
import type { FieldDifference } from './compare.ts'

/** Endings that no report speaks of: a person, a refusal, or the end of the campaign. */
const WITHOUT_VERDICT: ReadonlySet<Outcome> = new Set(['refused', 'withdrawn', 'inconclusive'])

/** Closing repeats the verdict before it; what was measured and closed without one lacks it. */
export function compareClosing(campaign: Campaign, event: LedgerEvent<'closed'>): FieldDifference[] {
  const experiment = findSubject(campaign, event.experiment)
  if (!experiment) return [{ field: 'experiment', recorded: event.experiment, recomputed: null }]
  if (experiment.status !== 'ended') {
    if (WITHOUT_VERDICT.has(event.outcome)) return []
    return [{ field: 'decided', recorded: null, recomputed: event.outcome }]
  }
  const { outcome, reason } = experiment
  const fields = [
    { field: 'outcome', recorded: event.outcome, recomputed: outcome },
    { field: 'reason', recorded: event.reason, recomputed: reason },
  ]
  return fields.filter(({ recorded, recomputed }) => recorded !== recomputed)
}
