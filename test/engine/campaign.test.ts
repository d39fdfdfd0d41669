import { describe, expect, it } from 'vitest'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'

const IDEAS = [
  shorter('a', 3, 'a can be shorter'),
  shorter('b', 5, 'b can be shorter'),
  patchOf({ 'src/c.txt': [letters('c', 15), letters('c', 17)] }, { hypothesis: 'c should be longer' }),
  patchOf({ 'src/c.txt': [letters('c', 15), 'broken\n'] }, { hypothesis: 'breaks the tests' }),
]

describe.each([{ remote: false }, { remote: true }])(
  'a campaign on one machine, remote: $remote',
  options => {
    it('keeps the best, combines a runner-up, drops the rest, and waits for more ideas', async () => {
      const site = await createSizeRepository(IDEAS, options)
      await site.start()
      expect(await site.run()).toEqual({ for: 'ideas' })
      expect(await site.outcomes()).toEqual({
        'a can be shorter': 'kept',
        'b can be shorter': 'runner_up_kept',
        'c should be longer': 'dropped',
        'breaks the tests': 'degenerate',
      })
      expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('aaa')
      expect(site.bare('show', 'optimize/size:src/b.txt')).toBe('bbbbb')
      expect(site.bare('rev-parse', 'optimize-campaign/size')).toBe(site.bare('rev-parse', 'optimize/size'))
      await site.proven()
    })
  },
)
