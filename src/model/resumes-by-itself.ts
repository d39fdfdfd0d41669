import type { Experiment } from './experiment.ts'

/** Not proven, and taken up once more when nothing else is left: not what was given up for good, and nothing twice. */
export function isResumedAutomatically({
  status,
  resumed,
  given_up,
  give_up,
}: Pick<Experiment, 'status' | 'resumed' | 'given_up' | 'give_up'>): boolean {
  return status === 'parked' && give_up === 'early' && resumed === 0 && given_up !== 'for_good'
}
