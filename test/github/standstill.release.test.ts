import { expect, test } from 'vitest'
import { letters, shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { onGithub } from './on-github.ts'

const PATIENCE = 240_000

test('a pull request to a campaign that stands still has one comment and a completed check, and goes on with it', {
  timeout: PATIENCE,
}, async () => {
  const there = await onGithub([shorter('a', 3)])
  const { github, client, winnow, asks, say } = there
  github.token('ada')
  await client.start()
  await client.run()
  await winnow('pause', '-m', 'release week')
  const head = there.commit('mine', { 'src/b.txt': letters('b', 5) }, [there.tip('main')])
  await asks('ada', 'POST /pulls', { title: 'mine', head: 'mine', base: 'optimize/size' })
  const pull = there.number('mine')
  const said = () => github.world.comments.filter(({ number }) => number === pull)
  const checks = () => github.world.checks.filter(check => check.head === head)
  await winnow('tick')
  expect(said()).toMatchObject([{ body: expect.stringContaining('Campaign size is paused: release week.') }])
  expect(checks()).toMatchObject([{ status: 'completed', conclusion: 'neutral' }])
  expect(await client.outcomes()).toEqual({ a3: 'kept' })
  github.spent()
  await winnow('tick')
  expect(github.spent().length).toBeLessThanOrEqual(3)

  // It says what is so, in the same comment.
  await winnow('stop', '-m', 'enough for now')
  await winnow('tick')
  expect(said()).toMatchObject([{ body: expect.stringContaining('has stopped: enough for now.') }])
  await say('ada', pull, '/winnow resume')
  await winnow('tick')
  await client.run()
  expect(await client.outcomes()).toMatchObject({ mine: 'kept' })
  expect(said()[0]?.body).toMatch(/^\*\*Kept: /)
  expect(checks().map(({ status }) => status)).toEqual(checks().map(() => 'completed'))
  expect(checks().at(-1)).toMatchObject({ externalId: 'exp-002', conclusion: 'success' })
  await proven(client.place)
})
