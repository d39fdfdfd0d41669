import { HarnessError } from '../../errors.ts'
import type { CappedText } from './capped-file.ts'

/** Where a harness leaves what it has to say. */
export interface OutputFiles {
  result: string
  stdout: string
}

/** Null where nothing was left; what is too large to be a result is none. */
export function getOutputText(read: CappedText, what: string, example: string): string | null {
  if (read.kind === 'missing') return null
  if (read.kind === 'text') return read.text
  throw new HarnessError(`${what} is too large to be a result: ${read.bytes} bytes`, { example })
}
