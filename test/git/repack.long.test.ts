import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Repository } from '../../src/git/repository.ts'
import { addCommit, bareRemote, gitIn, open, openFetched, userRepository } from './scratch.ts'
import { selectCases } from '../support/cases.ts'

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

  it.each(selectCases(['sha1', 'sha256']))(
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

describe('a repository on this machine that takes our pushes', () => {
  const TIP = 'refs/heads/optimize/demo'

  async function beside(config: Record<string, string> = {}, { promisor = false } = {}) {
    const remote = bareRemote()
    const user = userRepository()
    user.git('push', '-q', remote.dir, 'main')
    for (const [key, value] of Object.entries(config)) remote.git('config', key, value)
    if (promisor) writeFileSync(join(remote.dir, 'objects', 'pack', 'pack-0.promisor'), '')
    const { repository, main } = await openFetched({ remote: remote.dir })
    let tip: string | null = null
    async function push(times: number): Promise<void> {
      for (let time = 0; time < times; time++) {
        const next: string = await addCommit(repository, tip ?? main, { 'src/a.txt': `${tip} ${time}\n` })
        expect(await repository.push([{ ref: TIP, from: tip, to: next }])).toEqual({ ok: true })
        tip = next
      }
    }
    const packs = () =>
      readdirSync(join(remote.dir, 'objects', 'pack')).filter(name => name.endsWith('.pack'))
    return { remote, repository, push, packs, tip: () => tip ?? '' }
  }

  it('keeps each as one pack until git itself would put them together, and is put together then', async () => {
    const { remote, repository, push, packs, tip } = await beside()
    await push(3)
    expect(packs()).toHaveLength(3)
    await push(50)
    // One more than its limit, then object by object: nobody may be there to put them together.
    expect(packs()).toHaveLength(51)
    expect(await repository.isScattered()).toBe(true)
    await repository.packUp()
    expect(packs().length).toBeLessThan(10)
    expect(await repository.isScattered()).toBe(false)
    expect(remote.git('fsck', '--strict')).toBe('')
    expect(remote.git('rev-list', '--count', tip())).toBe('54')
  })

  it.each(
    selectCases([
      ['gc.auto', '0'],
      ['gc.autoPackLimit', '7'],
      ['receive.autogc', 'false'],
      ['receive.unpackLimit', '100'],
      ['transfer.unpackLimit', '100'],
      ['maintenance.auto', 'false'],
    ]),
  )('is left to its owner who configured %s', async (key, value) => {
    const { repository, push, packs, remote } = await beside({ [key]: value })
    await push(2)
    expect(packs()).toHaveLength(0)
    for (let pack = 0; pack < 60; pack++)
      writeFileSync(join(remote.dir, 'objects', 'pack', `pack-${pack}.pack`), '')
    expect(await repository.isScattered()).toBe(false)
  })

  it('is left alone where it is a partial clone', async () => {
    const { push, packs } = await beside({}, { promisor: true })
    await push(2)
    expect(packs()).toHaveLength(0)
  })
})
