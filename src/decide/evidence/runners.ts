import type { EvidenceJob, EvidenceState } from './state.ts'

/** Two jobs with a common identity ran on the same runner: the boot ids; on one machine every job is a runner. */
function identities({ rule }: EvidenceState, job: EvidenceJob): (string | number)[] {
  return rule.single_machine ? [job.id] : [job.runner, ...(job.also_on ?? [])]
}

function distinct(state: EvidenceState, jobs: readonly EvidenceJob[]): Set<string | number> {
  return new Set(jobs.filter(({ pairs }) => pairs > 0).flatMap(job => identities(state, job)))
}

/**
 * Whether enough machines took part for a keep (decision 3.3): since the screen, fresh ones, which the one that
 * screened is not; and enough in all.
 */
export function enoughRunners(state: EvidenceState): boolean {
  const { rule, screened, jobs } = state
  if (distinct(state, jobs).size < rule.runners) return false
  if (screened === null) return true
  const fresh = distinct(state, jobs.slice(screened.job + 1))
  const screener = jobs[screened.job]
  for (const each of screener === undefined ? [] : identities(state, screener)) fresh.delete(each)
  return fresh.size >= rule.fresh_runners
}
