import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Forge } from '../../src/github/port.ts'
import { pullOf } from '../github/temp-forge.ts'
import { type Fault, faultProxy } from '../servers/fault-proxy.ts'
import { IMPATIENT, type TempGithub, tempGithub } from './temp-github.ts'

const WORDS = { title: 'optimize(demo): less', message: 'Kept: less\n\nWinnow-Experiment: exp-001' }
const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge'

let temp: TempGithub
let number: number
let head: string
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
  head = temp.commit('e1')
  number = await temp.forge.open(pullOf('e1'))
})

const merge = (forge: Forge = temp.forge) => forge.merge?.(number, { head, ...WORDS })

describe('a merge by GitHub', () => {
  test('is a commit of that head on the base, in our words; a repeat is the same', async () => {
    const base = temp.scene.tip('optimize/demo')
    const made = await merge()
    const tip = temp.scene.tip('optimize/demo')
    expect(made).toEqual({ ok: true, commit: tip })
    expect(temp.git('log', '-1', '--format=%P%n%B', tip)).toBe(
      `${base} ${head}\n${WORDS.title}\n\n${WORDS.message}`,
    )
    expect(await merge()).toEqual(made)
    expect(temp.github.api.log.filter(({ route }) => route === MERGE)).toHaveLength(1)
  })

  test.each<[string, Fault]>([
    ['is reset before it arrives', 'reset'],
    ['arrives and its answer is lost', 'lost'],
    ['is answered by half', 'cut'],
    ['is answered by a gateway with 502', { status: 502 }],
  ])('that %s is made once', async (_, fault) => {
    const proxy = await faultProxy(temp.github.url)
    onTestFinished(() => proxy.stop())
    const job = temp.forgeOf(temp.github.jobToken({ contents: 'write', pull_requests: 'write' }), {
      apiUrl: `${proxy.url}/api/v3`,
      patience: { ...IMPATIENT, timeoutMs: 300 },
    })
    let broken = false
    proxy.fault = method => {
      if (method !== 'PUT' || broken) return null
      broken = true
      return fault
    }
    const made = await merge(job)
    expect(broken).toBe(true)
    expect(made).toEqual({ ok: true, commit: temp.scene.tip('optimize/demo') })
    expect(temp.git('rev-list', '--merges', '--count', 'optimize/demo')).toBe('1')
  })

  test('of another head than the one meant, or of what is closed, is not asked for', async () => {
    temp.commit('e1')
    expect(await merge()).toEqual({ ok: false, why: 'moved', message: '#1 has another head' })
    await temp.forge.close(number)
    expect(await merge()).toEqual({ ok: false, why: 'moved', message: '#1 is not open' })
    expect(temp.github.api.log.filter(({ route }) => route === MERGE)).toEqual([])
  })

  test('of what conflicts is refused in its words', async () => {
    temp.scene.commit('optimize/demo', { 'src/a.txt': 'ours\n' })
    head = temp.scene.commit('e1', { 'src/a.txt': 'theirs\n' })
    expect(await merge()).toMatchObject({
      ok: false,
      why: 'refused',
      message: expect.stringContaining('GitHub finds a conflict'),
    })
  })
})

describe('GitHub says why it does not merge', () => {
  const RULES = 'Repository rule violations found\n\n'
  test.each([
    [405, 'Merge commits are not allowed on this repository.', 'Turn on "Allow merge commits"'],
    [405, 'Pull Request is still a draft', 'Mark it as ready for review'],
    [405, `${RULES}Changes must be made through the merge queue`, 'Exclude the branch'],
    [405, `${RULES}This branch must not contain merge commits.`, 'Exclude the branch'],
    [405, 'At least 1 approving review is required by reviewers with write access.', 'Approve it, or'],
    [405, 'Required status check "ci" is expected.', 'Let the check pass on its head, or'],
    [422, `${RULES}Commits must have verified signatures.`, 'are not signed'],
    [405, `${RULES}Cannot update this protected ref.`, 'bypass that rule'],
    [405, 'Something new.', 'Something new.'],
  ])('by %i: %s', async (status, message, fix) => {
    temp.github.api.intercept = (_, route) => (route === MERGE ? { status, body: { message } } : null)
    const answer = await merge()
    expect(answer).toMatchObject({ ok: false, why: 'refused' })
    expect(answer).toHaveProperty('message', expect.stringContaining(message))
    expect(answer).toHaveProperty('message', expect.stringContaining(fix))
  })

  test.each([
    [409, 'Head branch was modified. Review and try the merge again.'],
    [405, 'Base branch was modified. Review and try the merge again.'],
  ])('by %i, and there is something else to look at: %s', async (status, message) => {
    temp.github.api.intercept = (_, route) => (route === MERGE ? { status, body: { message } } : null)
    expect(await merge()).toMatchObject({
      ok: false,
      why: 'moved',
      message: expect.stringContaining(message),
    })
  })

  test('a token that may not is told so by the permission it lacks', async () => {
    const job = temp.forgeOf(temp.github.jobToken({ contents: 'read', pull_requests: 'write' }))
    await expect(merge(job)).rejects.toMatchObject({ detail: { status: 403, rule: 'contents: write' } })
  })
})
