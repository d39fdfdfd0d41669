import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const ROOT = new URL('../..', import.meta.url).pathname
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

test('what is installed to build winnow runs nothing of its own, and no package asks for it', () => {
  expect(read('.npmrc')).toBe('ignore-scripts=true\n')
  const { packages } = z
    .object({ packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })) })
    .parse(JSON.parse(read('package-lock.json')))
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  // Neither script is needed: fsevents is optional and for macOS alone, and the script of esbuild (local-action runs on it)
  // only checks the binary that npm has already installed as a package of its own.
  const unneeded = ['node_modules/esbuild', 'node_modules/fsevents']
  expect(scripted.map(([name]) => name).filter(name => !unneeded.includes(name))).toEqual([])
})
