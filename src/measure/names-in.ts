import { readdirSync } from 'node:fs'
import { isMissing } from './missing.ts'

/** What lies in a directory; nothing where there is none. */
export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
