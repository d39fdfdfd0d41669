import type { ChildProcess } from 'node:child_process'

/** A process that stays, with nothing to answer, must not keep the program alive. */
export function holdOpen(child: ChildProcess, hold: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    if (part === null) continue
    if (hold && 'ref' in part && typeof part.ref === 'function') part.ref()
    if (!hold && 'unref' in part && typeof part.unref === 'function') part.unref()
  }
}
