import type { Registries, Release } from '../../ports.ts'
import type { Addition } from '../../model/approval.ts'
import type { Campaign } from '../../model/campaign.ts'
import { recordedDates, type ReleaseDates, releaseKey } from '../../model/release.ts'
import { needs } from '../../plan/approvals.ts'
import type { World } from '../../plan/world.ts'

/** So many releases are asked about at a look, the ones that were asked for by name first; of more nothing is known. */
const MOST_ASKED = 40
const AT_ONCE = 4
/** However slow the registries are, a look takes no longer because of them. */
const PATIENCE_MS = 30_000

interface Asking {
  campaign: Campaign
  spec: World['spec']
  now: string
  candidates: World['candidates']
}

/**
 * When the packages were published that somebody is about to be asked about. Each set is asked about once: what came
 * of it is in the event that asks, and everything after reads it there.
 */
export async function releaseDates(
  { registries, clock }: { registries?: Registries | undefined; clock: { monotonic(): number } },
  memory: { releases: Map<string, string | null> },
  asking: Asking,
): Promise<ReleaseDates> {
  const recorded = recordedDates(asking.campaign)
  if (registries === undefined || asking.campaign.status !== 'running')
    return new Map([...memory.releases, ...recorded])
  const wanted = unknownTo(asking, new Map([...memory.releases, ...recorded]))
  for (const each of wanted.slice(MOST_ASKED)) memory.releases.set(releaseKey(each), null)
  const until = clock.monotonic() + PATIENCE_MS
  const left = wanted.slice(0, MOST_ASKED)
  async function ask(): Promise<void> {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const late = clock.monotonic() > until
      memory.releases.set(releaseKey(next), late ? null : await publishedAt(next))
    }
  }
  const publishedAt = (each: Addition) => registries.publishedAt(releaseOf(each))
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  return new Map([...memory.releases, ...recorded])
}

function releaseOf({ ecosystem, name, version, source, integrity }: Addition): Release {
  return { ecosystem, name, version, source, locked: integrity !== null }
}

function unknownTo({ campaign, spec, now, candidates }: Asking, known: ReleaseDates): Addition[] {
  const found = new Map<string, Addition>()
  for (const [id, facts] of candidates) {
    const experiment = campaign.experiments[id]
    const waits = experiment?.status === 'queued' || experiment?.status === 'deferred'
    if (!experiment || !waits || facts.merged !== 'clean' || facts.refusal !== null || facts.aheadOfSync)
      continue
    const { digest } = needs({ spec, now, releases: known }, experiment, facts)
    if (digest === experiment.approval?.digest) continue
    for (const each of facts.additions.packages)
      if (!known.has(releaseKey(each))) found.set(releaseKey(each), each)
  }
  return [...found.values()].toSorted((a, b) => Number(b.direct === true) - Number(a.direct === true))
}
