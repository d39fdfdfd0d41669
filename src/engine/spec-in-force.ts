import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { type ParsedSpecFile, parseSpec } from '../spec/parse.ts'
import type { Spec } from '../spec/schema.ts'

/** The spec a campaign's events put in force, read once for each text; null where it cannot be read. */
export function specsInForce(): (campaign: Campaign) => Spec | null {
  const known = new Map<string, Spec | null>()
  return ({ spec_yaml, spec_path }) => {
    if (!known.has(spec_yaml)) known.set(spec_yaml, readSpec(spec_yaml, spec_path)?.spec ?? null)
    return known.get(spec_yaml) ?? null
  }
}

/** The spec in force of a campaign that this process runs; `known` by hash, so that each is read once. */
export function specOf(known: Map<string, Spec>, campaign: Campaign): Spec {
  const found = known.get(campaign.spec_sha256)
  if (found) return found
  const { spec } = parseSpec(campaign.spec_yaml, { file: campaign.spec_path })
  known.set(campaign.spec_sha256, spec)
  return spec
}

/** A recorded text is judged, not trusted: one that is no spec is an answer here, not an error. */
export function readSpec(yaml: string, file: string): ParsedSpecFile | null {
  try {
    return parseSpec(yaml, { file })
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}
