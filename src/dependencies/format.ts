import type { Ecosystem, PackageEntry } from './addition.ts'

/** What one file says. */
export interface ManifestReading {
  packages: readonly PackageEntry[]
  /** All that is no dependency, by place: it has to stay as it is. */
  rest: ReadonlyMap<string, string>
  /** What needs what, by names of the file's own; absent where it does not say, or is not read for it. */
  installed?: ReadonlyMap<string, InstalledPackage>
}

/** A package in its place, and the places of what it needs. */
export interface InstalledPackage {
  /** null: no package, but a name that several places share. */
  package: PackageEntry | null
  /** null: which of the file's packages it gets cannot be told. */
  needs: readonly string[] | null
}

/** One kind of file; `read` throws Unreadable for what it does not know for certain. */
export interface ManifestFormat {
  ecosystem: Ecosystem
  kind: 'manifest' | 'lockfile'
  /** Whether a file of this name (or at this path), in lower case, is of this kind. */
  holds: (name: string, path: string) => boolean
  read: (text: string) => ManifestReading
}

/** The file is not what its installer would write, so two readers could find different packages in it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

export const NO_PACKAGES: ManifestReading = { packages: [], rest: new Map() }

export function matchNames(...names: readonly string[]): ManifestFormat['holds'] {
  return name => names.includes(name)
}
