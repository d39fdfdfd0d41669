import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Workflows } from '../../src/github/port.ts'
import { pullOf, type SingleForge } from '../github/temp-forge.ts'
import { uploadFile } from './measuring-job.ts'
import { type TempGithub, tempGithub } from './temp-github.ts'
import { GRANTS, WORKFLOW, WORKFLOW_FILE } from './tick-job.ts'
import { releaseTest } from '../support/cases.ts'

let temp: TempGithub
let job: SingleForge
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
  temp.scene.commit('main', { [WORKFLOW_FILE]: WORKFLOW })
  temp.scene.commit('optimize/demo', {}, [temp.scene.tip('main')])
  job = temp.forgeOf(temp.github.jobToken(GRANTS))
})

function machines(): Workflows {
  if (!job.workflows) throw new Error('this forge has no machines')
  return job.workflows
}

describe('requests to GitHub', () => {
  test('of a look while orders are under way are two, and unchanged answers cost nothing', async () => {
    const opens = Array.from({ length: 4 }, (_, index) => `e${index + 1}`)
    for (const branch of opens) temp.commit(branch)
    await job.batch(opens.map(branch => ({ kind: 'open', ...pullOf(branch) })))
    const numbers = opens.map((_, index) => index + 1)
    const id = (await machines().start({ branch: 'optimize/demo', inputs: { title: 'demo' } })) ?? 0
    const look = async () => {
      temp.github.spent()
      await job.list({ numbers, branches: ['optimize-campaign/demo', ...numbers.map(each => `e${each}`)] })
      await machines().run(id)
      return temp.github.spent()
    }
    expect(await look()).toHaveLength(2)
    expect(await look()).toEqual(['POST /graphql'])
  })

  test('of a run are one to start it, one to list what its jobs left, and one for each of them', async () => {
    temp.github.spent()
    const id = await machines().start({ branch: 'optimize/demo', inputs: { title: 'demo' } })
    const run = temp.github.world.runs.find(each => each.id === id)
    if (!run) throw new Error('nothing runs')
    const names = ['report-a', 'report-b', 'report-c']
    const digests = names.map(name => uploadFile(temp.github, run, { name, file: 'report.json', text: name }))
    const found = await machines().artifacts(run.id, names)
    for (const artifact of found) {
      const digest = digests[names.indexOf(artifact.name)] ?? ''
      const taken = await machines().download(artifact, { file: 'report.json', most: 1000, digest })
      expect(taken.ok && Buffer.from(taken.bytes).toString()).toBe(artifact.name)
    }
    expect(temp.github.spent()).toHaveLength(1 + 1 + names.length)
  })

  releaseTest('of an experiment on its pull request are at most eight', async () => {
    const head = temp.commit('e1')
    const check = { name: 'winnow', head, id: 'exp-001', title: 'exp-001' }
    temp.github.spent()
    const number = await job.open(pullOf('e1', { draft: true }))
    await job.check({ ...check, state: 'in-progress', summary: 'being measured' })
    await job.check({ ...check, state: 'success', summary: 'kept' })
    await job.batch([
      { kind: 'update', number, title: 'kept: faster', body: 'kept: 3 % faster' },
      { kind: 'close', number },
    ])
    expect(temp.github.spent().length).toBeLessThanOrEqual(8)
    expect(await temp.only(number)).toMatchObject({
      state: 'closed',
      title: 'kept: faster',
    })
  })

  releaseTest('repeat nothing that is so already', async () => {
    temp.commit('e1')
    const number = await job.open(pullOf('e1'))
    const changes = [
      { kind: 'update', number, body: 'kept' },
      { kind: 'comment', number, body: 'kept: 3 % faster', marker: 'verdict' },
    ] as const
    await job.batch(changes)
    temp.github.spent()
    await job.batch(changes)
    expect(temp.github.spent()).toEqual(['POST /graphql'])
  })

  releaseTest('of many open pull requests go on page by page', async () => {
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
