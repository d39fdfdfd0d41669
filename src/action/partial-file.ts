import { chownSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OrderId } from '../model/ids.ts'
import type { PartialReport } from '../model/interruption.ts'
import { getArtifactFileName, serializePartialReport } from '../model/parcel.ts'

export interface PartialFile {
  path: string
  write(partial: PartialReport): void
}

/** A file that a later step uploads when a measurement is interrupted. `owner`: that step's user, where root measures. */
export function createPartialFile(
  room: string,
  order: OrderId,
  owner: { uid: number; gid: number } | null,
): PartialFile {
  const folder = mkdtempSync(join(room, 'winnow-partial-'))
  const path = join(folder, getArtifactFileName(order))
  if (owner !== null) chownSync(folder, owner.uid, owner.gid)
  return {
    path,
    write(partial) {
      const text = serializePartialReport(partial)
      // An older state would hide pairs that have begun since.
      if (text === null) return rmSync(path, { force: true })
      writeFileSync(`${path}.part`, text)
      renameSync(`${path}.part`, path)
    },
  }
}
