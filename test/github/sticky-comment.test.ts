import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { pullOf } from '../github/temp-forge.ts'
import { type TempGithub, tempGithub } from './temp-github.ts'

let temp: TempGithub
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
})

test('a sticky comment that somebody edited in a browser is the same one, and has no twin', async () => {
  const { forge, github } = temp
  temp.commit('e1')
  const number = await forge.open(pullOf('e1'))
  await forge.comment(number, 'being measured\n\n- one', { marker: 'verdict' })
  const [comment] = github.world.comments
  if (!comment) throw new Error('nothing was said')
  // Browsers end lines by two characters.
  Object.assign(comment, { body: comment.body.replaceAll('\n', '\r\n'), editedAt: comment.createdAt })
  expect((await temp.only(number)).comments).toMatchObject([{ own: true, body: 'being measured\n\n- one' }])

  github.spent()
  await forge.comment(number, 'being measured\n\n- one', { marker: 'verdict' })
  expect(github.spent()).toEqual(['POST /graphql'])
  await forge.comment(number, 'kept', { marker: 'verdict' })
  expect(github.world.comments).toMatchObject([{ body: expect.stringMatching(/^kept\n/) }])
})
