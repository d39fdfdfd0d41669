import type { Spec } from '../spec/schema.ts'

export type StabilitySpec = NonNullable<Spec['measurement']['stability']>
export type NextMeasurement = 'none' | 'smoke' | 'exploratory' | 'add_sample' | 'confirm'

/** The sample counts at which a ladder stops looking, asks again, and believes. */
export type LadderRungs = { exploratory: number; confirmation: number; smoke: boolean }

export function getRungs(stability: StabilitySpec): LadderRungs | null {
  if (stability.mode !== 'ladder') return null
  const exploratory = stability.ladder?.exploratory_pairs ?? 1
  const confirmation = stability.ladder?.confirmation_repeats ?? stability.repeat_count
  return {
    exploratory,
    confirmation: Math.max(confirmation, exploratory),
    smoke: typeof stability.ladder?.smoke_command === 'string',
  }
}

type LadderStep = { decision: 'keep' | 'promising' | 'inconclusive' | 'revert'; next: NextMeasurement }

/** What a verdict so far asks for next; a keep that has not been confirmed is only promising. */
export function computeLadderStep(
  rungs: LadderRungs | null,
  decision: 'keep' | 'inconclusive' | 'revert',
  samples: number,
  smokePassed: boolean | null,
): LadderStep {
  if (rungs === null) return { decision, next: 'none' }
  if (rungs.smoke && smokePassed === null) return { decision, next: 'smoke' }
  if (decision === 'revert') return { decision, next: 'none' }
  const keeping = decision === 'keep'
  const budget = keeping ? rungs.confirmation : Math.min(rungs.exploratory + 1, rungs.confirmation)
  if (samples >= budget) return { decision, next: 'none' }
  const above = keeping ? 'confirm' : 'add_sample'
  return {
    decision: keeping ? 'promising' : decision,
    next: samples < rungs.exploratory ? 'exploratory' : above,
  }
}
