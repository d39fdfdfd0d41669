import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'

/** A process that stays, with nothing to answer, must not keep the program alive. */
export function keepProcessAlive(child: ChildProcess, hold: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    if (part === null) continue
    if (hold && 'ref' in part && typeof part.ref === 'function') part.ref()
    if (!hold && 'unref' in part && typeof part.unref === 'function') part.unref()
  }
}

/** Ends a process that reads until its input does. Its pipes as well: they may be read to their end only after it is gone. */
export async function closeInput(child: ChildProcessWithoutNullStreams): Promise<void> {
  const gone = new Promise<void>(resolve => child.once('close', () => resolve()))
  keepProcessAlive(child, true)
  child.stdin.end()
  await gone
}
