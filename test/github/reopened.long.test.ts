import { expect, test } from 'vitest'
import { letters } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { onGithub } from './on-github.ts'

const PATIENCE = 400_000

test('reopened as it was it is closed once more, with a word; mended it is measured', {
  timeout: PATIENCE,
}, async () => {
  const there = await onGithub([])
  const { github, client, asks, winnow } = there
  github.token('ada')
  await client.start()
  await client.run()
  there.commit('mine', { 'src/b.txt': letters('b', 5), 'README.md': 'x\n' }, [there.tip('main')])
  await asks('ada', 'POST /pulls', { title: 'mine', head: 'mine', base: 'optimize/size' })
  await client.run()
  const state = () => github.world.pulls[0]?.state
  const said = () => github.world.comments.map(({ body }) => body)
  expect(state()).toBe('closed')
  expect(said()).toMatchObject([expect.stringContaining('**Refused: changes 1 file outside scope.mutable')])

  await asks('ada', 'PATCH /pulls/1', { state: 'open' })
  await winnow('tick')
  expect(state()).toBe('closed')
  expect(said()).toHaveLength(2)
  expect(said()[1]).toContain('Closed again: exp-001 has ended with exactly this commit.')
  // Whoever insists is not fought.
  await asks('ada', 'PATCH /pulls/1', { state: 'open' })
  await winnow('tick')
  expect(state()).toBe('open')
  expect(said()).toHaveLength(2)
  github.spent()
  await winnow('tick')
  expect(github.spent().length).toBeLessThanOrEqual(3)

  const head = there.commit('mine', { 'src/b.txt': letters('b', 5) }, [there.tip('main')])
  await client.run()
  const experiments = Object.values((await client.campaign()).experiments)
  expect(experiments.map(({ outcome, pull }) => [outcome, pull])).toEqual([
    ['refused', 1],
    ['kept', 1],
  ])
  expect(experiments[1]?.head).toBe(head)
  expect(github.world.pulls).toMatchObject([{ state: 'closed', merge: {} }, { base: 'main' }])
  expect(said()).toHaveLength(2)
  expect(said()[0]).toMatch(/^\*\*Kept: /)
  await proven(client.place)
})
