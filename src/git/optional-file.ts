import { readFileSync } from 'node:fs'
import { toNullIfMissing } from './bare-repository.ts'

/** A small file that may not be there: not worth a trip to the thread pool. */
export function readOptional(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return toNullIfMissing(error)
  }
}
