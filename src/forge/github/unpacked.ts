import { unzipSync } from 'fflate'
import type { ExpectedArtifact, UnzipResult } from '../port.ts'

/**
 * The one file of an archive that somebody untrusted made: nothing is written anywhere, nothing else may be in
 * it, and no more is unpacked than it may hold, whatever it claims.
 */
export function extractArtifactFile(
  archive: Uint8Array,
  { file, most }: Pick<ExpectedArtifact, 'file' | 'most'>,
): UnzipResult {
  const names: string[] = []
  let claimed = 0
  try {
    const files = unzipSync(archive, {
      filter(entry) {
        names.push(entry.name)
        claimed = entry.originalSize
        return names.length === 1 && entry.name === file && entry.originalSize <= most
      },
    })
    const [only, ...others] = names
    if (only !== file || others.length > 0)
      return toUnzipRefusal(`it holds ${formatFileNames(names)} instead of ${file} alone`)
    const bytes = files[file]
    if (bytes === undefined) return toUnzipRefusal(`${file} is larger than ${most} bytes (${claimed})`)
    return { ok: true, bytes }
  } catch (error) {
    return toUnzipRefusal(`it is no archive: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function toUnzipRefusal(why: string): UnzipResult {
  return { ok: false, why }
}

function formatFileNames(names: readonly string[]): string {
  if (names.length === 0) return 'nothing'
  const shown = names.slice(0, 3).map(name => JSON.stringify(name.slice(0, 80)))
  return shown.join(', ') + (names.length > shown.length ? `, and ${names.length - shown.length} more` : '')
}
