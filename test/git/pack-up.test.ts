import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Repository } from '../../src/git/repository.ts'
import { addCommit, bareRemote, gitIn, open, openFetched, userRepository } from './scratch.ts'

/** Single files below objects/, by git's own count. */
function loose(repository: Repository): number {
  return Number(/^(\d+) objects/.exec(gitIn(repository.dir)('count-objects'))?.[1])
}

/** As many as make one of the 256 folders hold more than its share of what git puts up with. */
async function scatter(repository: Repository): Promise<string[]> {
  const oids: string[] = []
  const folder = join(repository.dir, 'objects', '17')
  while (readdirSync(folder).length < 27) oids.push(await repository.writeBlob(`text ${oids.length}\n`))
  return oids
}

describe("winnow's own repository", () => {
  it('is left alone while it is small', async () => {
    const { repository } = await openFetched({ remote: userRepository().dir })
    expect(await repository.isScattered()).toBe(false)
  })

  it.each(['sha1', 'sha256'])(
    'is packed with everything in it, though no branch holds it (%s)',
    async format => {
      const repository = await open({ remote: bareRemote({ format }).dir })
      const oids = await scatter(repository)
      expect(await repository.isScattered()).toBe(true)
      await repository.packUp()
      expect(await repository.isScattered()).toBe(false)
      expect(loose(repository)).toBe(0)
      const all = gitIn(repository.dir)(
        'cat-file',
        '--batch-all-objects',
        '--batch-check=%(objectname)',
      ).split('\n')
      expect(all.toSorted()).toEqual(oids.toSorted())
    },
  )

  it('goes on being read and written by those who had it open', async () => {
    const remote = userRepository()
    const { repository, main } = await openFetched({ remote: remote.dir })
    const [oid = ''] = await scatter(repository)
    const other = await open({ remote: remote.dir, dir: repository.dir })
    expect((await other.blob(oid)).toString()).toBe('text 0\n')
    await repository.packUp()
    const beforehand = await open({ remote: remote.dir, dir: repository.dir })
    for (const one of [repository, other, beforehand])
      expect((await one.blob(oid)).toString()).toBe('text 0\n')
    const commit = await addCommit(other, main, { 'src/a.txt': 'new\n' })
    const pushed = await repository.push([{ ref: 'refs/heads/optimize/demo', from: null, to: commit }])
    expect(pushed).toMatchObject({ ok: true })
  })
})
