import { describe, expect, it } from 'vitest'
import { shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'

describe('many patches', () => {
  it('are measured by category and priority, whatever their file names', async () => {
    const idea = (category: string, priority: string, letter: string) =>
      patchOf(
        { [`src/${letter}.txt`]: [null, `${letter}\n`] },
        { hypothesis: `${category} ${letter}`, category, priority },
      )
    const site = await createSizeRepository(
      [
        ...['p', 'q', 'r', 's'].map(letter => idea('alg', 'low', letter)),
        idea('emb', 'medium', 't'),
        idea('data', 'medium', 'u'),
        idea('alg', 'high', 'v'),
      ],
      { spec: 'execution: { max_concurrent: 3 }\n' },
    )
    await site.start()
    await site.run()
    const { experiments } = await site.campaign()
    const opened = Object.values(experiments)
    expect(opened.slice(0, 3).map(({ hypothesis }) => hypothesis)).toEqual(['alg v', 'emb t', 'data u'])
    expect(opened.slice(0, 3).map(({ id }) => id)).toEqual(
      (await site.events()).flatMap(event =>
        event.kind === 'round-closed' && event.round === 1 ? event.members : [],
      ),
    )
    expect(opened).toHaveLength(7)
    await site.proven()
  })
})

describe('a campaign with patches alone', () => {
  it('stops after the last patch', async () => {
    const site = await createSizeRepository([shorter('a', 3)], {
      spec: text => text.replace(', { use: external }', ''),
    })
    await site.start()
    expect(await site.run()).toEqual({
      for: 'nothing',
      reason: 'no idea is left, and no proposer or person can add one',
    })
    expect((await site.campaign()).status).toBe('stopped')
    await site.proven()
  })
})
