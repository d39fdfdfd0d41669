import type { Campaign } from './campaign.ts'
import type { Experiment, Picked } from './experiment.ts'
import { experimentsOf } from './experiments.ts'
import type { EventId, ExperimentId } from './ids.ts'

type Known = Pick<Campaign, 'experiments' | 'picks'>

/** Whoever has this number: an experiment, or a change taken alone. */
export function subjectOf({ experiments, picks }: Known, id: ExperimentId): Experiment | undefined {
  return experiments[id] ?? picks[id]
}

/** All that has a head, a pull request and a verdict of its own. */
export function subjectsOf(campaign: Known): Experiment[] {
  return [...experimentsOf(campaign), ...Object.values(campaign.picks)]
}

export function isPicked(subject: Experiment): subject is Picked {
  return subject.purpose === 'pick'
}

/** It is being made or measured: nothing is known of it yet, and nobody is asked about it. */
export function isUnderWay({ status }: Pick<Picked, 'status'>): boolean {
  return status === 'queued' || status === 'ordered' || status === 'measured'
}

/** One wish is one pick, whoever finds it. */
export function pickKey(wish: EventId): string {
  return `pick:${wish}`
}
