import type { EvidenceJob, EvidenceState } from './state.ts'

/** Two jobs with a common identity ran on the same runner: the boot ids; on one machine every job is a runner. */
function listRunnerIdentities({ rule }: EvidenceState, job: EvidenceJob): (string | number)[] {
  return rule.single_machine ? [job.id] : [job.runner, ...(job.also_on ?? [])]
}

function collectDistinctRunners(state: EvidenceState, jobs: readonly EvidenceJob[]): Set<string | number> {
  return new Set(jobs.filter(({ pairs }) => pairs > 0).flatMap(job => listRunnerIdentities(state, job)))
}

/**
 * Whether enough machines took part for a keep (decision 3.3): since the screen, fresh ones, which the one that
 * screened is not; and enough in all.
 */
export function hasEnoughRunners(state: EvidenceState): boolean {
  const { rule, screened, jobs } = state
  if (collectDistinctRunners(state, jobs).size < rule.runners) return false
  if (screened === null) return true
  const fresh = collectDistinctRunners(state, jobs.slice(screened.job + 1))
  const screener = jobs[screened.job]
  for (const each of screener === undefined ? [] : listRunnerIdentities(state, screener)) fresh.delete(each)
  return fresh.size >= rule.fresh_runners
}
