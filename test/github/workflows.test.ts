import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Workflows } from '../../src/github/port.ts'
import type { RunRecord } from './emulator/world.ts'
import { uploadFile } from './measuring-job.ts'
import { type TempGithub, tempGithub } from './temp-github.ts'
import { WORKFLOW, WORKFLOW_FILE } from './tick-job.ts'

const BRANCH = 'optimize/demo'
const WANTED = { branch: BRANCH, inputs: { title: 'demo: measure exp-001' } }

let temp: TempGithub
let machines: Workflows
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
  temp.scene.commit('main', { [WORKFLOW_FILE]: WORKFLOW })
  temp.scene.commit(BRANCH, {}, [temp.scene.tip('main')])
  machines = workflowsOf()
})

function workflowsOf(rest: { workflowFile?: string } = {}): Workflows {
  const job = temp.forgeOf(temp.github.jobToken({ actions: 'write' }), rest)
  if (!job.workflows) throw new Error('this forge has no machines')
  return job.workflows
}

function recorded(id: number | null): RunRecord {
  const found = temp.github.world.runs.find(each => each.id === id)
  if (!found) throw new Error(`there is no run ${id}`)
  return found
}

describe('a run', () => {
  test('is started with a title, and looked at by its id', async () => {
    const run = recorded(await machines.start(WANTED))
    expect(run).toMatchObject({ title: 'demo: measure exp-001', branch: BRANCH, event: 'workflow_dispatch' })
    expect(await machines.run(run.id)).toEqual({ id: run.id, attempt: 1, conclusion: null })
    temp.github.finish(run, 'failure')
    expect(await machines.run(run.id)).toEqual({ id: run.id, attempt: 1, conclusion: 'failure' })
    expect(await machines.run(999_999)).toBeNull()
  })

  test('has no id where the server does not tell it', async () => {
    temp.github.world.settings.dispatchNamesRun = false
    expect(await machines.start(WANTED)).toBeNull()
    expect(temp.github.world.runs).toHaveLength(1)
  })

  test('is started in the older way where the server does not know the newer one', async () => {
    temp.github.world.settings.dispatchNamesRun = false
    const message = 'Invalid request.\n\n"return_run_details" is not a permitted key.'
    temp.github.api.intercept = ({ body }) =>
      JSON.stringify(body ?? {}).includes('return_run_details')
        ? { status: 422, body: { message, documentation_url: '' } }
        : null
    expect(await machines.start(WANTED)).toBeNull()
    expect(temp.github.world.runs).toHaveLength(1)
  })

  test('is one of the file that this job is of, whatever its name', async () => {
    const file = '.github/workflows/faster.yml'
    temp.scene.commit('main', { [file]: WORKFLOW })
    temp.scene.commit(BRANCH, { [file]: WORKFLOW })
    const run = recorded(await workflowsOf({ workflowFile: 'faster.yml' }).start(WANTED))
    expect(run.path).toBe(file)
  })

  test('is cancelled, and once it has ended left alone', async () => {
    const run = recorded(await machines.start(WANTED))
    await machines.cancel(run.id)
    await machines.cancel(run.id)
    await machines.cancel(999_999)
    expect(run.conclusion).toBe('cancelled')
  })

  test('at a branch that GitHub does not know yet is started a moment later, and refused where it never does', async () => {
    let refusals = 1
    temp.github.api.intercept = (_, route) =>
      route.endsWith('/dispatches') && refusals-- > 0
        ? { status: 422, body: { message: `No ref found for: ${BRANCH}`, documentation_url: '' } }
        : null
    expect(recorded(await machines.start(WANTED)).branch).toBe(BRANCH)
    await expect(machines.start({ ...WANTED, branch: 'optimize/none' })).rejects.toThrow(/No ref found/)
    expect(temp.github.world.runs).toHaveLength(1)
  })

  test('of a workflow that is not there is a refusal that says so', async () => {
    const missing = workflowsOf({ workflowFile: 'nothing.yml' })
    await expect(missing.start(WANTED)).rejects.toThrow(
      /it does not exist.*merge the default branch, with the nothing\.yml .* into optimize\//,
    )
  })

  test('of a file without the trigger there says what to merge', async () => {
    const message = "Workflow does not have 'workflow_dispatch' trigger"
    temp.github.api.intercept = (_, route) =>
      route.endsWith('/dispatches') ? { status: 422, body: { message, documentation_url: '' } } : null
    await expect(machines.start(WANTED)).rejects.toThrow(
      /merge the default branch, with the .* into optimize\//,
    )
  })
})

