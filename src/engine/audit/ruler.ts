import type { Campaign } from '../../model/campaign.ts'
import { sha256 } from '../../model/canonical.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Oid } from '../../model/ids.ts'
import { harnessOf } from '../facts/harness.ts'
import type { Place } from '../place.ts'
import { readSpec } from '../../spec/recorded-spec.ts'
import { absentCommits } from './incumbent-step.ts'

/** Invariant 4: where a campaign starts, spec and harness are those of the commit it starts at. */
export async function startGaps(place: Place, event: LedgerEvent<'campaign-started'>): Promise<string[]> {
  const { start, spec_path, spec_yaml } = event
  const absent = await absentCommits(place, [start.commit])
  if (absent.length > 0) return absent
  const { tree } = await place.repository.commit(start.commit)
  if (tree !== start.tree) return [`the tree of ${start.commit} is ${tree}, not ${start.tree}`]
  const entry = await place.repository.entryAt(tree, spec_path)
  const found = entry?.type === 'blob' ? (await place.repository.blob(entry.oid)).toString('utf8') : null
  if (found !== spec_yaml) return [`the spec is not ${spec_path} as ${start.commit} has it`]
  return rulerGaps(place, event, spec_path, tree)
}

/** A spec from the default branch comes with a sync, whose proof looks at the tree that it brings. */
export async function amendmentGaps(
  place: Place,
  campaign: Campaign,
  event: LedgerEvent<'campaign-amended'>,
): Promise<string[]> {
  if (event.source === 'default-branch') return textGaps(event, campaign.spec_path)
  return rulerGaps(place, event, campaign.spec_path, campaign.pin.tree)
}

type Ruler = { spec_yaml: string; spec_sha256: string; harness: string }

function textGaps({ spec_yaml, spec_sha256 }: Ruler, path: string): string[] {
  if (sha256(spec_yaml) !== spec_sha256)
    return [`the sha256 of its spec is ${sha256(spec_yaml)}, it says ${spec_sha256}`]
  return readSpec(spec_yaml, { file: path }) === null ? ['its spec cannot be read'] : []
}

async function rulerGaps(place: Place, ruler: Ruler, path: string, pinned: Oid): Promise<string[]> {
  const text = textGaps(ruler, path)
  const parsed = readSpec(ruler.spec_yaml, { file: path })
  if (text.length > 0 || parsed === null) return text
  const harness = await harnessOf(place.repository, parsed.spec, pinned)
  return harness === ruler.harness
    ? []
    : [`the harness of its commit is ${harness}, it says ${ruler.harness}`]
}
