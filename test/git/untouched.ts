import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { isAllowedRef } from '../../src/git/push.ts'
import { gitIn } from './scratch.ts'

/** Everything of a checkout that is the person's and not winnow's, byte for byte. */
interface Checkout {
  head: string
  index: string
  config: string
  hooks: Record<string, string>
  refs: string[]
  files: Record<string, string>
}

/** Invariant 12: remembers the checkout now, and afterwards expects that nothing of it changed. */
export function untouched(dir: string, prefix = 'optimize'): { check(): void } {
  const before = look(dir, prefix)
  return { check: () => expect(look(dir, prefix)).toEqual(before) }
}

function look(dir: string, prefix: string): Checkout {
  const git = gitIn(dir)
  const gitDir = git('rev-parse', '--absolute-git-dir')
  const common = git('rev-parse', '--path-format=absolute', '--git-common-dir')
  const refs = git('for-each-ref', '--format=%(refname) %(symref)%(objectname)').split('\n')
  return {
    head: readFileSync(join(gitDir, 'HEAD'), 'utf8'),
    index: bytes(join(gitDir, 'index')),
    config: bytes(join(common, 'config')),
    hooks: filesBelow(join(common, 'hooks')),
    refs: refs.filter(line => !isAllowedRef(prefix, line.split(' ')[0] ?? '')),
    files: filesBelow(dir),
  }
}

function filesBelow(root: string, under = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(join(root, under), { withFileTypes: true })) {
    const path = join(under, entry.name)
    if (entry.name === '.git' && entry.isDirectory()) continue
    if (entry.isDirectory()) Object.assign(found, filesBelow(root, path))
    else found[path] = `${lstatSync(join(root, path)).mode.toString(8)} ${bytes(join(root, path))}`
  }
  return found
}

function bytes(path: string): string {
  return lstatSync(path).isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path).toString('base64')
}
