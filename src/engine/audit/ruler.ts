import type { Campaign } from '../../model/campaign.ts'
import { hashSha256 } from '../../model/canonical.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Oid } from '../../model/ids.ts'
import { computeTreeHarness } from '../facts/harness.ts'
import type { CampaignContext } from '../place.ts'
import { readSpec } from '../../spec/recorded-spec.ts'
import { listAbsentCommits } from './incumbent-step.ts'

/** Invariant 4: where a campaign starts, spec and harness are those of the commit it starts at. */
export async function findStartGaps(
  place: CampaignContext,
  event: LedgerEvent<'campaign-started'>,
): Promise<string[]> {
  const { start, spec_path, spec_yaml } = event
  const absent = await listAbsentCommits(place, [start.commit])
  if (absent.length > 0) return absent
  const { tree } = await place.repository.commit(start.commit)
  if (tree !== start.tree) return [`the tree of ${start.commit} is ${tree}, not ${start.tree}`]
  const entry = await place.repository.findEntry(tree, spec_path)
  const found = entry?.type === 'blob' ? (await place.repository.blob(entry.oid)).toString('utf8') : null
  if (found !== spec_yaml) return [`the spec is not ${spec_path} as ${start.commit} has it`]
  return findRulerGaps(place, event, spec_path, tree)
}

/** A spec from the default branch comes with a sync, whose proof looks at the tree that it brings. */
export async function findAmendmentGaps(
  place: CampaignContext,
  campaign: Campaign,
  event: LedgerEvent<'campaign-amended'>,
): Promise<string[]> {
  if (event.source === 'default-branch') return findSpecTextGaps(event, campaign.spec_path)
  return findRulerGaps(place, event, campaign.spec_path, campaign.pin.tree)
}

type RecordedRuler = { spec_yaml: string; spec_sha256: string; harness: string }

function findSpecTextGaps({ spec_yaml, spec_sha256 }: RecordedRuler, path: string): string[] {
  if (hashSha256(spec_yaml) !== spec_sha256)
    return [`the sha256 of its spec is ${hashSha256(spec_yaml)}, it says ${spec_sha256}`]
  return readSpec(spec_yaml, { file: path }) === null ? ['its spec cannot be read'] : []
}

async function findRulerGaps(
  place: CampaignContext,
  ruler: RecordedRuler,
  path: string,
  pinned: Oid,
): Promise<string[]> {
  const text = findSpecTextGaps(ruler, path)
  const parsed = readSpec(ruler.spec_yaml, { file: path })
  if (text.length > 0 || parsed === null) return text
  const harness = await computeTreeHarness(place.repository, parsed.spec, pinned)
  return harness === ruler.harness
    ? []
    : [`the harness of its commit is ${harness}, it says ${ruler.harness}`]
}
