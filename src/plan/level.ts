import { familyLevel } from '../decide/evidence/levels.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Spec } from '../spec/schema.ts'

type Known = Pick<Campaign, 'level' | 'counts' | 'experiments'>
type Control = Pick<Spec['evidence'], 'campaign_control' | 'q' | 'alpha'>

/** Ideas that held, whether they were merged or not: what e-LOND lets the next ones be tested more loosely for. */
function discoveries({ counts }: Known): number {
  return (counts.kept ?? 0) + (counts.runner_up_kept ?? 0) + (counts.not_selected ?? 0)
}

/**
 * What one more experiment takes of the campaign's level (decision.md 3.5): of N tests each an N-th. After an
 * amendment of N the rest of the tests share what is left, so that no level is ever given out twice.
 */
export function nextShare({ level }: Known, spec: Spec): number {
  if (spec.evidence.campaign_control === 'fixed') return 0
  const left = spec.stopping.max_iterations - level.tests
  return left <= 0 ? 0 : Math.max(0, 1 - level.spent) / left
}

/** How many more experiments may take a share: one without any could not be shown to be anything. */
export function testsLeft(campaign: Known, spec: Spec): number {
  if (spec.evidence.campaign_control === 'fixed') return Infinity
  return nextShare(campaign, spec) > 1e-12 ? spec.stopping.max_iterations - campaign.level.tests : 0
}

/** Which variant of its idea comes next, counted from 1: each is tested more strictly than those before it. */
export function nextVariant({ experiments }: Known, family: string | null): number {
  if (family === null) return 0
  const tested = Object.values(experiments).filter(each => each.family === family && each.share !== null)
  return tested.length + 1
}

/** alpha_t of an idea: e-LOND by its share of the campaign, or the fixed level, and its family's part of it. */
export function levelFor(
  campaign: Known,
  control: Control,
  { share, variant }: { share: number; variant: number },
): number {
  const fixed = control.campaign_control === 'fixed'
  const level = fixed ? control.alpha : Math.min(control.q, control.q * share * (discoveries(campaign) + 1))
  return variant === 0 ? level : familyLevel(level, variant)
}
