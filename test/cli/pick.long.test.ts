import { describe, expect, it } from 'vitest'
import { offer, project, proven, SHORT } from './project.ts'
import { releaseTest } from '../support/cases.ts'

async function keptOne() {
  const person = project()
  await person.winnow('run')
  await offer(person, SHORT)
  await person.winnow('run')
  return person
}

describe('winnow pick', () => {
  it('takes a kept change alone, once, and says where it is', async () => {
    const person = await keptOne()
    const before = person.refs()
    expect((await person.winnow('pick', '1', '--dry-run')).code).toBe(0)
    expect(person.refs()).toEqual(before)
    expect((await person.winnow('pick', '1')).out).toContain(
      'measures exp-001 on its own, as one commit on the default branch',
    )
    expect((await person.winnow('pick', '1')).out).toBe(
      'the pick of exp-001 was requested already: the next winnow tick or run measures it.\n',
    )
    await person.winnow('run')
    const again = await person.winnow('pick', 'exp-001')
    expect(again.out).toMatch(/^exp-002 takes exp-001 alone: Kept: bytes /)
    expect((await person.winnow('pick', 'exp-002')).out).toBe(again.out)
    expect(await person.json('status')).toMatchObject({
      experiments: [{ id: 'exp-001' }],
      picks: [
        {
          id: 'exp-002',
          picks: 'exp-001',
          verdict: 'kept',
          pick_end: null,
          branch: 'optimize-exp/size/exp-002',
        },
      ],
    })
    expect((await person.winnow('status')).out).toContain('exp-002 takes exp-001 alone: Kept: ')
    expect((await person.winnow('show', '2')).out).toMatch(/^exp-002 Kept: bytes /)
    await proven(person)
  })

  releaseTest('takes nothing that is not kept, and says why', async () => {
    const person = await keptOne()
    expect((await person.winnow('pick', '7')).err).toContain('there is no experiment 7')
    await person.winnow('revert', '1')
    await person.winnow('run')
    const { code, err } = await person.winnow('pick', '1')
    expect([code, err]).toEqual([2, expect.stringContaining('exp-001 was reverted, so it cannot be picked')])
    expect(err).toContain('the campaign has no kept change')
    await proven(person)
  })
})
