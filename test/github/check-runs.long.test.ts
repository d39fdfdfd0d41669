import { expect, test } from 'vitest'
import { patchOf } from '../support/repository.ts'
import { letters, shorter } from '../support/size-repository.ts'
import { onGithub } from './on-github.ts'
import { releaseTest } from '../support/cases.ts'

test('every head shows how it stands: in progress first, completed always, with the place of a refusal', async () => {
  const broken = patchOf({ 'src/c.txt': [letters('c', 15), 'broken\n'] }, { hypothesis: 'breaks the tests' })
  const there = await onGithub([shorter('a', 3), broken])
  const { github, client, winnow } = there
  github.token('ada')
  await client.start()
  const { checks } = github.world
  await client.until(({ experiments }) => experiments['exp-002'] !== undefined)
  const { head } = await client.experiment('a3')
  const first = checks.find(({ externalId }) => externalId === 'exp-001')
  expect(first?.head).toBe(head)
  expect(first?.history[0]).toBe('in_progress')

  // Of a person's changes one is kept, and one is refused.
  const changed = { 'bench/test.sh': '#!/bin/sh\ntrue\n' }
  for (const [title, files] of Object.entries({
    mine: { 'src/b.txt': letters('b', 5) },
    'goes outside': changed,
  })) {
    const branch = title.replaceAll(' ', '-')
    there.commit(branch, files, [there.tip('main')])
    await there.asks('ada', 'POST /pulls', { title, head: branch, base: 'optimize/size' })
  }
  // A tick that shows the checks ends before the first answer comes.
  await client.until(
    ({ experiments }) => Object.values(experiments).filter(({ order }) => order !== null).length === 3,
  )
  await client.run()
  await winnow('tick')

  const outcomes = await client.outcomes()
  expect(outcomes).toEqual({
    a3: 'kept',
    mine: expect.stringContaining('kept'),
    'breaks the tests': 'degenerate',
    'goes outside': 'refused',
  })
  const said = new Map<string, unknown>()
  const begun = new Map<string, unknown>()
  for (const [hypothesis] of Object.entries(outcomes)) {
    const { id } = await client.experiment(hypothesis)
    const own = checks.filter(({ externalId }) => externalId === id)
    expect(own).toHaveLength(1)
    said.set(hypothesis, own[0]?.conclusion)
    begun.set(hypothesis, own[0]?.history[0])
    if (hypothesis === 'goes outside')
      expect(own[0]?.output['annotations']).toMatchObject([{ path: 'bench/test.sh', start_line: 2 }])
  }
  expect(Object.fromEntries(said)).toEqual({
    a3: 'success',
    mine: 'success',
    'breaks the tests': 'failure',
    'goes outside': 'failure',
  })
  expect(checks.filter(({ status }) => status !== 'completed')).toEqual([])
  // What is refused before anything of it runs has nothing that could be in progress.
  expect(Object.fromEntries(begun)).toEqual({
    a3: 'in_progress',
    mine: 'in_progress',
    'breaks the tests': 'in_progress',
    'goes outside': 'completed',
  })

  // One comment each on other people's pull requests, which says in the end what came of it; none on our own.
  const { comments, pulls } = github.world
  const titles = comments.map(({ number }) => pulls.find(pull => pull.number === number)?.title)
  expect(titles.toSorted((a = '', b = '') => a.localeCompare(b))).toEqual(['goes outside', 'mine'])
  expect(comments.find(({ number }) => number === there.number('mine'))?.body).toMatch(/^\*\*Kept: /)
  expect(pulls.filter(({ title }) => title === 'mine')).toMatchObject([{ state: 'closed', merge: {} }])

  github.spent()
  await winnow('tick')
  expect(github.spent().length).toBeLessThanOrEqual(3)
})

releaseTest(
  'where nothing is to be said, nothing is; how heads stand is shown all the same, and costs nothing anew',
  async () => {
    const quiet = await onGithub([], { spec: 'report: { comment: never }\n' })
    const { github, client, winnow } = quiet
    github.token('ada')
    await client.start()
    quiet.commit('mine', { 'src/b.txt': letters('b', 5) }, [quiet.tip('main')])
    await quiet.asks('ada', 'POST /pulls', { title: 'mine', head: 'mine', base: 'optimize/size' })
    await client.until(({ experiments }) => experiments['exp-001']?.order != null)
    const { checks } = github.world
    expect(checks.map(({ status }) => status)).toEqual(['in_progress'])
    // Another process shows it no second time.
    github.spent()
    await winnow('tick')
    expect(github.spent().filter(route => /^(?:POST|PATCH) .*check-runs/.test(route))).toEqual([])
    await client.run()
    expect(await client.outcomes()).toEqual({ mine: 'kept' })
    expect(checks).toMatchObject([{ status: 'completed', conclusion: 'success' }])
    const asked = await quiet.say('ada', 1, '/winnow status')
    await winnow('tick')
    expect(quiet.answerTo(asked)?.reactions).toEqual(['+1'])
    expect(github.world.comments.filter(({ author }) => author.kind === 'actions')).toHaveLength(1)
  },
)
