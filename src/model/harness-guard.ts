import type { Campaign } from './campaign.ts'
import type { ProbeName, ProbeResult } from './probe.ts'

/** The word for a harness of which nothing is known. It counts as forgeable: missing data is never good. */
export const NOT_PROBED = 'not probed'
const GUARDED = 'guarded'

type ProbedCampaign = Pick<Campaign, 'probes'>

const PROBE_WORDS: Readonly<Record<ProbeName, string>> = {
  vanish: 'vanish',
  'exit-at-load': 'exit early',
  'exit-at-call': 'exit early',
  'forge-output': 'forge',
  'forge-result-file': 'forge',
  'answer-nothing': 'answer nothing',
  detect: 'detect',
  remember: 'remember',
  'slow-clock': 'slow clock',
}

/** `guarded`, `forgeable by: exit early, forge`, or `not probed`. */
export function describeGuard({ probes }: ProbedCampaign): string {
  if (!isProbed(probes)) return NOT_PROBED
  const missed = listMissedProbes(probes.results).map(({ name }) => name)
  return missed.length === 0 ? GUARDED : formatMissedProbes(missed)
}

/** Probes that would have been kept. */
export function listMissedProbes(results: readonly ProbeResult[]): ProbeResult[] {
  return results.filter(({ applicable, caught_by }) => applicable && caught_by === null)
}

export function formatMissedProbes(names: readonly ProbeName[]): string {
  return `forgeable by: ${[...new Set(names.map(name => PROBE_WORDS[name]))].join(', ')}`
}

/** Example: "the harness is forgeable by: exit early". */
export function describeHarness(guard: string): string {
  return `the harness is ${guard}`
}

export function isGuarded(campaign: ProbedCampaign): boolean {
  return describeGuard(campaign) === GUARDED
}

/** A person may have fixed what stopped the probes, or what made the campaign pause. */
export function isProbedAgain(probes: Campaign['probes']): boolean {
  return probes !== null && (probes.not_probed !== null || isUsingMutableFiles(probes) === false)
}

/** False: the harness passes without the files that ideas may change. Null: that is not known. */
export function isUsingMutableFiles(probes: Campaign['probes']): boolean | null {
  const vanish = probes?.results.find(({ name }) => name === 'vanish')
  return vanish === undefined || !vanish.applicable ? null : vanish.caught_by !== null
}

/** Results of probes that could not be built show nothing. */
function isProbed(probes: Campaign['probes']): probes is NonNullable<Campaign['probes']> {
  return probes !== null && probes.not_probed === null && probes.results.some(({ applicable }) => applicable)
}
