import { z } from 'zod'
import type { ChangedFile } from './selection.ts'

const LOCKFILE = /(?:^|\/)(?:package-lock|npm-shrinkwrap)\.json$/

const entrySchema = z.object({
  version: z.unknown(),
  integrity: z.unknown(),
  bin: z.unknown(),
})
const lockfileSchema = z.object({ packages: z.record(z.string(), entrySchema.partial()).default({}) })
type LockfileEntry = z.output<typeof lockfileSchema>['packages'][string]

/**
 * npm links programs as the lockfile says, without comparing it with the package: a changed `bin` of the same package
 * replaces a test runner. Returns the place of the package in the lockfile.
 */
export function findChangedProgram({ path, before, after }: ChangedFile): string | null {
  if (!LOCKFILE.test(path) || after === null) return null
  const [old, now] = [readPackages(before), readPackages(after)]
  for (const [place, entry] of Object.entries(now)) {
    const known = old[place]
    if (known !== undefined && !isSamePackage(known, entry)) continue
    const isNew = known === undefined && place.includes('node_modules/')
    if (!isNew && JSON.stringify(known?.bin) !== JSON.stringify(entry.bin)) return place
  }
  return null
}

function readPackages(text: string | null): Record<string, LockfileEntry> {
  if (text === null) return {}
  try {
    const read = lockfileSchema.safeParse(JSON.parse(text))
    return read.success ? read.data.packages : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

function isSamePackage(a: LockfileEntry, b: LockfileEntry): boolean {
  return a.version === b.version && a.integrity === b.integrity
}
