import { describe, expect, test } from 'vitest'
import { applyAmendment } from '../../src/engine/campaign/start.ts'
import { shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { type ActionsRepository, createActionsRepository } from './actions-repository.ts'
import { releaseTest } from '../support/cases.ts'

const BY_PULL = {
  on: 'update',
  branches: 'optimize/*',
  says: 'Changes must be made through a pull request.',
} as const

async function started(): Promise<ActionsRepository> {
  const there = await createActionsRepository([shorter('a', 3)])
  await (await there.openClient()).start()
  return there
}

describe('a landing that GitHub does not let be pushed', () => {
  test('leaves what was observed in the ledger, says why, and lands when that is mended', async () => {
    const there = await started()
    there.github.rule([BY_PULL])
    const why = 'GH013, a repository rule forbids it: Changes must be made through a pull request. '
    const says = expect.stringContaining(`the remote rejected the push to optimize/size: ${why}`)
    expect(await there.settle()).toEqual({ for: 'person', what: says })
    const here = await there.openClient()
    expect(await here.alerts()).toEqual([says])
    expect((await here.alerts()).join()).toContain('or set merge.via: api')
    const kinds = await here.kinds()
    expect(kinds).toEqual(expect.arrayContaining(['measured', 'alert', 'campaign-paused']))
    expect(kinds).not.toContain('decided')
    expect(await here.experiment('a3')).toMatchObject({ status: 'measured', outcome: null })
    await proven(here.place)

    there.github.rule([])
    await here.person({ kind: 'campaign-resumed', reason: 'the rule is gone' })
    const runs = there.github.world.runs.length
    expect(await there.settle()).toEqual({ for: 'ideas' })
    expect(await here.outcomes()).toEqual({ a3: 'kept' })
    expect(there.github.world.runs).toHaveLength(runs)
    await proven(here.place)
  })

  releaseTest('is merged by GitHub once the spec says so', async () => {
    const there = await started()
    there.github.rule([BY_PULL])
    await there.settle()
    const here = await there.openClient()
    const { spec_yaml } = await here.campaign()
    const yaml = `${spec_yaml}merge: { via: api }\n`
    await applyAmendment(here.place, { yaml, reason: 'the rule stays' })
    await here.person({ kind: 'campaign-resumed', reason: 'the rule stays' })
    expect(await there.settle()).toEqual({ for: 'ideas' })
    expect(await here.outcomes()).toEqual({ a3: 'kept' })
    expect((await here.events()).findLast(({ kind }) => kind === 'merged')).toMatchObject({ via: 'api' })
    await proven(here.place)
  })
})

test('a campaign whose branches may not be made does not start, and says by which rule', async () => {
  const there = await createActionsRepository([shorter('a', 3)])
  there.github.rule([
    { on: 'creation', branches: 'optimize*/*', says: 'Cannot create ref due to creations being restricted.' },
  ])
  await expect((await there.openClient()).start()).rejects.toMatchObject({
    name: 'ForgeError',
    message: expect.stringMatching(/GH013, a repository rule forbids it: Cannot create ref due to creations/),
    detail: { rule: 'GH013' },
  })
})
