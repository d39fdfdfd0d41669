import type { Campaign } from './campaign.ts'
import type { Experiment, PickedChange } from './experiment.ts'
import { listExperiments } from './experiments.ts'
import type { EventId, ExperimentId } from './ids.ts'

type Subjects = Pick<Campaign, 'experiments' | 'picks'>

/** Whoever has this number: an experiment, or a change taken alone. */
export function findSubject({ experiments, picks }: Subjects, id: ExperimentId): Experiment | undefined {
  return experiments[id] ?? picks[id]
}

/** All that has a head, a pull request and a verdict of its own. */
export function listSubjects(campaign: Subjects): Experiment[] {
  return [...listExperiments(campaign), ...Object.values(campaign.picks)]
}

export function isPicked(subject: Experiment): subject is PickedChange {
  return subject.purpose === 'pick'
}

/** It is being made or measured: nothing is known of it yet, and nobody is asked about it. */
export function isUnderWay({ status }: Pick<PickedChange, 'status'>): boolean {
  return status === 'queued' || status === 'ordered' || status === 'measured'
}

/** One wish is one pick, whoever finds it. */
export function buildPickKey(wish: EventId): string {
  return `pick:${wish}`
}
