import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { pullOf, type SingleForge } from '../github/temp-forge.ts'
import { type Fault, type FaultProxy, faultProxy } from '../servers/fault-proxy.ts'
import { IMPATIENT, type TempGithub, tempGithub } from './temp-github.ts'
import { uploadFile } from './measuring-job.ts'
import { GRANTS, WORKFLOW, WORKFLOW_FILE } from './tick-job.ts'
import { selectCases } from '../support/cases.ts'

const FAULTS: [string, Fault][] = [
  ['is reset before it arrives', 'reset'],
  ['arrives and its answer is lost', 'lost'],
  ['is answered by half', 'cut'],
  ['is answered by a gateway with 502', { status: 502 }],
  ['is answered too late', { delay: 400 }],
]

let temp: TempGithub
let proxy: FaultProxy
let job: SingleForge
beforeEach(async () => {
  temp = await tempGithub()
  proxy = await faultProxy(temp.github.url)
  temp.github.world.url = proxy.url
  onTestFinished(async () => {
    await proxy.stop()
    await temp.remove()
  })
  temp.scene.commit('main', { [WORKFLOW_FILE]: WORKFLOW })
  temp.scene.commit('optimize/demo', {}, [temp.scene.tip('main')])
  const patience = { ...IMPATIENT, timeoutMs: 300 }
  job = temp.forgeOf(temp.github.jobToken(GRANTS), { apiUrl: `${proxy.url}/api/v3`, patience })
})

/** The whole life of an experiment on GitHub, as the engine takes it there. */
async function live(): Promise<void> {
  const { workflows } = job
  const head = temp.scene.tip('e1')
  const number = await job.open(pullOf('e1', { draft: true }))
  const check = { name: 'winnow', head, id: 'exp-001', title: 'exp-001' }
  await job.check({ ...check, state: 'in-progress', summary: 'being measured' })
  const id = await workflows?.start({ branch: 'optimize/demo', inputs: { title: 'measure e1' } })
  const run = temp.github.world.runs.find(each => each.id === id)
  if (!run) throw new Error('nothing runs')
  const digest = uploadFile(temp.github, run, { name: 'report', file: 'report.json', text: '{}' })
  temp.github.finish(run, 'success')
  expect(await workflows?.run(run.id)).toEqual({ id, attempt: 1, conclusion: 'success' })
  const [artifact] = (await workflows?.artifacts(run.id, ['report'])) ?? []
  if (!artifact) throw new Error('nothing was left')
  const taken = await workflows?.download(artifact, { file: 'report.json', most: 1000, digest })
  expect(taken?.ok).toBe(true)
  await job.check({ ...check, state: 'success', summary: 'kept' })
  await job.batch([
    { kind: 'update', number, body: 'kept' },
    { kind: 'comment', number, body: 'kept: 3 % faster', marker: 'verdict' },
    { kind: 'close', number },
  ])
  await workflows?.cancel(run.id)
}

/** Everything once, whatever happened on the way. */
function whatIsThere() {
  const { pulls, comments, runs, checks } = temp.github.world
  return {
    pulls: pulls.map(({ number, state, body }) => ({ number, state, body })),
    comments: comments.map(({ body }) => body.split('\n')[0]),
    // Where an answer was lost another one was started, which will find nothing to do.
    runs: [...new Set(runs.map(({ title }) => title))],
    checks: [...new Set(checks.map(({ name }) => name))],
    conclusions: checks.map(({ conclusion }) => conclusion).slice(0, 1),
  }
}

const ONCE = {
  pulls: [{ number: 1, state: 'closed', body: 'kept' }],
  comments: ['kept: 3 % faster'],
  runs: ['measure e1'],
  checks: ['winnow'],
  conclusions: ['success'],
}

describe('an experiment on GitHub where each request once', () => {
  test.each(selectCases(FAULTS, 2))('%s is still done once', async (_, fault) => {
    temp.commit('e1')
    const broken = new Set<string>()
    proxy.fault = (method, path) => {
      const kind = `${method} ${path.replace(/\d+/g, 'n')}`
      if (broken.has(kind)) return null
      broken.add(kind)
      return fault
    }
    await live()
    expect(broken.size).toBeGreaterThan(10)
    expect(whatIsThere()).toEqual(ONCE)
  })

  test('goes wrong for good says so, and the next attempt finishes it', async () => {
    temp.commit('e1')
    let left = 100_000
    proxy.fault = (method, path) =>
      method === 'POST' && path.endsWith('/comments') && left-- > 0 ? 'reset' : null
    await expect(live()).rejects.toMatchObject({ name: 'ForgeError' })
    left = 0
    await live()
    expect(whatIsThere()).toEqual(ONCE)
  })
})
