import { UserError } from '../errors.ts'
import { type ParsedSpecFile, parseSpec } from './parse.ts'
import type { Spec } from './schema.ts'

/** A campaign, as far as its events put a spec in force. */
interface Ruled {
  spec_yaml: string
  spec_path: string
}

/** The spec that a campaign's events put in force; null where it cannot be read. */
export function recordedSpec({ spec_yaml, spec_path }: Ruled): Spec | null {
  return readSpec(spec_yaml, spec_path)?.spec ?? null
}

/** The spec in force of a campaign that this process runs. */
export function specOf({ spec_yaml, spec_path }: Ruled): Spec {
  return parseSpec(spec_yaml, { file: spec_path }).spec
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
