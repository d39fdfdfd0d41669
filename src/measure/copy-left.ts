import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { HarnessError } from '../errors.ts'

const run = promisify(execFile)

export interface CopyRequest {
  from: string
  to: string
  options: readonly string[]
  /** What of it is copied, and for whom. */
  what: string
}

/** Copies what a side left. What is refused in it is the doing of whoever left it; a full disk is asked about later. */
export async function copyFolder({ from, to, options, what }: CopyRequest): Promise<void> {
  try {
    await run('cp', [...options, '--', from, to])
  } catch (error) {
    if (!isRefusal(error)) throw error
    const stderr = error.message.trim().split('\n').at(-1) ?? ''
    throw new HarnessError(`${what} cannot be copied`, { output: { failing: [], stdout: '', stderr } })
  }
}

/** It ran, and ended otherwise than well; or had more to say than anybody would read. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error && 'code' in error)) return false
  return typeof error.code === 'number' || error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
}
