import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Forge, Workflows } from '../../src/forge/port.ts'
import { pullOf } from '../forge/temp-forge.ts'
import { type TempGithub, tempGithub } from './temp-github.ts'
import { GRANTS, MEASURE } from './tick-job.ts'

let temp: TempGithub
let job: Forge
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
  temp.scene.commit('main', { '.github/workflows/winnow-measure.yml': MEASURE })
  temp.scene.commit('optimize/demo', {}, [temp.scene.tip('main')])
  job = temp.forgeOf(temp.github.jobToken(GRANTS))
})

function machines(): Workflows {
  if (!job.workflows) throw new Error('this forge has no machines')
  return job.workflows
}

/** What a tick asks when orders are under way: everything that git cannot tell. */
async function look(numbers: number[]) {
  await job.list({ numbers, branches: ['optimize-campaign/demo', ...numbers.map(each => `e${each}`)] })
  await machines().runs({ workflow: 'winnow-measure.yml', branch: 'optimize/demo' })
  return machines().artifacts()
}

describe('requests to GitHub', () => {
  test('of an idle tick are three, and unchanged lists cost nothing', async () => {
    const opens = Array.from({ length: 4 }, (_, index) => `e${index + 1}`)
    for (const branch of opens) temp.commit(branch)
    await job.batch(opens.map(branch => ({ kind: 'open', ...pullOf(branch) })))
    const numbers = opens.map((_, index) => index + 1)
    temp.github.spent()
    await look(numbers)
    expect(temp.github.spent()).toHaveLength(3)
    await look(numbers)
    expect(temp.github.spent()).toEqual(['POST /graphql'])
  })

  test('of an experiment are at most eight, and two for each of its orders', async () => {
    const head = temp.commit('e1')
    const check = { name: 'winnow', head, id: 'exp-001', title: 'exp-001' }
    temp.github.spent()
    const number = await job.open(pullOf('e1', { draft: true, labels: ['queued'] }))
    await job.check?.({ ...check, state: 'in-progress', summary: 'being measured' })
    for (const order of ['o-1', 'o-2', 'o-3']) {
      const inputs = { order }
      const dispatch = { workflow: 'winnow-measure.yml', branch: 'optimize/demo', name: order, inputs }
      const id = await machines().dispatch(dispatch)
      const run = temp.github.world.runs.find(each => each.id === id)
      if (!run) throw new Error(`${order} does not run`)
      temp.github.finish(run, 'success', { 'winnow-report': { 'report.json': `{"order":"${order}"}` } })
      const before = temp.github.spent()
      const found = (await look([number])).find(each => each.run === id)
      temp.github.spent()
      if (!found) throw new Error(`${order} left nothing`)
      const parcel = await machines().download(found, { file: 'report.json', most: 1000 })
      expect(parcel.ok && Buffer.from(parcel.bytes).toString()).toBe(`{"order":"${order}"}`)
      expect(before.slice(order === 'o-1' ? 3 : 0)).toHaveLength(1)
      expect(temp.github.spent()).toHaveLength(1)
    }
    await job.check?.({ ...check, state: 'success', summary: 'kept' })
    await job.batch([
      { kind: 'update', number, title: 'kept: faster', body: 'kept: 3 % faster' },
      { kind: 'label', number, add: ['kept'], remove: ['queued'] },
      { kind: 'close', number, reason: '' },
    ])
    expect(temp.github.spent()).toHaveLength(5)
    expect(await temp.only(number)).toMatchObject({
      state: 'closed',
      title: 'kept: faster',
      labels: ['kept'],
    })
  })

  test('repeat nothing that is so already', async () => {
    temp.commit('e1')
    const number = await job.open(pullOf('e1'))
    const changes = [
      { kind: 'update', number, body: 'kept' },
      { kind: 'comment', number, body: 'kept: 3 % faster', marker: 'verdict' },
      { kind: 'label', number, add: ['kept'] },
    ] as const
    await job.batch(changes)
    temp.github.spent()
    await job.batch(changes)
    expect(temp.github.spent()).toEqual(['POST /graphql'])
  })

  test('of many open pull requests go on page by page', async () => {
    temp.commit('e1')
    await job.open(pullOf('e1'))
    const { world } = temp.github
    const [first] = world.pulls
    if (!first) throw new Error('nothing is open')
    // The same once more with other numbers: where each is from makes no difference to a list.
    for (let number = 2; number <= 51; number++) world.pulls.push({ ...first, number })
    temp.github.spent()
    expect(await job.list({ numbers: [3] })).toHaveLength(51)
    expect(temp.github.spent()).toHaveLength(2)
  })
})
