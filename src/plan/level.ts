import { isSameFamily, type IdeaVariant } from '../decide/evidence/family.ts'
import { computeFamilyLevel } from '../decide/evidence/levels.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import type { Outcome } from '../model/outcome.ts'
import type { Spec } from '../spec/schema.ts'

type AlphaState = Pick<Campaign, 'level' | 'experiments'>
type AlphaControl = Pick<Spec['evidence'], 'campaign_control' | 'q' | 'alpha'>

const HELD_OUTCOMES: ReadonlySet<Outcome> = new Set(['kept', 'runner_up_kept', 'not_selected'])

/**
 * Ideas that held, whether they were merged or not: what e-LOND lets the next ones be tested more loosely for. A
 * revert or a simplification that lands has shown no gain.
 */
function countDiscoveries(campaign: AlphaState): number {
  const held = listExperiments(campaign).filter(
    ({ purpose, outcome }) => purpose === 'idea' && outcome !== null && HELD_OUTCOMES.has(outcome),
  )
  return held.length
}

/**
 * What one more experiment takes of the campaign's level (decision.md 3.5): of N tests each an N-th. After an
 * amendment of N the rest of the tests share what is left, so that no level is ever given out twice.
 */
export function computeAlphaShare({ level }: AlphaState, spec: Spec): number {
  if (spec.evidence.campaign_control === 'fixed') return 0
  const left = spec.stopping.max_iterations - level.tests
  return left <= 0 ? 0 : Math.max(0, 1 - level.spent) / left
}

/** How many more experiments may take a share: one without any could not be shown to be anything. */
export function countTestsLeft(campaign: AlphaState, spec: Spec): number {
  if (spec.evidence.campaign_control === 'fixed') return Infinity
  return computeAlphaShare(campaign, spec) > 1e-12 ? spec.stopping.max_iterations - campaign.level.tests : 0
}

/**
 * Which variant of its idea it is, counted from 1: each is tested more strictly than the one before
 * (decision.md 3.4). Declared so, or found by what it touches. 0: nothing like it was tested before.
 */
export function countVariant(
  campaign: AlphaState,
  subject: Pick<Experiment, 'id' | 'family' | 'touched'>,
): number {
  const own = toVariant(subject)
  const earlier = listExperiments(campaign).filter(
    other => other.share !== null && other.id !== subject.id && isSameFamily(own, toVariant(other)),
  )
  return subject.family === null && earlier.length === 0 ? 0 : earlier.length + 1
}

function toVariant({ family, touched }: Pick<Experiment, 'family' | 'touched'>): IdeaVariant {
  return { family, files: touched === null ? [] : [touched.files], lines: touched?.lines ?? [] }
}

/** alpha_t of an idea: e-LOND by its share of the campaign, or the fixed level, and its family's part of it. */
export function computeAlpha(
  campaign: AlphaState,
  control: AlphaControl,
  { share, variant }: { share: number; variant: number },
): number {
  const fixed = control.campaign_control === 'fixed'
  const level = fixed
    ? control.alpha
    : Math.min(control.q, control.q * share * (countDiscoveries(campaign) + 1))
  return variant === 0 ? level : computeFamilyLevel(level, variant)
}
