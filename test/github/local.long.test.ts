import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { ConflictError, ForgeError } from '../../src/errors.ts'
import type { Repository } from '../../src/git/repository.ts'
import { BASE, pullOf, refs, type TempForge, tempForge } from './temp-forge.ts'

let temp: TempForge
beforeEach(async () => {
  temp = await tempForge()
})
afterEach(() => temp.remove())

describe('opening a pull request', () => {
  test('twice in the same words is one pull request', async () => {
    temp.commit('fast')
    await temp.forge.open(pullOf('fast'))
    expect(await temp.forge.open(pullOf('fast'))).toBe(1)
    expect(temp.writes()).toBe(1)
  })
})

describe('a batch', () => {
  test('is one write, in order, and a repeat of it is none', async () => {
    temp.commit('fast')
    temp.commit('small')
    const batch = [
      { kind: 'open', ...pullOf('fast') },
      { kind: 'open', ...pullOf('small') },
      { kind: 'label', number: 2, add: ['queued'] },
      { kind: 'comment', number: 1, body: 'measuring', marker: 'verdict' },
      { kind: 'comment', number: 9, body: 'nobody there' },
    ] as const
    const answers = await temp.forge.batch(batch)
    expect(answers.map(answer => answer.number)).toEqual([1, 2, 2, 1, null])
    expect(answers.map(answer => answer.ok)).toEqual([true, true, true, true, false])
    expect(temp.writes()).toBe(1)
    expect(await temp.forge.batch(batch)).toEqual(answers)
    expect(temp.writes()).toBe(1)
  })
})

describe('a merge', () => {
  beforeEach(async () => {
    temp.commit('fast')
    await temp.forge.open(pullOf('fast'))
  })

  test('of an older head is no merge of the newer one', async () => {
    temp.merge('fast')
    const head = temp.commit('fast')
    expect(await temp.only(1)).toMatchObject({ state: 'open', head, merged_commit: null })
  })

  test('is written once, and watching it afterwards writes nothing', async () => {
    temp.merge('fast')
    await temp.forge.list()
    const writes = temp.writes()
    expect(writes).toBe(2)
    await temp.forge.list({ numbers: [1] })
    expect(temp.writes()).toBe(writes)
  })
})

describe('a head branch', () => {
  test('that moves is followed without a write', async () => {
    temp.commit('fast')
    await temp.forge.open(pullOf('fast'))
    const head = temp.commit('fast')
    expect(await temp.only(1)).toMatchObject({ state: 'open', head })
    expect(temp.writes()).toBe(1)
  })
})

describe('two writers', () => {
  test('of whom one lost the answer to its push do not write it twice', async () => {
    temp.commit('fast')
    const shaky = await temp.other('ada', repo => {
      let pushes = 0
      const push: Repository['push'] = async updates => {
        const result = await repo.push(updates)
        if (++pushes === 1) throw new ForgeError('the connection broke', { output: 'reset' })
        return result
      }
      return { ...repo, push }
    })
    expect(await shaky.open(pullOf('fast'))).toBe(1)
    expect(temp.writes()).toBe(1)
  })

  test('of whom one always loses give up after two minutes and say so', async () => {
    temp.commit('fast')
    const unlucky = await temp.other('eve', repo => ({
      ...repo,
      push: async () => ({ ok: false, reason: 'lease', refs: [refs.forge] }),
    }))
    await expect(unlucky.open(pullOf('fast'))).rejects.toThrow(ConflictError)
    expect(temp.writes()).toBe(0)
  })
})

describe('the branch of the pull requests', () => {
  test('is an orphan of small files', async () => {
    temp.commit('fast')
    await temp.forge.open(pullOf('fast'))
    expect(temp.git('ls-tree', '-r', '--name-only', refs.forge)).toBe(
      'heads/11.json\nopen.json\npulls/0000/000001.json',
    )
    expect(temp.git('show', `${refs.forge}:open.json`)).toBe('{"next":2,"open":[1]}')
    expect(temp.git('rev-list', '--max-parents=0', refs.forge)).toBe(temp.git('rev-parse', refs.forge))
  })

  test('that somebody broke is said, by file', async () => {
    temp.commit('fast')
    await temp.forge.open(pullOf('fast'))
    const commit = temp.git('commit-tree', temp.repo.emptyTree, '-m', 'broken')
    temp.git('update-ref', refs.forge, commit)
    await expect(temp.forge.list()).rejects.toThrow(/open\.json is missing among the local pull requests/)
  })

  test('answers by branch, whatever became of the pull request', async () => {
    temp.commit('fast')
    const first = await temp.forge.open(pullOf('fast'))
    await temp.forge.close(first, 'no')
    const second = await temp.forge.open(pullOf('fast', { title: 'again' }))
    await temp.forge.close(second, 'no')
    const found = await temp.forge.list({ branches: ['fast', 'unheard-of'] })
    expect(found.map(({ number, state }) => [number, state])).toEqual([[second, 'closed']])
  })

  test('changes with the push of somebody else, and only with it', async () => {
    const head = temp.commit('fast')
    const tip = { [`refs/heads/${BASE}`]: temp.git('rev-parse', BASE), 'refs/heads/fast': head }
    const view = { refs: new Map(Object.entries(tip)), covers: () => true }
    const staged = await temp.forge.stage?.([{ kind: 'open', ...pullOf('fast') }], view)
    expect(staged?.answers).toEqual([{ ok: true, number: 1 }])
    expect(await temp.forge.list()).toEqual([])
    expect(await temp.repo.push(staged?.updates ?? [])).toEqual({ ok: true })
    staged?.accepted()
    expect(await temp.forge.list()).toMatchObject([{ number: 1, head, state: 'open' }])
  })

  test('works in a SHA-256 repository', async () => {
    const long = await tempForge({ format: 'sha256' })
    onTestFinished(() => long.remove())
    const head = long.commit('fast')
    await long.forge.open(pullOf('fast'))
    expect(await long.only(1)).toMatchObject({ head, state: 'open' })
    const merge = long.merge('fast')
    expect(await long.only(1)).toMatchObject({ state: 'merged', merged_commit: merge })
  })

  test('lives in the repository itself where there is no remote', async () => {
    const alone = await tempForge({ local: true })
    onTestFinished(() => alone.remove())
    const head = alone.commit('fast')
    await alone.forge.open(pullOf('fast'))
    expect(alone.git('for-each-ref', '--format=%(refname:short)').split('\n')).toEqual([
      'fast',
      'optimize-forge/demo',
      BASE,
    ])
    expect(await alone.only(1)).toMatchObject({ head, state: 'open' })
  })
})
