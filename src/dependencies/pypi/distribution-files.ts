import { hashSha256 } from '../../model/canonical.ts'

/** One of the files a version is published as. */
export interface DistributionFile {
  name: string
  hash: string | null
}

/** The hash of the one file, or of the list of all with theirs: another file is another package. */
export function computeIntegrity(files: readonly DistributionFile[]): string | null {
  const [only, second] = files
  if (only === undefined) return null
  if (second === undefined && only.hash !== null) return only.hash
  const lines = files.map(({ name, hash }) => `${name} ${hash ?? 'unknown'}`).sort()
  return `${files.length} files, sha256:${hashSha256(lines.join('\n'))}`
}

/** All hashes where there are several files, any of which may be installed. */
export function collectFileHashes(files: readonly DistributionFile[]): { files?: readonly string[] } {
  const hashes = files.map(({ hash }) => hash).filter(hash => hash !== null)
  return files.length > 1 && hashes.length === files.length ? { files: hashes } : {}
}

/** Where there is no wheel, the package's own build runs; where there is one, it may fit no machine. */
export function isBuiltOnInstall(files: readonly DistributionFile[]): boolean | null {
  return files.length > 0 && !files.some(({ name }) => /\.whl$/i.test(name)) ? true : null
}
