import { afterAll, expect, it } from 'vitest'
import { patchOf, createTestRepository } from '../support/repository.ts'
import {
  clearCopies,
  FILES,
  force,
  OPEN_SPEC,
  rewrite,
  SHORTER_A,
  tipOf,
  whatAuditSays,
} from './tampering.ts'

afterAll(clearCopies)

const HYPOTHESIS = 'fixes #12 as @bob said: https://example.invalid [skip ci]'

it('a landing made when its message still linked is proven, and one with words of its own is not', async () => {
  const idea = patchOf(SHORTER_A, { hypothesis: HYPOTHESIS })
  const site = await createTestRepository({ files: { ...FILES, 'ideas/1.patch': idea }, spec: OPEN_SPEC })
  await site.start()
  await site.run()
  expect(await site.outcomes()).toEqual({ [HYPOTHESIS]: 'kept' })
  const { repository, refs } = site.place
  const last = await tipOf(site, refs.optimize)
  const { tree, parents, message: written, committer } = await repository.commit(last)
  const message = written.replace(/^Not isolated: .*\n/m, '')
  expect(message).not.toBe(written)
  expect(message).toContain('#\u200b12')

  const replaced = async (text: string) => {
    const commit = await repository.writeCommit({ tree, parents, message: text, date: committer.date })
    await rewrite(site, draft => {
      if (draft.kind === 'merged') return [{ ...draft, commit }]
      return [draft.kind === 'incumbent-moved' ? { ...draft, to: { commit, tree } } : draft]
    })
    const keeper = [await tipOf(site, refs.closed), commit]
    const keep = { tree: repository.emptyTree, parents: keeper, message: 'keep', date: 1 }
    force(site, refs.closed, await repository.writeCommit(keep))
    force(site, refs.optimize, commit)
    return whatAuditSays(site)
  }
  const earlier = message.replaceAll('\u200b', '')
  expect(earlier).toContain(HYPOTHESIS)
  expect((await replaced(earlier)).words).not.toContain('made again')
  const skipping = message.replace('[\u200bskip ci]', '[skip ci]')
  expect(skipping).not.toBe(message)
  expect((await replaced(skipping)).words).not.toContain('made again')
  expect((await replaced(earlier.replace('#12', '#13'))).words).toContain('made again')
})
