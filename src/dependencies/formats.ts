import { foldedPath } from '../decide/manifest.ts'
import type { Format } from './format.ts'
import { bunLock } from './npm/bun-lock.ts'
import { packageJson } from './npm/package-json.ts'
import { packageLock } from './npm/package-lock.ts'
import { pnpmLock } from './npm/pnpm-lock.ts'
import { pnpmWorkspace } from './npm/pnpm-workspace.ts'
import { yarnLock } from './npm/yarn-lock.ts'

const FORMATS: readonly Format[] = [packageJson, packageLock, pnpmWorkspace, pnpmLock, yarnLock, bunLock]

/** How a file of this name is read; undefined where nothing here can. */
export function formatOf(path: string): Format | undefined {
  const folded = foldedPath(path)
  const name = folded.slice(folded.lastIndexOf('/') + 1)
  return FORMATS.find(({ holds }) => holds(name, folded))
}
