import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ForgeError } from '../../src/errors.ts'
import { tempGithub } from '../github/temp-github.ts'
import { type AnyForge, BASE, pullOf } from './temp-forge.ts'

const TIME = expect.stringMatching(/^2026-01-02T03:/)
/** What the engine may expect. */
describe('the forge:', () => {
  let temp: AnyForge
  beforeEach(async () => {
    temp = await tempGithub()
  })
  afterEach(() => temp.remove())

  describe('opening a pull request', () => {
    test('numbers it and keeps what was said', async () => {
      const head = temp.commit('fast')
      expect(await temp.forge.open(pullOf('fast', { draft: true }))).toBe(1)
      expect(await temp.forge.list()).toEqual([
        {
          number: 1,
          title: 'try fast',
          body: 'because',
          branch: 'fast',
          head,
          base: BASE,
          author: 'ada',
          state: 'open',
          draft: true,
          comments: [],
          reviews: [],
          merged_commit: null,
          closed_at: null,
        },
      ])
    })

    test('is found by branch and base, whatever became of it', async () => {
      temp.commit('fast')
      const number = await temp.forge.open(pullOf('fast'))
      await temp.forge.close(number)
      expect(await temp.forge.list()).toEqual([])
      const fast = { branch: 'fast', base: BASE }
      const found = await temp.forge.list({ elsewhere: [{ ...fast, branch: 'other' }, fast] })
      expect(found).toMatchObject([{ number, state: 'closed' }])
      expect(await temp.forge.list({ elsewhere: [{ ...fast, branch: 'other' }] })).toEqual([])
    })

    test('for a branch that has one is refused, naming it', async () => {
      temp.commit('fast')
      await temp.forge.open(pullOf('fast'))
      const [answer] = await temp.forge.batch([{ kind: 'open', ...pullOf('fast', { title: 'other words' }) }])
      expect(answer).toEqual({
        ok: false,
        code: 'duplicate',
        number: 1,
        message: '#1 is already open for fast',
      })
      await expect(temp.forge.open(pullOf('fast', { body: 'more' }))).rejects.toThrow(ForgeError)
    })

    test('is refused without a head, without a base, and without anything new', async () => {
      temp.commit('fast')
      temp.git('update-ref', 'refs/heads/nothing', `refs/heads/${BASE}`)
      const answers = await temp.forge.batch([
        { kind: 'open', ...pullOf('missing') },
        { kind: 'open', ...pullOf('fast', { base: 'nowhere' }) },
        { kind: 'open', ...pullOf('nothing') },
      ])
      expect(answers.map(answer => (answer.ok ? 'ok' : answer.code))).toEqual([
        'no-branch',
        'no-base',
        'nothing-new',
      ])
    })

    test('again after it was closed is a new number', async () => {
      temp.commit('fast')
      await temp.forge.open(pullOf('fast'))
      await temp.forge.close(1)
      expect(await temp.forge.open(pullOf('fast'))).toBe(2)
    })
  })

  describe('a pull request', () => {
    beforeEach(async () => {
      temp.commit('fast')
      await temp.forge.open(pullOf('fast', { draft: true }))
    })

    test('keeps its edits, comments and reviews', async () => {
      const head = temp.commit('fast')
      const bob = await temp.other('bob')
      await temp.forge.update(1, { title: 'new title', draft: false })
      await bob.comment(1, 'looks right')
      await bob.review(1, { commit: head, state: 'changes-requested' })
      await bob.review(1, { commit: head, state: 'approved' })
      expect(await temp.only(1)).toMatchObject({
        title: 'new title',
        body: 'because',
        draft: false,
        head,
        comments: [{ author: 'bob', body: 'looks right', at: TIME }],
        reviews: [
          { author: 'bob', commit: head, state: 'changes-requested' },
          { author: 'bob', commit: head, state: 'approved' },
        ],
      })
    })

    test('has a sticky comment rewritten in place, each author their own', async () => {
      const bob = await temp.other('bob')
      await temp.forge.comment(1, 'measuring', { marker: 'verdict' })
      await bob.comment(1, 'mine', { marker: 'verdict' })
      await temp.forge.comment(1, 'kept', { marker: 'verdict' })
      const { comments } = await temp.only(1)
      expect(comments.map(each => `${each.author}: ${each.body}`)).toEqual(['ada: kept', 'bob: mine'])
    })

    test('is closed once', async () => {
      await temp.forge.close(1)
      const writes = temp.writes()
      await temp.forge.close(1)
      expect(temp.writes()).toBe(writes)
      expect(await temp.only(1)).toMatchObject({ state: 'closed', closed_at: TIME })
      expect(await temp.forge.list()).toEqual([])
    })

    test('that does not exist is refused by its number', async () => {
      for (const number of [0, 2, -1, 1.5]) {
        await expect(temp.forge.comment(number, 'hello')).rejects.toThrow(
          `there is no pull request #${number}`,
        )
      }
    })

    test('loses no field to a change that says nothing of it', async () => {
      const writes = temp.writes()
      await temp.forge.update(1, {})
      expect(temp.writes()).toBe(writes)
    })
  })

  describe('a batch', () => {
    test('of nothing asks nobody and writes nothing', async () => {
      expect(await temp.forge.batch([])).toEqual([])
      expect(await temp.forge.list()).toEqual([])
    })
  })

  describe('a merge', () => {
    beforeEach(async () => {
      temp.commit('fast')
      await temp.forge.open(pullOf('fast'))
    })

    test('is seen when the head is in the base branch, with the commit that brought it', async () => {
      const merge = temp.merge('fast')
      temp.commit(BASE)
      expect(await temp.only(1)).toMatchObject({ state: 'merged', merged_commit: merge, closed_at: TIME })
    })

    test('by fast-forward is the head itself', async () => {
      const head = temp.commit('fast')
      temp.git('update-ref', `refs/heads/${BASE}`, head)
      expect(await temp.only(1)).toMatchObject({ state: 'merged', merged_commit: head, head })
    })

    test('once seen survives its branch', async () => {
      const merge = temp.merge('fast')
      await temp.forge.list()
      temp.deleteBranch('fast')
      expect(await (await temp.other('bob')).list({ numbers: [1] })).toMatchObject([
        { state: 'merged', merged_commit: merge },
      ])
    })

    test('is seen even if its branch went at the same moment', async () => {
      temp.merge('fast')
      temp.deleteBranch('fast')
      expect(await temp.only(1)).toMatchObject({ state: 'merged' })
    })

    test('is not undone by a close', async () => {
      temp.merge('fast')
      await expect(temp.forge.close(1)).rejects.toThrow(/#1 is merged/)
      expect((await temp.only(1)).state).toBe('merged')
    })
  })

  describe('a head branch', () => {
    test('that is deleted closes its unmerged pull request for good', async () => {
      const head = temp.commit('fast')
      await temp.forge.open(pullOf('fast'))
      temp.deleteBranch('fast')
      expect(await temp.only(1)).toMatchObject({ state: 'closed', head, merged_commit: null })
      temp.git('update-ref', 'refs/heads/fast', head)
      expect((await temp.only(1)).state).toBe('closed')
      expect(await temp.forge.open(pullOf('fast'))).toBe(2)
    })
  })

  describe('two writers', () => {
    test('at once both get their changes in, with a number each', async () => {
      for (const branch of ['a', 'b', 'c', 'd']) temp.commit(branch)
      const bob = await temp.other('bob')
      const numbers = await Promise.all([
        temp.forge.open(pullOf('a')),
        bob.open(pullOf('b')),
        temp.forge.open(pullOf('c')),
        bob.open(pullOf('d')),
      ])
      expect(numbers.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
      const pulls = await temp.forge.list()
      expect(pulls.map(pull => `${pull.branch} by ${pull.author}`).toSorted()).toEqual([
        'a by ada',
        'b by bob',
        'c by ada',
        'd by bob',
      ])
    })

    test('for one branch open one pull request', async () => {
      temp.commit('fast')
      const bob = await temp.other('bob')
      const answers = await Promise.allSettled([temp.forge.open(pullOf('fast')), bob.open(pullOf('fast'))])
      expect(answers.map(answer => answer.status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(await temp.forge.list()).toHaveLength(1)
    })
  })
})
