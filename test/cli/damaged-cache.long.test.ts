import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clonedProject, offer, type Project, project, SHORT } from './project.ts'
import { selectCases } from '../support/cases.ts'

const cacheIn = ({ cache }: Project) => {
  const [room = ''] = readdirSync(cache).filter(name => /^[0-9a-f]{20}$/.test(name))
  return join(cache, room)
}

/** Everything below a folder that has this name, or ends like this. */
function below(root: string, ends: RegExp): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && ends.test(join(entry.parentPath, entry.name)))
    .map(entry => join(entry.parentPath, entry.name))
}

function spoil(file: string): void {
  chmodSync(file, 0o644)
  writeFileSync(file, '\0'.repeat(Math.min(readFileSync(file).length, 60)))
}

const packed = (repository: string) => execFileSync('git', ['-C', repository, 'repack', '-adq'])

const KINDS: Record<string, (repository: string) => void> = {
  'a config full of zeros': repository => spoil(join(repository, 'config')),
  'no config': repository => rmSync(join(repository, 'config')),
  'an empty HEAD': repository => writeFileSync(join(repository, 'HEAD'), ''),
  'no refs': repository => rmSync(join(repository, 'refs'), { recursive: true }),
  'refs full of zeros': repository => below(join(repository, 'refs'), /./).forEach(spoil),
  'a pack full of zeros': repository => {
    packed(repository)
    below(repository, /\.pack$/).forEach(spoil)
  },
  'an index of a pack full of zeros': repository => {
    packed(repository)
    below(repository, /\.idx$/).forEach(spoil)
  },
  'loose objects full of zeros': repository => {
    for (const pack of below(repository, /\.pack$/)) {
      const bytes = readFileSync(pack)
      rmSync(pack)
      rmSync(pack.replace(/\.pack$/, '.idx'), { force: true })
      execFileSync('git', ['-C', repository, 'unpack-objects', '-q'], { input: bytes })
    }
    below(join(repository, 'objects'), /\/[0-9a-f]{2}\/[0-9a-f]{38}$/).forEach(spoil)
  },
}

describe.each([
  ['a remote', () => clonedProject()],
  ['the user’s repository alone', () => project()],
])('a cache of %s', (_, make) => {
  it.each(selectCases(Object.keys(KINDS), 2))(
    'with %s is put aside and fetched again, saying so once',
    async kind => {
      const site = make()
      expect((await site.winnow('run', '--yes')).err).not.toContain('error')
      await offer(site, SHORT)
      const repository = join(cacheIn(site), 'repository.git')
      KINDS[kind]?.(repository)

      const run = await site.winnow('run')
      expect(run).toMatchObject({ code: 14, out: expect.stringContaining('1 kept') })
      const words = run.err.split('\n').filter(line => line.includes('was damaged'))
      expect(words).toHaveLength(1)
      const aside = readdirSync(cacheIn(site)).filter(name => name.startsWith('repository.git.damaged-'))
      expect(aside).toHaveLength(1)
      expect(words[0]).toContain(join(cacheIn(site), aside[0] ?? ''))
      expect(await site.winnow('audit')).toMatchObject({ code: 0, err: '' })
      expect(await site.winnow('replay')).toMatchObject({ code: 0, err: '' })
    },
  )
})
