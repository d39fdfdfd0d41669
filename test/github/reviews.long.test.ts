import { expect, test } from 'vitest'
import { packageFiles } from '../support/package-files.ts'
import { patchOf } from '../support/repository.ts'
import { letters } from '../support/size-repository.ts'
import { onGithub } from './on-github.ts'
import { APPROVE, LEFT_PAD, REVIEWS, waitingForReview } from './waiting-for-review.ts'
import { releaseTest } from '../support/cases.ts'

test('an approving review counts for the head it looked at, by somebody who may, and not for the author', async () => {
  const there = await waitingForReview('write')
  const { github, client, winnow, asks, say, head, digest } = there
  await asks('eve', REVIEWS, { ...APPROVE, commit_id: head })
  await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
  const last = github.world.reviews.at(-1)
  if (last) last.state = 'DISMISSED'
  const own = await say('mia', 1, `/winnow approve-deps ${digest.slice(0, 16)}`)
  await winnow('tick')
  expect((await client.experiment('mine')).status).toBe('deferred')
  expect(own.reactions).toMatchObject([{ content: '-1' }])
  expect(github.world.comments.at(-1)?.body).toMatch(/^approve-deps: exp-001 is yours/)

  // A push that changes the set makes every approval before it one of something else.
  await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
  there.commit('small', packageFiles({ 'left-pad': { version: '1.4.0' } }))
  await winnow('tick')
  const asked = await client.experiment('mine')
  expect(asked).toMatchObject({ status: 'deferred', approved: {} })
  expect(asked.approval?.digest).not.toBe(digest)
  const stale = await say('ada', 1, `/winnow approve ${digest.slice(0, 16)}`)
  await winnow('tick')
  expect(stale.reactions).toMatchObject([{ content: '-1' }])

  await asks('ada', REVIEWS, { ...APPROVE, commit_id: asked.head })
  await winnow('tick')
  expect(await client.experiment('mine')).not.toMatchObject({ status: 'deferred' })
  const approved = (await client.events()).filter(({ kind }) => kind === 'approved')
  expect(approved).toMatchObject([{ by: { actor: 'ada' }, digest: asked.approval?.digest }])
  await client.run()
  expect(await client.outcomes()).toEqual({ mine: 'kept' })
})

releaseTest('the spec can name who approves, whatever else they may do; a comment does it too', async () => {
  const { github, client, winnow, asks, say, head, digest } = await waitingForReview('[olga]')
  await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
  const ada = await say('ada', 1, `/winnow approve ${digest.slice(0, 16)}`)
  const blind = await say('olga', 1, '/winnow approve')
  await winnow('tick')
  expect((await client.experiment('mine')).status).toBe('deferred')
  expect([ada, blind].flatMap(({ reactions }) => reactions.map(({ content }) => content))).toEqual([
    '-1',
    '-1',
  ])
  expect(github.world.comments.at(-1)?.body).toContain(digest.slice(0, 16))

  // So few digits another set could have as well, pushed after this one was shown.
  const short = await say('olga', 1, `/winnow approve ${digest.slice(0, 15)}`)
  await winnow('tick')
  expect((await client.experiment('mine')).status).toBe('deferred')
  expect(short.reactions).toMatchObject([{ content: '-1' }])
  expect(github.world.comments.at(-1)?.body).toContain(`/winnow approve ${digest.slice(0, 16)}`)

  await say('olga', 1, `/winnow approve-deps --digest ${digest.slice(0, 16)}`)
  await winnow('tick')
  const approved = (await client.events()).filter(({ kind }) => kind === 'approved')
  expect(approved).toMatchObject([{ by: { actor: 'olga' }, digest, packages: ['left-pad'] }])
})

