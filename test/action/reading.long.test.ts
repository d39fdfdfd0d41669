import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clonedProject, FILES, offer, SHORT } from '../cli/project.ts'
import { scratch } from '../git/scratch.ts'
import { jobClone } from './a-job.ts'
import { step } from './a-runner.ts'

const UNREACHABLE = 'https://nowhere.invalid/team/project'

/** What actions/checkout leaves of a private repository with a campaign: nobody answers at its address. */
async function privateClone() {
  const person = clonedProject(FILES)
  await person.winnow('run')
  await offer(person, SHORT)
  await person.winnow('run')
  const remote = person.git('remote', 'get-url', 'origin')
  const { dir, git } = jobClone(remote, 'main')
  git('remote', 'set-url', 'origin', UNREACHABLE)
  return { remote, dir, git }
}
const read = (command: string, workspace: string, env: Record<string, string> = {}) =>
  step({ inputs: { command }, workspace, env })

describe('commands that only read', () => {
  it('read the clone alone, without a token, and leave it as it was', async () => {
    const { remote, dir, git } = await privateClone()
    const show = () => [git('for-each-ref'), git('config', '--list'), git('status', '--porcelain')]
    const before = show()
    const expected = {
      audit: { ok: true },
      replay: { ok: true },
      status: { campaign: 'size', verdicts: { kept: 1 } },
      check: {},
    }
    for (const [command, result] of Object.entries(expected))
      expect(await read(command, dir)).toMatchObject({ code: 0, stderr: '', orders: [], result })
    expect(show()).toEqual(before)

    git('update-ref', 'refs/remotes/origin/trunk', 'refs/remotes/origin/main')
    git('update-ref', '-d', 'refs/remotes/origin/main')
    git('checkout', '-q', '--detach', 'refs/remotes/origin/trunk')
    const event = join(scratch('winnow-event-'), 'event.json')
    writeFileSync(event, JSON.stringify({ repository: { default_branch: 'trunk' } }))
    expect(await read('audit', dir, { GITHUB_EVENT_PATH: event })).toMatchObject({ code: 0 })

    const shallow = join(scratch('winnow-shallow-'), 'clone')
    execFileSync('git', ['clone', '-q', '--depth=1', `file://${remote}`, shallow])
    const { code, orders } = await read('audit', shallow)
    expect(code).toBe(2)
    expect(orders).toMatchObject([{ data: expect.stringContaining('fetch-depth: 0') }])
  })

  it('audits as the inputs ask, and says which of them another command does not have', async () => {
    const { dir } = await privateClone()
    const inputs = { command: 'audit', 'require-attested': 'true' }
    const audited = await step({ inputs, workspace: dir })
    expect(audited).toMatchObject({ code: 1, result: { ok: false, attestation: { verified: true } } })
    const refused = async (given: Record<string, string>) => {
      const { code, orders } = await step({ inputs: given, workspace: dir })
      return [code, orders.map(({ data }) => data).join()]
    }
    expect(await refused({ ...inputs, command: 'status' })).toEqual([
      2,
      expect.stringContaining('command status has no input require-attested'),
    ])
    expect(await refused({ command: 'audit', 'trusted-root': 'roots.jsonl' })).toEqual([
      2,
      expect.stringContaining('the input trusted-root needs require-attested'),
    ])
    expect(await refused({ ...inputs, 'require-attested': 'yes please' })).toEqual([
      2,
      expect.stringContaining('the input require-attested is "yes please"'),
    ])
  })

  it('take no token', async () => {
    const inputs = { command: 'status', 'github-token': 'sentinel-token' }
    const { code, orders } = await step({ inputs, workspace: scratch() })
    expect(code).toBe(2)
    expect(orders).toMatchObject([
      { command: 'error', data: expect.stringContaining('does not accept the input github-token') },
    ])
  })
})
