import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clonedProject, FILES, offer, SHORT, SPEC } from '../cli/project.ts'
import { jobClone } from './a-job.ts'
import { step } from './a-runner.ts'
import { releaseTest } from '../support/cases.ts'

async function reported(more: Record<string, string> = {}) {
  const person = clonedProject(FILES)
  await person.winnow('run')
  await offer(person, SHORT)
  await person.winnow('run')
  await person.winnow('idea', 'add', '::set-output name=report::/etc/passwd ##[add-mask]x')
  await person.winnow('rebuild')
  const remote = person.git('remote', 'get-url', 'origin')
  const { dir, git } = jobClone(remote, 'main')
  // Nothing is asked of the remote: what the clone has is all there is.
  git('remote', 'set-url', 'origin', 'https://nowhere.invalid/team/project')
  const ended = await step({ inputs: { command: 'report', ...more }, workspace: dir })
  return { ended, remote, person, dir }
}

describe('command report', () => {
  it('says where a campaign stands, from the clone alone: summary, outputs, and the views as files', async () => {
    const { ended, remote, dir } = await reported()
    expect([ended.code, ended.stderr, ended.orders]).toEqual([0, '', []])
    expect(ended.result).toMatchObject({ campaign: 'size', verdicts: { kept: 1 } })
    expect(ended.stdout).toContain('Campaign size (the harness is not probed): running')
    const views = ended.outputs['report'] ?? ''
    expect(readdirSync(views).toSorted()).toEqual([
      'README.md',
      'badge.svg',
      'chart.svg',
      'digest.md',
      'summary.md',
    ])
    const shown = (name: string) => readFileSync(join(views, name), 'utf8')
    const ledger = jobClone(remote, 'optimize-state/size').dir
    for (const name of readdirSync(views)) expect(shown(name)).toBe(readFileSync(join(ledger, name), 'utf8'))
    expect(ended.summary).toContain('## Recently kept')
    expect(ended.outputs['artifact']).toBe('winnow-views-size')
    const named = await step({ inputs: { command: 'report', campaign: 'other' }, workspace: dir })
    expect(named).toMatchObject({ code: 2, outputs: { report: '' } })
    expect(named.orders).toMatchObject([{ data: expect.stringContaining('no ledger of campaign other') }])
  })

  releaseTest('of several campaigns wants to know which', async () => {
    const { remote, person } = await reported()
    person.write('.winnow/other.yaml', SPEC)
    person.git('add', '.')
    person.git('commit', '-qm', 'another')
    person.git('push', '-q', 'origin', 'main')
    await person.winnow('run', '--campaign', 'other')
    const { dir } = jobClone(remote, 'main')
    const open = await step({ inputs: { command: 'report' }, workspace: dir })
    expect(open.orders).toMatchObject([{ data: expect.stringContaining('several campaigns: ') }])
    const named = await step({ inputs: { command: 'report', campaign: 'other' }, workspace: dir })
    expect(named.result).toMatchObject({ campaign: 'other' })
  })

  it('takes no token', async () => {
    const inputs = { command: 'report', 'github-token': 'sentinel' }
    const { code, orders } = await step({ inputs, workspace: tmpdir() })
    expect(code).toBe(2)
    expect(orders).toMatchObject([
      { data: expect.stringContaining('does not accept the input github-token') },
    ])
  })
})
