import { expect, test } from 'vitest'
import { patchOf } from '../engine/yard.ts'
import { letters, shorter } from '../engine/size-yard.ts'
import { onGithub } from './on-github.ts'

test('every head shows how it stands: in progress first, completed always, with the place of a refusal', async () => {
  const broken = patchOf({ 'src/c.txt': [letters('c', 15), 'broken\n'] }, { hypothesis: 'breaks the tests' })
  const there = await onGithub([shorter('a', 3), broken])
  const { github, post, winnow } = there
  github.token('ada')
  await post.start()
  const { checks } = github.world
  await post.until(({ experiments }) => experiments['exp-002'] !== undefined)
  const { head } = await post.experiment('a3')
  const first = checks.find(({ externalId }) => externalId === 'exp-001')
  expect(first?.head).toBe(head)
  expect(first?.history[0]).toBe('in_progress')

  // Of a person's changes one is kept, and one is refused.
  for (const [title, path] of Object.entries({ mine: 'src/b.txt', 'goes outside': 'bench/new.txt' })) {
    const branch = path.replaceAll('/', '-')
    there.commit(branch, { [path]: letters('b', 5) }, [there.tip('main')])
    await there.asks('ada', 'POST /pulls', { title, head: branch, base: 'optimize/size' })
  }
  await post.run()
  await winnow('tick')

  const outcomes = await post.outcomes()
  expect(outcomes).toEqual({
    a3: 'kept',
    mine: expect.stringContaining('kept'),
    'breaks the tests': 'degenerate',
    'goes outside': 'refused',
  })
  const said = new Map<string, unknown>()
  for (const [hypothesis] of Object.entries(outcomes)) {
    const { id } = await post.experiment(hypothesis)
    const own = checks.filter(({ externalId }) => externalId === id)
    expect(own).toHaveLength(1)
    said.set(hypothesis, own[0]?.conclusion)
    if (hypothesis === 'goes outside')
      expect(own[0]?.output['annotations']).toMatchObject([{ path: 'bench/new.txt', start_line: 1 }])
  }
  expect(Object.fromEntries(said)).toEqual({
    a3: 'success',
    mine: 'success',
    'breaks the tests': 'failure',
    'goes outside': 'failure',
  })
  expect(checks.filter(({ status }) => status !== 'completed')).toEqual([])

  github.spent()
  await winnow('tick')
  expect(github.spent().length).toBeLessThanOrEqual(3)
})
