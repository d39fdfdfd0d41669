import { describe, expect, it } from 'vitest'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

async function ended(
  ideas: readonly string[],
  spec = 'execution: { mode: serial }\n',
): Promise<TestRepository> {
  const site = await createSizeRepository(ideas, { remote: true, spec })
  await site.start()
  await site.run()
  return site
}

async function revert(site: TestRepository, experiment = 'exp-001'): Promise<void> {
  await site.person({ kind: 'steered', action: 'revert', experiment, reason: 'it was a mistake' })
  expect(await site.run()).toEqual({ for: 'ideas' })
}

async function reverted(site: TestRepository) {
  return (await site.events()).flatMap(event => (event.kind === 'reverted' ? [event] : []))
}

describe('a revert', () => {
  it('lands at once when the tree without the landing was measured before', async () => {
    const site = await ended([shorter('a', 3)])
    const landed = site.bare('rev-parse', 'optimize/size')
    await revert(site)
    expect(await reverted(site)).toMatchObject([{ experiment: 'exp-001', by_experiment: null }])
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe(letters('a', 15).trim())
    expect(site.bare('rev-parse', 'optimize/size^')).toBe(landed)
    expect(site.bare('log', '-1', '--format=%s', 'optimize/size')).toBe('optimize(size): revert exp-001')
    expect(site.bare('rev-parse', 'optimize-campaign/size')).toBe(site.bare('rev-parse', 'optimize/size'))
    expect(Object.keys((await site.campaign()).experiments)).toEqual(['exp-001'])
    await site.proven()
  })

  it('is an experiment of its own otherwise: gates must pass, and no gain is required', async () => {
    const site = await ended([shorter('a', 3), shorter('b', 5)])
    await revert(site)
    expect(await site.outcomes()).toEqual({ a3: 'kept', b5: 'kept', 'revert exp-001: a3': 'revert_landed' })
    expect(await reverted(site)).toMatchObject([{ experiment: 'exp-001', by_experiment: 'exp-003' }])
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe(letters('a', 15).trim())
    expect(site.bare('show', 'optimize/size:src/b.txt')).toBe('bbbbb')
    await site.proven()
  })

  releaseTest('is refused when the tree without the landing fails its gates', async () => {
    const gate =
      '#!/bin/sh\n! grep -q broken src/*.txt && { grep -q aaaa src/a.txt && test -e src/d.txt && exit 1; exit 0; }\n'
    const more = patchOf(
      { 'src/d.txt': [null, 'd\n'], 'src/b.txt': [letters('b', 15), 'b\n'] },
      { hypothesis: 'needs a3' },
    )
    const site = await createSizeRepository([shorter('a', 3), more], {
      remote: true,
      spec: 'execution: { mode: serial }\n',
      files: { 'bench/test.sh': gate },
    })
    await site.start()
    await site.run()
    await revert(site)
    expect(await site.outcomes()).toEqual({
      a3: 'kept',
      'needs a3': 'kept',
      'revert exp-001: a3': 'degenerate',
    })
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('aaa')
    await site.proven()
  })

  releaseTest('is refused with the names of later landings that build on it', async () => {
    const again = patchOf({ 'src/a.txt': ['aaa\n', 'a\n'] }, { hypothesis: 'even shorter' })
    const site = await ended(
      [shorter('a', 3), again],
      'execution: { mode: serial }\nmerge: { max_open_experiments: 1 }\n',
    )
    await revert(site)
    expect(await site.outcomes()).toMatchObject({
      'even shorter': 'kept',
      'revert exp-001: a3': 'refused',
    })
    expect(await site.reasonOf('revert exp-001: a3')).toBe(
      'exp-001 cannot be reverted: conflict in src/a.txt',
    )
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('a')
    await site.proven()
  })
})

describe('after a revert', () => {
  it('a head that contains the landing is refused with its name', async () => {
    const site = await ended([shorter('a', 3)])
    const landed = site.bare('rev-parse', 'optimize/size')
    await revert(site)
    const head = site.commitOn(landed, { 'src/b.txt': letters('b', 4) }, 'on top of it')
    site.push(head, 'optimize-exp/size/mine')
    await site.run()
    expect(await site.outcomes()).toMatchObject({ 'on top of it': 'refused' })
    expect(await site.reasonOf('on top of it')).toBe(
      'contains exp-001, which was reverted: make the change again on top of the incumbent',
    )
    await site.proven()
  })

  releaseTest('the same change in a new commit is measured again', async () => {
    const site = await ended([shorter('a', 3)])
    await revert(site)
    const tip = site.bare('rev-parse', 'optimize/size')
    site.push(site.commitOn(tip, { 'src/a.txt': letters('a', 3) }, 'once more'), 'optimize-exp/size/mine')
    await site.run()
    expect(await site.outcomes()).toMatchObject({ 'once more': 'kept' })
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('aaa')
    await site.proven()
  })
})
