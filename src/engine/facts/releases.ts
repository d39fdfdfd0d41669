import type { Registries, Release, ReleaseDate } from '../../ports.ts'
import type { PackageAddition } from '../../model/approval.ts'
import type { Campaign } from '../../model/campaign.ts'
import {
  findLockedVersions,
  collectRecordedDates,
  type ReleaseDates,
  buildReleaseKey,
} from '../../model/release.ts'
import { findSubject } from '../../model/picked.ts'
import { buildApprovalRequest } from '../../plan/approvals.ts'
import type { CandidateFacts, World } from '../../plan/world.ts'

/** So many releases are asked about at a look, the ones that were asked for by name first; of more nothing is known. */
const MOST_ASKED = 40
const AT_ONCE = 4
/** However slow the registries are, a look takes no longer because of them. */
const PATIENCE_MS = 30_000

interface ReleaseDatesRequest {
  campaign: Campaign
  spec: World['spec']
  now: string
  candidates: World['candidates']
}

/**
 * When the packages were published that somebody is about to be asked about. Each set is asked about once: what came
 * of it is in the event that asks, and everything after reads it there.
 */
export async function readReleaseDates(
  place: { registries?: Registries | undefined; clock: { monotonic(): number } },
  memory: { releases: Map<string, ReleaseDate | null | undefined> },
  asking: ReleaseDatesRequest,
): Promise<ReleaseDates> {
  const { registries, clock } = place
  const recorded = collectRecordedDates(asking.campaign)
  if (registries === undefined || asking.campaign.status !== 'running')
    return new Map([...memory.releases, ...recorded])
  const wanted = listUnknownReleases(asking, new Map([...memory.releases, ...recorded]))
  for (const each of wanted.slice(MOST_ASKED)) memory.releases.set(buildReleaseKey(each), undefined)
  const until = clock.monotonic() + PATIENCE_MS
  const left = wanted.slice(0, MOST_ASKED)
  const ask = async (from: Registries): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const late = clock.monotonic() > until
      memory.releases.set(buildReleaseKey(next), late ? undefined : await from.publishedAt(next.release))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, () => ask(registries)))
  return new Map([...memory.releases, ...recorded])
}

function toRelease(
  { ecosystem, name, version, source, integrity }: PackageAddition,
  facts: MergedCandidate,
): Release {
  const files = integrity === null ? undefined : facts.additions.files.get(integrity)
  return { ecosystem, name, version, source, integrity, files: files ?? null }
}

type MergedCandidate = Extract<CandidateFacts, { merged: 'clean' }>
type WantedRelease = PackageAddition & { release: Release }

/** Of experiments, and of changes that are taken alone: the same packages pass or wait in both. */
function listUnknownReleases(
  { campaign, spec, now, candidates }: ReleaseDatesRequest,
  known: ReleaseDates,
): WantedRelease[] {
  const found = new Map<string, WantedRelease>()
  for (const [id, facts] of candidates) {
    const experiment = findSubject(campaign, id)
    const waits = experiment?.status === 'queued' || experiment?.status === 'deferred'
    if (!experiment || !waits || facts.merged !== 'clean' || facts.refusal !== null || facts.aheadOfSync)
      continue
    const { digest, packages } = buildApprovalRequest({ spec, now, releases: known }, experiment, facts)
    if (digest === experiment.approval?.digest) continue
    if (packages.length === 0 && spec.dependencies.min_release_age_days === 0) continue
    for (const each of facts.additions.packages)
      if (
        !known.has(buildReleaseKey(each)) &&
        findLockedVersions(each, facts.additions.packages).length === 0
      )
        found.set(buildReleaseKey(each), { ...each, release: toRelease(each, facts) })
  }
  return [...found.values()].toSorted((a, b) => Number(b.direct === true) - Number(a.direct === true))
}
