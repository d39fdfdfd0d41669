import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Workflows } from '../../src/forge/port.ts'
import type { RunRecord } from './emulator/world.ts'
import { type TempGithub, tempGithub } from './temp-github.ts'
import { MEASURE } from './tick-job.ts'

const FILE = 'winnow-measure.yml'
const BRANCH = 'optimize/demo'
const PARCEL = { file: 'report.json', most: 300 }

let temp: TempGithub
let machines: Workflows
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
  temp.scene.commit('main', { [`.github/workflows/${FILE}`]: MEASURE })
  temp.scene.commit(BRANCH, {}, [temp.scene.tip('main')])
  const job = temp.forgeOf(temp.github.jobToken({ actions: 'write' }))
  if (!job.workflows) throw new Error('this forge has no machines')
  machines = job.workflows
})

function order(name: string) {
  return { workflow: FILE, branch: BRANCH, name, inputs: { order: name } }
}

function recorded(id: number): RunRecord {
  const found = temp.github.world.runs.find(each => each.id === id)
  if (!found) throw new Error(`there is no run ${id}`)
  return found
}

describe('a run', () => {
  test('is asked for and named by its order', async () => {
    const id = await machines.dispatch(order('o-1'))
    const head = temp.scene.tip(BRANCH)
    const expected = { id, name: 'o-1', branch: BRANCH, head, attempt: 1, conclusion: null }
    expect(await machines.runs({ workflow: FILE, branch: BRANCH })).toEqual([expected])
    temp.github.finish(recorded(id), 'failure')
    expect(await machines.runs({ workflow: FILE, branch: BRANCH })).toMatchObject([{ conclusion: 'failure' }])
  })

  test('is found by its name where GitHub does not say its id', async () => {
    temp.github.world.settings.dispatchNamesRun = false
    await machines.dispatch(order('o-1'))
    expect(await machines.dispatch(order('o-2'))).toBe(temp.github.world.runs[1]?.id)
  })

  test('is asked for in the older way where the newer one is not known', async () => {
    temp.github.world.settings.dispatchNamesRun = false
    const message = 'Invalid request.\n\n"return_run_details" is not a permitted key.'
    temp.github.api.intercept = ({ body }) =>
      JSON.stringify(body ?? {}).includes('return_run_details')
        ? { status: 422, body: { message, documentation_url: '' } }
        : null
    expect(await machines.dispatch(order('o-1'))).toBe(temp.github.world.runs[0]?.id)
  })

  test('that never appears is said to be missing', async () => {
    temp.github.world.settings.dispatchNamesRun = false
    await expect(machines.dispatch({ ...order('o-1'), inputs: {} })).rejects.toThrow(/no run is named o-1/)
  })

  test('of the same name from another branch, event or file is not it', async () => {
    const id = await machines.dispatch(order('o-1'))
    const forged = { ...recorded(id), title: 'o-1' }
    const { world } = temp.github
    world.runs.push({ ...forged, id: 1, branch: 'optimize-exp/demo/exp-001' })
    world.runs.push({ ...forged, id: 2, event: 'pull_request' })
    world.runs.push({ ...forged, id: 3, path: `.github/workflows/other/${FILE}` })
    expect((await machines.runs({ workflow: FILE, branch: BRANCH })).map(run => run.id)).toEqual([id])
  })

  test('is cancelled, and once it has ended left alone', async () => {
    const id = await machines.dispatch(order('o-1'))
    await machines.cancel(id)
    await machines.cancel(id)
    await machines.cancel(999_999)
    expect(recorded(id).conclusion).toBe('cancelled')
  })

  test('of a workflow that is not there is a refusal that says so', async () => {
    const missing = { ...order('o-1'), workflow: 'nothing.yml' }
    await expect(machines.dispatch(missing)).rejects.toThrow(/dispatches: it is not there/)
  })
})

describe('an artifact', () => {
  async function left(files: Record<string, string>) {
    const run = recorded(await machines.dispatch(order('o-1')))
    temp.github.finish(run, 'success', { 'winnow-report': files, logs: { 'log.txt': 'x' } })
    const [artifact] = await machines.artifacts({ run: run.id, name: 'winnow-report' })
    if (!artifact) throw new Error('nothing was left')
    expect(artifact).toMatchObject({ name: 'winnow-report', run: run.id, expired: false })
    return artifact
  }

  test('is taken from its archive, and asked for without the token', async () => {
    const artifact = await left({ 'report.json': '{"schema":1}' })
    const got = await machines.download(artifact, PARCEL)
    expect(got.ok && Buffer.from(got.bytes).toString()).toBe('{"schema":1}')
  })

  test('that claims to be small and is not, is not read to its end', async () => {
    const artifact = await left({ 'report.json': Array.from({ length: 999 }, Math.random).join() })
    expect(await machines.download(artifact, PARCEL)).toMatchObject({
      why: expect.stringMatching(/larger than 300/),
    })
    const lied = await machines.download({ ...artifact, bytes: 1 }, PARCEL)
    expect(lied).toEqual({ ok: false, why: 'it is larger than 300 bytes' })
  })

  test('that has expired is no failure of anything', async () => {
    const artifact = await left({ 'report.json': '{}' })
    const why = 'it has expired'
    expect(await machines.download({ ...artifact, expired: true }, PARCEL)).toEqual({ ok: false, why })
    for (const each of temp.github.world.artifacts) each.expired = true
    expect(await machines.download(artifact, { ...PARCEL, most: 10_000 })).toEqual({ ok: false, why })
  })
})
