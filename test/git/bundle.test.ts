import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { saveBundle } from '../../src/git/packs.ts'
import { getScratchDir } from '../../src/git/bare-repository.ts'
import { bareRemote, openFetched, scratch, userRepository } from './scratch.ts'

const ENV = { PATH: process.env['PATH'] ?? '' }

describe.each(['sha1', 'sha256'])('branches saved in one file, %s', format => {
  it('come back from it alone, under their own names', async () => {
    const user = userRepository({ format })
    const { repository, main } = await openFetched({ remote: user.dir })
    const file = join(scratch(), 'saved.bundle')
    const tips = ['refs/heads/optimize/a', 'refs/heads/optimize-exp/a/exp-001'].map(ref => ({
      ref,
      oid: main,
    }))
    await saveBundle({ dir: repository.dir, format: repository.objectFormat, tips, file, env: ENV })

    const empty = bareRemote({ format })
    empty.git('fetch', '-q', file, 'refs/heads/*:refs/heads/*')
    expect(empty.git('for-each-ref', '--format=%(refname) %(objectname)').split('\n')).toEqual(
      tips.map(({ ref, oid }) => `${ref} ${oid}`).toSorted(),
    )
    expect(empty.git('rev-list', '--count', 'optimize/a')).toBe('1')
    expect(readdirSync(getScratchDir(repository.dir))).toEqual([])
  })

  it('are not saved where something is missing, and leave nothing half made', async () => {
    const user = userRepository({ format })
    const { repository } = await openFetched({ remote: user.dir })
    const tips = [{ ref: 'refs/heads/optimize/a', oid: 'b'.repeat(format === 'sha1' ? 40 : 64) }]
    const file = join(scratch(), 'saved.bundle')
    const saving = saveBundle({ dir: repository.dir, format: repository.objectFormat, tips, file, env: ENV })
    await expect(saving).rejects.toThrow()
    expect(readdirSync(getScratchDir(repository.dir))).toEqual([])
  })
})
