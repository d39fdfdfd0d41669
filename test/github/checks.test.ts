import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Check } from '../../src/model/github.ts'
import { type TempGithub, tempGithub } from './temp-github.ts'

let temp: TempGithub
let check: Check
let token: string
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
  const head = temp.commit('fast')
  token = temp.github.jobToken({ checks: 'write' })
  check = { name: 'winnow', head, id: 'exp-001', state: 'in-progress', title: 'measuring', summary: '0 of 8' }
})

describe('a check', () => {
  test('is in progress first and completed by whoever comes later', async () => {
    await temp.forgeOf(token).check?.(check)
    expect(temp.github.world.checks).toMatchObject([{ status: 'in_progress', conclusion: null }])
    const failed = { ...check, state: 'failure', title: 'refused', summary: 'out of scope' } as const
    await temp.forgeOf(token).check?.(failed)
    expect(temp.github.world.checks).toMatchObject([
      { status: 'completed', conclusion: 'failure', output: { title: 'refused', summary: 'out of scope' } },
    ])
  })

  test('whose summary changed under the same title is written again by a later process', async () => {
    const done = { ...check, state: 'neutral' } as const
    await temp.forgeOf(token).check?.(done)
    await temp.forgeOf(token).check?.({ ...done, summary: '8 of 8' })
    expect(temp.github.world.checks).toMatchObject([{ output: { summary: '8 of 8' } }])
    temp.github.spent()
    await temp.forgeOf(token).check?.({ ...done, summary: '8 of 8' })
    expect(temp.github.spent().map(route => route.split(' ')[0])).toEqual(['GET'])
  })

  test('of another experiment on the same head is another one', async () => {
    const forge = temp.forgeOf(token)
    await forge.check?.({ ...check, state: 'success' })
    await forge.check?.({ ...check, id: 'exp-002', state: 'neutral' })
    await forge.check?.({ ...check, state: 'neutral' })
    const seen = temp.github.world.checks.map(({ externalId, conclusion }) => `${externalId} ${conclusion}`)
    expect(seen).toEqual(['exp-001 neutral', 'exp-002 neutral'])
  })

  test('stays as completed once a newer one replaced it; every one in progress is completed', async () => {
    const { checks } = temp.github.world
    const show = (state: Check['state']) => temp.forgeOf(token).check?.({ ...check, state, title: state })
    await show('neutral')
    await show('in-progress')
    await show('success')
    expect(checks.map(({ conclusion }) => conclusion)).toEqual(['neutral', 'success'])

    // Two processes at once have shown that it is measured again.
    await show('in-progress')
    await show('in-progress')
    await show('failure')
    expect(checks.map(({ conclusion }) => conclusion)).toEqual(['neutral', 'success', 'failure', 'failure'])
  })

  test('shows where something is wrong, fifty places a request, and not without end', async () => {
    const annotations = Array.from({ length: 500 }, (_, line) => ({ path: 'src/a.txt', line, message: 'no' }))
    temp.github.spent()
    await temp.forgeOf(token).check?.({ ...check, annotations })
    expect(temp.github.spent().map(route => route.split(' ')[0])).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH'])
  })

  test('that GitHub refused once is looked for again, and written', async () => {
    let refusals = 1
    const refuses: typeof fetch = (url, options) =>
      options?.method === 'POST' && refusals-- > 0
        ? Promise.resolve(Response.json({ message: 'Unprocessable Entity' }, { status: 422 }))
        : fetch(url, options)
    const forge = temp.forgeOf(token, { web: refuses })
    await expect(forge.check?.({ ...check, state: 'success' })).rejects.toThrow(/422/)
    // The list of check runs is unchanged, so GitHub answers 304.
    await forge.check?.({ ...check, state: 'success' })
    expect(temp.github.world.checks).toMatchObject([{ status: 'completed', conclusion: 'success' }])
  })

  test("cannot be written with a person's token, and that is said", async () => {
    await expect(temp.forge.check?.(check)).rejects.toThrow(/must authenticate via a GitHub App/)
  })
})
