import type { Campaign } from './campaign.ts'
import type { HarnessGuard, ProbeName, ProbeResult } from './probe.ts'

/** The word for a harness of which nothing is known. It counts as forgeable: missing data is never good. */
export const NOT_PROBED = 'not probed'
const GUARDED = 'guarded'

type ProbedCampaign = Pick<Campaign, 'probes'>

/** `guarded`, `forgeable by: exit at load, forge output`, or `not probed`. */
export function describeGuard({ probes }: ProbedCampaign): string {
  return isProbed(probes) ? formatHarnessGuard(summarizeProbes(probes.results)) : NOT_PROBED
}

/** Example: "the harness is forgeable by: exit at load". */
export function describeHarness(guard: string): string {
  return `the harness is ${guard}`
}

export function isGuarded(campaign: ProbedCampaign): boolean {
  return describeGuard(campaign) === GUARDED
}

/** A person may have fixed what stopped the probes, or what made the campaign pause. */
export function isProbedAgain(probes: Campaign['probes']): boolean {
  return probes !== null && (probes.not_probed !== null || probes.ignored_by !== null)
}

/** Empty files fail in every language, so one probe that acts has to be tried before a harness counts as guarded. */
function isProbed(probes: Campaign['probes']): probes is NonNullable<Campaign['probes']> {
  if (probes === null || probes.not_probed !== null) return false
  const { results } = probes
  return (
    listMissedProbes(results).length > 0 ||
    results.some(({ name, applicable }) => applicable && name !== 'vanish')
  )
}

// Results of probes

/** A probe that would have been kept shows how the number can be raised without better code. */
export function summarizeProbes(results: readonly ProbeResult[]): HarnessGuard {
  const by = listMissedProbes(results).map(({ name }) => name)
  return by.length === 0 ? { is: 'guarded' } : { is: 'forgeable', by }
}

export function listMissedProbes(results: readonly ProbeResult[]): ProbeResult[] {
  return results.filter(({ applicable, caught_by }) => applicable && caught_by === null)
}

export function formatHarnessGuard(guard: HarnessGuard): string {
  return guard.is === 'guarded' ? GUARDED : `forgeable by: ${guard.by.map(formatProbeName).join(', ')}`
}

export function formatProbeName(name: ProbeName): string {
  return name.replaceAll('-', ' ')
}
