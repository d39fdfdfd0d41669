import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { untouched } from '../git/untouched.ts'
import { shorter, type SizeOptions, createSizeRepository } from '../support/size-repository.ts'
import { gitIn, type TestRepository } from '../support/repository.ts'
import { selectCases } from '../support/cases.ts'

const IDEAS = [shorter('a', 3), shorter('b', 5)]

interface State {
  options?: SizeOptions
  /** Brings the checkout into the state; answers where winnow is started. */
  make?: (site: TestRepository) => string
}

const dirty = (site: TestRepository) => {
  site.write('src/a.txt', 'modified\n')
  site.write('staged.txt', 'staged\n')
  site.git('add', 'staged.txt')
  site.write('staged.txt', 'modified after\n')
  site.write('.winnow/size.yaml', 'not even yaml: [\n')
  rmSync(join(site.repo, 'src/b.txt'))
  return site.repo
}

/** Every state a person's checkout may be in while a whole campaign runs beside it. */
const STATES: Record<string, State> = {
  dirty: { make: dirty },
  'dirty, with a remote': { options: { remote: true }, make: dirty },
  'detached, with a remote': {
    options: { remote: true },
    make(site) {
      site.git('checkout', '-q', '--detach')
      return site.repo
    },
  },
  'a linked worktree of another branch, with a remote': {
    options: { remote: true },
    make(site) {
      const linked = join(site.root, 'linked')
      site.git('worktree', 'add', '-q', '-b', 'feature', linked)
      return linked
    },
  },
  'at a path with spaces, unicode and quotes': { options: { folder: `with space/ünï 'quoted" $HOME 日本` } },
  'of the sha256 format': { options: { format: 'sha256' } },
  'of the sha256 format, with a remote': { options: { format: 'sha256', remote: true } },
  'a shallow clone': {
    options: { remote: true },
    make(site) {
      site.write('README.md', 'more history\n')
      site.commit('second')
      const shallow = join(site.root, 'shallow')
      site.git('clone', '-q', '--depth=1', pathToFileURL(site.origin).href, shallow)
      return shallow
    },
  },
}

describe('a campaign', () => {
  it.each(selectCases(Object.entries(STATES), 2))(
    'leaves a checkout that is %s as it was',
    async (_, { options, make }) => {
      const site = await createSizeRepository(IDEAS, options ?? {})
      const directory = make?.(site) ?? site.repo
      const person = untouched(directory)
      const client = await site.another({ directory })
      expect(await client.start()).toBe('started')
      expect(await client.run()).toEqual({ for: 'ideas' })
      expect(await client.outcomes()).toEqual({ a3: 'kept', b5: 'runner_up_kept' })
      person.check()
      expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('aaa')
      expect(site.bare('fsck', '--no-dangling', '--connectivity-only')).toBe('')
      await site.proven()
    },
  )

  it('continues in a linked worktree while another branch is checked out there, without a remote', async () => {
    const site = await createSizeRepository(IDEAS)
    await site.start()
    const linked = join(site.root, 'linked')
    site.git('worktree', 'add', '-q', '-b', 'feature', linked)
    gitIn(linked)('commit', '-q', '--allow-empty', '-m', 'of the feature')
    const person = untouched(linked)
    const client = await site.another({ directory: linked })
    expect(await client.run()).toEqual({ for: 'ideas' })
    expect(await client.outcomes()).toEqual({ a3: 'kept', b5: 'runner_up_kept' })
    person.check()
    await site.proven()
  })
})
