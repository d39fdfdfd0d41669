import { join } from 'node:path'

/** Everything a side may see of itself; each side in turn at the same absolute path (invariant 10). */
export interface SidePaths {
  root: string
  tree: string
  tmp: string
  out: string
  checkpoint: string
  /** HOME of a side with a user of its own, who has none. */
  home: string
  result: string
  progress: string
  stdout: string
  stderr: string
}

export function getSidePaths(root: string): SidePaths {
  return {
    root,
    tree: join(root, 'tree'),
    tmp: join(root, 'tmp'),
    out: join(root, 'out'),
    checkpoint: join(root, 'checkpoint'),
    home: join(root, 'home'),
    result: join(root, 'result.json'),
    progress: join(root, 'progress.jsonl'),
    stdout: join(root, 'stdout'),
    stderr: join(root, 'stderr'),
  }
}
