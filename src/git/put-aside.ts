import { renameSync } from 'node:fs'

/** Renames what is damaged and deletes nothing of it. Returns its new path. */
export function moveDamagedAside(path: string): string {
  const aside = `${path}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`
  renameSync(path, aside)
  return aside
}
