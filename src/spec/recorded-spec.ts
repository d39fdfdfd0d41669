import { UserError } from '../errors.ts'
import { type ParsedSpecFile, type ParseOptions, parseSpec } from './parse.ts'
import type { Spec, SpecEnvironment } from './schema.ts'

/** A campaign, as far as its events say where it runs: defaults of a spec depend on it. */
interface SpecContext {
  spec_path: string
  host: SpecEnvironment['host'] | null
  private_repository: boolean
}

/** A campaign, as far as its events put a spec in force. */
export interface CampaignSpecText extends SpecContext {
  spec_yaml: string
}

/** How every text of a campaign's spec is to be read, so that its defaults are those of where it runs. */
export function getParseOptions({
  spec_path: file,
  host,
  private_repository: privateRepository,
}: SpecContext) {
  return { file, host: host ?? 'local', privateRepository } satisfies ParseOptions
}

/** The spec that a campaign's events put in force; null where it cannot be read. */
export function readCampaignSpec(campaign: CampaignSpecText): Spec | null {
  return readSpec(campaign.spec_yaml, getParseOptions(campaign))?.spec ?? null
}

/** The spec in force of a campaign that this process runs. */
export function getCampaignSpec(campaign: CampaignSpecText): Spec {
  return parseSpec(campaign.spec_yaml, getParseOptions(campaign)).spec
}

/** A recorded text is judged, not trusted: one that is no spec is an answer here, not an error. */
export function readSpec(yaml: string, options: ParseOptions): ParsedSpecFile | null {
  try {
    return parseSpec(yaml, options)
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}
