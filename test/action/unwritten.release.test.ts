import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createKeptFiles } from '../../src/action/saved-files.ts'
import { hideSecrets } from '../../src/action/outputs.ts'
import { listTokenForms } from '../../src/action/drop-secrets.ts'
import { patchOf } from '../support/repository.ts'
import { scratch } from '../git/scratch.ts'
import { waitingRuns } from '../github/measuring-job.ts'
import { job, measuredRun, onGithub, settling, ticking } from './a-campaign.ts'
import type { Ended } from './a-runner.ts'

const NOTHING = [
  { on: 'update', branches: 'optimize-state/*', says: 'Cannot update this protected ref.' },
] as const

function keptBy({ outputs }: Ended) {
  const dir = outputs['report'] ?? ''
  return readdirSync(dir).map(name => ({ name, text: readFileSync(join(dir, name), 'utf8') }))
}

test('a tick whose ledger GitHub refuses hands over what it would have written, and the next one writes it', async () => {
  const { github, token, scene } = await onGithub()
  const idea = patchOf({ 'src/b.txt': ['b'.repeat(20), 'b'] }, { hypothesis: `of ${token}` })
  scene.commit('main', { 'ideas/02.patch': idea })
  const first = await ticking(github, token)
  expect([first.code, first.outputs['report'], first.outputs['artifact']]).toEqual([0, '', ''])
  const [run] = waitingRuns(github)
  if (!run) throw new Error('nothing was started')
  const { needs, env } = await measuredRun(github, token, run)
  const job = { needs, env: { ...env, GITHUB_JOB: 'settle', GITHUB_RUN_ATTEMPT: '2' } }
  github.rule(NOTHING)
  const failed = await settling(github, token, job)
  expect(failed.code).toBe(69)
  expect(failed.result).toMatchObject({ broken: ['size'] })
  expect(failed.outputs['artifact']).toBe('winnow-unwritten-settle-2')
  const [file, ...others] = keptBy(failed)
  expect(others).toEqual([])
  expect(JSON.parse(file?.text ?? '')).toMatchObject({
    campaign: 'size',
    events: expect.arrayContaining([expect.objectContaining({ kind: 'measured' })]),
    by: { run_id: `actions:${run.id}`, attempt: 2 },
  })
  for (const text of [failed.stdout, failed.summary])
    expect(text).toContain(`${file?.name} in the artifact winnow-unwritten-settle-2 of this run.`)
  for (const form of listTokenForms(token)) expect(file?.text).not.toContain(form)
  expect(file?.text).toContain('of ***')

  github.rule([])
  const next = await settling(github, token, job)
  expect([next.code, next.outputs['report']]).toEqual([0, ''])
  expect(next.stdout).toContain('exp-001')
}, 120_000)

test('a job that measures by itself does the same', async () => {
  const { github, token } = await onGithub()
  const run = () => job(github, 'main', { inputs: { command: 'run', 'github-token': token } })
  github.rule([{ on: 'update', branches: 'optimize-state/*', says: 'Not by you.' }])
  const failed = await run()
  expect(failed.code).toBe(69)
  expect(failed.outputs['artifact']).toBe('winnow-unwritten-job-1')
  expect(keptBy(failed)).toHaveLength(1)
  expect(failed.summary).toContain('winnow saved the events')
  github.rule([])
  expect((await run()).result).toMatchObject({ waiting: { for: 'ideas' } })
}, 120_000)

test('no more is kept than an artifact should have, without what is secret, and in no directory that others know', async () => {
  const env = { RUNNER_TEMP: join(scratch(), 'not there yet'), GITHUB_JOB: 'a/../b' }
  hideSecrets(['s3cret-of-a-token'])
  const kept = createKeptFiles(env)
  expect(kept.tell()).toEqual({})
  expect(await kept.keep('a.json', '"s3cret-of-a-token"')).toBe('a.json of artifact winnow-unwritten-ab-1')
  await kept.keep('b.json', 'x'.repeat(20 * 1024 * 1024))
  await kept.keep('b.json', 'x'.repeat(21 * 1024 * 1024))
  await expect(kept.keep('c.json', 'x'.repeat(20 * 1024 * 1024))).rejects.toThrow('there would be more than')
  const { report = '', artifact } = kept.tell()
  expect([readdirSync(report), artifact]).toEqual([['a.json', 'b.json'], 'winnow-unwritten-ab-1'])
  expect(readFileSync(join(report, 'a.json'), 'utf8')).toBe('"***"')
  expect(createKeptFiles(env).tell()).toEqual({})
})
