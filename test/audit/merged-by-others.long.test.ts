import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patchOf, createTestRepository } from '../support/repository.ts'
import {
  clearCopies,
  type Copy,
  copyOf,
  eventOf,
  FILES,
  force,
  keepAside,
  OPEN_SPEC,
  type Original,
  rewrite,
  SHORTER_A,
  tipOf,
  whatAuditSays,
} from './tampering.ts'

afterAll(clearCopies)

const PERSON = ['-c', 'user.name=P', '-c', 'user.email=p@example.invalid']
let original: Original

/** A campaign whose only landing was merged by a person, in words of their own. */
beforeAll(async () => {
  const idea = patchOf(SHORTER_A, { hypothesis: 'less' })
  const spec = `${OPEN_SPEC}merge: { auto: false }\n`
  const site = await createTestRepository({ files: { ...FILES, 'ideas/1.patch': idea }, spec })
  await site.start()
  expect(await site.run()).toMatchObject({
    for: 'person',
    what: expect.stringContaining('is kept: merge it'),
  })
  const head = site.git('rev-parse', 'optimize-exp/size/exp-001')
  const tree = `${head}^{tree}`
  const merge = ['commit-tree', '-p', 'optimize/size', '-p', head, '-m', 'looks good', tree]
  site.git('update-ref', 'refs/heads/optimize/size', site.git(...PERSON, ...merge))
  await site.run()
  expect(await site.outcomes()).toEqual({ less: 'kept' })
  await site.proven()
  original = keepAside(site)
})

/** The landing replaced by another commit, everywhere that it is named. */
async function replaced(site: Copy, made: { parents: string[]; message?: string; via?: 'api' }) {
  const { repository, refs } = site.place
  const merged = await eventOf(site, 'merged')
  const { tree } = merged
  const { parents, message = 'looks good' } = made
  const commit = await repository.writeCommit({ tree, parents, message, date: 1 })
  await rewrite(site, draft => {
    if (draft.kind === 'merged') return [{ ...draft, commit, via: made.via ?? 'person' }]
    return [draft.kind === 'incumbent-moved' ? { ...draft, to: { commit, tree } } : draft]
  })
  const keeper = [await tipOf(site, refs.closed), commit]
  force(
    site,
    refs.closed,
    await repository.writeCommit({ ...KEEP, tree: repository.emptyTree, parents: keeper }),
  )
  force(site, refs.optimize, commit)
  return (await whatAuditSays(site)).words
}

const KEEP = { message: 'keep', date: 1 }

describe('a landing that a person merged is not proven', () => {
  it('where it also brings another commit', async () => {
    const site = await copyOf(original)
    const { base, head } = await eventOf(site, 'merged')
    const { repository } = site.place
    const { tree } = await eventOf(site, 'merged')
    const other = await repository.writeCommit({ tree, parents: [], message: 'other', date: 1 })
    expect(await replaced(site, { parents: [base.commit, head, other] })).toContain(
      `it also merges ${other}, which is not the measured head ${head}`,
    )
  })

  it('where it is not on the incumbent', async () => {
    const site = await copyOf(original)
    const { base, head } = await eventOf(site, 'merged')
    expect(await replaced(site, { parents: [head, base.commit] })).toContain(
      `its first parent is ${head}, not the incumbent ${base.commit}`,
    )
  })

  it('where its message names another verdict, or none where winnow asked for it', async () => {
    const site = await copyOf(original)
    const { base, head } = await eventOf(site, 'merged')
    const parents = [base.commit, head]
    const message = `looks good\n\nWinnow-Ledger: 1:${'0'.repeat(64)}\n`
    expect(await replaced(site, { parents, message })).toContain('its trailer Winnow-Ledger says 1:000')
    expect(await replaced(site, { parents, via: 'api' })).toContain(
      'its trailer Winnow-Experiment says nothing',
    )
  })

  it('unless it is all that it claims, squashed or not', async () => {
    const site = await copyOf(original)
    const { base, head } = await eventOf(site, 'merged')
    // What is left is about the chain of the rewritten ledger, not about the commit.
    expect(await replaced(site, { parents: [base.commit, head] })).not.toContain('has no evidence')
    expect(await replaced(site, { parents: [base.commit] })).not.toContain('has no evidence')
  })
})
