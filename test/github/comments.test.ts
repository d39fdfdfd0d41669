import { describe, expect, test } from 'vitest'
import type { Post } from '../engine/post.ts'
import { shorter } from '../engine/size-yard.ts'
import { onGithub } from './on-github.ts'

/** The base is measured, and the first idea has its pull request. */
async function opened(post: Post): Promise<void> {
  await post.start()
  await post.until(({ experiments }) => Object.keys(experiments).length > 0)
}

describe('comments that steer', () => {
  test('do what the same command does, once, for people who may, and are answered', async () => {
    const { github, post, winnow, say, answerTo, number } = await onGithub([shorter('a', 3)])
    github.token('ada')
    await opened(post)
    const pull = number('a3')
    expect(pull).toBeGreaterThan(0)

    const paused = await say('ada', pull, '/winnow pause -m "release @week"\nThanks!')
    const stranger = await say('eve', pull, '/winnow stop')
    const unknown = await say('ada', pull, '/winnow pasue')
    const later = await say('ada', pull, 'please\n/winnow stop')
    const edited = await say('ada', pull, '/winnow stop')
    edited.editedAt = new Date().toISOString()
    const elsewhere = await say('ada', pull, '/winnow pause --directory /')
    await winnow('tick')

    expect((await post.campaign()).status_reason).toBe('release @week')
    expect((await post.events()).find(({ kind }) => kind === 'campaign-paused')).toMatchObject({
      cause: `comment:${paused.id}`,
      by: { actor: 'ada' },
    })
    expect(answerTo(paused)).toEqual({
      text: 'pause: Campaign size is paused. winnow resume goes on.',
      reactions: ['+1'],
    })
    expect(stranger.reactions).toMatchObject([{ content: '-1' }])
    expect(unknown.reactions).toMatchObject([{ content: 'confused' }])
    expect(elsewhere.reactions).toMatchObject([{ content: 'confused' }])
    expect([...later.reactions, ...edited.reactions]).toEqual([])
    const answers = github.world.comments.filter(({ author }) => author.kind === 'actions')
    expect(answers.map(({ body }) => body.split('\n')[0])).toEqual([
      'pause: Campaign size is paused. winnow resume goes on.',
      'stop: Only people with write access to this repository may steer the campaign.',
      'pasue: "pasue" is no command here (did you mean /winnow pause?)',
      expect.stringContaining('winnow pause has no option --directory'),
    ])

    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
    expect(github.world.comments.filter(({ author }) => author.kind === 'actions')).toEqual(answers)
  })

  test('act once, also where their answers were deleted and where they had nothing to do', async () => {
    const { github, post, winnow, say } = await onGithub([shorter('a', 3)])
    github.token('ada')
    await opened(post)
    const nothing = await say('ada', 1, '/winnow resume')
    await winnow('tick')
    const before = await post.events()
    expect(before.at(-1)).toMatchObject({ kind: 'note', cause: `comment:${nothing.id}` })

    await post.person({ kind: 'campaign-paused', reason: 'a person said so', source: 'person' })
    github.world.comments.splice(1)
    await winnow('tick')
    expect((await post.campaign()).status).toBe('paused')
    expect((await post.events()).filter(({ kind }) => kind !== 'campaign-paused')).toHaveLength(before.length)
    expect(github.world.comments[1]?.body).toMatch(/^resume: It is in the ledger \(note\)/)
  })

  test('steer by words that proposers read, by priority, and by ideas for the backlog', async () => {
    const { github, post, winnow, say } = await onGithub([shorter('a', 3)])
    github.token('ada')
    await opened(post)
    await say('ada', 1, '/winnow avoid unrolling `loops` by hand')
    await say('ada', 1, '/winnow try -m "cache the header" --category caching')
    await say('ada', 1, '/winnow priority exp-001 high')
    const retry = await say('ada', 1, '/winnow retry')
    const pick = await say('ada', 1, '/winnow pick exp-001')
    await say('ada', 1, '/winnow status')
    await winnow('tick')
    const { avoid, backlog, experiments } = await post.campaign()
    expect(avoid).toEqual([{ text: 'unrolling `loops` by hand', by: 'ada' }])
    expect(backlog).toMatchObject([{ hypothesis: 'cache the header', category: 'caching', priority: 'high' }])
    expect(experiments['exp-001']?.priority).toBe('high')
    expect(retry.reactions).toMatchObject([{ content: '-1' }])
    expect(pick.reactions).toMatchObject([{ content: '-1' }])
    const said = github.world.comments.filter(({ author }) => author.kind === 'actions')
    expect(said.map(({ body }) => body)).toContainEqual(expect.stringContaining('exp-001 was not kept'))
    expect(said).toHaveLength(6)
    expect(said.at(-1)?.body).toMatch(/^status: Campaign size: running; /)
  })
})