releaseTest(
  'who is in a team the spec names approves, as far as the token may know; nobody else, and no bot',
  async () => {
    const there = await waitingForReview('[team/core]')
    const { github, client, winnow, asks, say, head, digest } = there
    github.world.teams.set('core', new Set(['ada', 'core[bot]']))
    expect(github.world.comments[0]?.body).toContain(
      'The members of team/core are read with an App token with members: read',
    )
    expect((await winnow('doctor')).join('\n')).toContain('dependencies.approvers names team/core')
    // A job's own token may not ask.
    const ada = await say('ada', 1, `/winnow approve ${digest.slice(0, 16)}`)
    await winnow('tick')
    expect(there.answerTo(ada)).toMatchObject({ reactions: ['-1'] })
    expect(github.world.comments.at(-1)?.body).toContain(
      'Whether ada is in team/core cannot be read with this token',
    )
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    expect((await client.experiment('mine')).status).toBe('deferred')

    // An App's may.
    for (const account of github.world.accounts.values())
      if (account.grants !== null) account.grants = { ...account.grants, members: 'read' }
    github.world.reviews.length = 0
    for (const login of ['olga', 'core[bot]']) await asks(login, REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    expect((await client.experiment('mine')).status).toBe('deferred')
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    const approved = (await client.events()).filter(({ kind }) => kind === 'approved')
    expect(approved).toMatchObject([{ by: { actor: 'ada' }, digest }])
  },
)

releaseTest(
  'before anything is kept, packages that wait are told of where they are approved, also of a branch that was only pushed',
  async () => {
    const spec = (text: string) =>
      text.replace('mutable: [src/]', 'mutable: [src/, package.json, package-lock.json]')
    const there = await onGithub([], { files: packageFiles({}), spec })
    const { github, client, winnow, asks } = there
    github.token('ada')
    await client.start()
    const files = { 'src/b.txt': letters('b', 5), ...packageFiles(LEFT_PAD) }
    const head = there.commit('optimize-exp/size/pads', files, [there.tip('main')])
    await client.run()
    expect(github.world.pulls).toMatchObject([
      { branch: 'optimize-exp/size/pads', base: 'optimize/size', draft: true, author: { kind: 'actions' } },
    ])
    expect(github.world.comments).toMatchObject([
      { number: 1, body: expect.stringContaining('| left-pad 1.3.0 |') },
    ])
    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
    expect(github.world.comments).toHaveLength(1)

    github.token('olga')
    await asks('olga', 'POST /pulls/1/reviews', { ...APPROVE, commit_id: head })
    await winnow('tick')
    await client.run()
    expect(Object.values(await client.outcomes())).toEqual(['kept'])
    expect(github.world.pulls[0]).toMatchObject({ state: 'closed', merge: {} })
  },
)

releaseTest(
  'reviews of outsiders cost no request, however many approve',
  async () => {
    const there = await waitingForReview('write')
    const { github, winnow, asks, client, head } = there
    for (let index = 0; index < 20; index++)
      await asks(`eve${index}`, REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
    expect((await client.experiment('mine')).status).toBe('deferred')
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    expect((await client.experiment('mine')).status).not.toBe('deferred')
  },
  300_000,
)

releaseTest(
  'whoever pushed to an engine’s branch approves nothing of it; two do where nobody knows who pushed',
  async () => {
    // The idea waits for its own package, so nothing is measured before the push.
    const change: [string, string] = [letters('c', 15), letters('c', 9)]
    const idea = patchOf({ 'src/c.txt': change }, { hypothesis: 'c9', required_deps: ['tiny'] })
    const there = await onGithub([idea], {
      files: packageFiles({}),
      spec: text => text.replace('mutable: [src/]', 'mutable: [src/, package.json, package-lock.json]'),
    })
    const { github, client, asks, say, winnow } = there
    for (const writer of ['ada', 'mia', 'zoe']) github.token(writer)
    await client.start()
    await client.until(({ experiments }) => Object.keys(experiments).length > 0)
    const branch = (await client.experiment('c9')).branch ?? ''
    const files = { 'src/b.txt': letters('b', 5), ...packageFiles(LEFT_PAD) }
    const head = there.commit(branch, files)
    github.world.pushers.set(head, 'mia')
    await winnow('tick')
    const asked = await client.experiment('c9')
    expect(asked).toMatchObject({ status: 'deferred', owned: false, head })
    const reviews = `POST /pulls/${there.number('c9')}/reviews`
    const word = `/winnow approve ${asked.approval?.digest.slice(0, 16)}`

    await asks('mia', reviews, { ...APPROVE, commit_id: head })
    const own = await say('mia', there.number('c9'), word)
    await winnow('tick')
    expect(await client.experiment('c9')).toMatchObject({ status: 'deferred', approved: {} })
    expect(there.answerTo(own)).toMatchObject({
      text: expect.stringContaining('is yours'),
      reactions: ['-1'],
    })
    const heard = (await client.events()).filter(({ cause }) => cause.startsWith('review:'))
    expect(heard).toMatchObject([
      { kind: 'note', text: expect.stringContaining('pushed this head themselves') },
    ])
    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)

    // Nobody knows: the one who approves may be who pushed.
    github.world.pushers.set(head, null)
    await asks('ada', reviews, { ...APPROVE, commit_id: head })
    const alone = await say('ada', there.number('c9'), word)
    await winnow('tick')
    expect(await client.experiment('c9')).toMatchObject({ status: 'deferred', approved: {} })
    expect(there.answerTo(alone)).toMatchObject({
      text: expect.stringContaining('two people'),
      reactions: ['-1'],
    })
    await asks('zoe', reviews, { ...APPROVE, commit_id: head })
    await winnow('tick')
    expect((await client.experiment('c9')).status).not.toBe('deferred')
  },
  300_000,
)