describe('an artifact', () => {
  const PARCEL = { file: 'report.json', most: 300 }

  async function left(text: string) {
    const run = recorded(await machines.start(WANTED))
    const digest = uploadFile(temp.github, run, { name: 'report', file: 'report.json', text })
    uploadFile(temp.github, run, { name: 'logs', file: 'log.txt', text: 'x' })
    const [artifact, ...others] = await machines.artifacts(run.id, ['report'])
    if (!artifact) throw new Error('nothing was left')
    expect(others).toEqual([])
    expect(artifact).toMatchObject({ name: 'report', expired: false, digest })
    return { run, artifact, digest }
  }

  test('is taken from its archive, and fetched without the token', async () => {
    const { artifact, digest } = await left('{"schema":1}')
    const got = await machines.download(artifact, { ...PARCEL, digest })
    expect(got.ok && Buffer.from(got.bytes).toString()).toBe('{"schema":1}')
  })

  test('that was replaced since is not taken, whatever the list says of it', async () => {
    const { artifact, digest } = await left('{"schema":1}')
    const why = 'it is not the archive that its job uploaded: the digests differ'
    const other = 'e'.repeat(64)
    expect(await machines.download(artifact, { ...PARCEL, digest: other })).toEqual({ ok: false, why })
    const [record] = temp.github.world.artifacts.filter(({ name }) => name === 'report')
    if (record) record.bytes = Uint8Array.from(record.bytes).fill(1, 40, 44)
    expect(await machines.download(artifact, { ...PARCEL, digest })).toEqual({ ok: false, why })
    // Enterprise Servers may not say a digest: that of the bytes is compared all the same.
    const silent = { ...artifact, digest: null }
    expect(await machines.download(silent, { ...PARCEL, digest })).toEqual({ ok: false, why })
  })

  test('is found among however many others its run uploaded', async () => {
    const { run, artifact } = await left('{}')
    for (let count = 0; count < 120; count++) temp.github.upload(run, `noise-${count}`, new Uint8Array(1))
    temp.github.spent()
    expect(await machines.artifacts(run.id, ['report', 'nothing'])).toEqual([artifact])
    expect(temp.github.spent()).toHaveLength(3)
  })

  test('of a run that was deleted is none, and no failure', async () => {
    const { run } = await left('{}')
    temp.github.world.runs.splice(temp.github.world.runs.indexOf(run), 1)
    expect(await machines.artifacts(run.id, ['report'])).toEqual([])
  })

  test('that claims to be small and is not, is not read to its end', async () => {
    const { artifact, digest } = await left(Array.from({ length: 999 }, Math.random).join())
    const parcel = { ...PARCEL, digest }
    expect(await machines.download(artifact, parcel)).toMatchObject({
      why: expect.stringMatching(/larger than 300/),
    })
    const lied = await machines.download({ ...artifact, bytes: 1 }, parcel)
    expect(lied).toEqual({ ok: false, why: 'it is larger than 300 bytes' })
  })

  test('that has expired is no failure of anything', async () => {
    const { artifact, digest } = await left('{}')
    const why = 'it has expired'
    const parcel = { ...PARCEL, most: 10_000, digest }
    expect(await machines.download({ ...artifact, expired: true }, parcel)).toEqual({ ok: false, why })
    for (const each of temp.github.world.artifacts) each.expired = true
    expect(await machines.download(artifact, parcel)).toEqual({ ok: false, why })
  })
})
