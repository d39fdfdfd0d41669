import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { offer, project, SHORT } from '../cli/project.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const action = z
  .object({
    inputs: z.record(z.string(), z.object({ description: z.string(), default: z.never().optional() })),
    outputs: z.record(z.string(), z.object({ value: z.string() })),
    runs: z.object({
      using: z.literal('composite'),
      steps: z.tuple([z.object({ env: z.record(z.string(), z.string()), run: z.string() })]),
    }),
  })
  .parse(parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')))
const [step] = action.runs.steps

/** The step as a runner runs it: the script by bash, the inputs as its environment, outputs in a file. */
function act(directory: string, inputs: { command: string; campaign?: string; directory?: string }) {
  const home = mkdtempSync(join(tmpdir(), 'winnow-action-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const output = join(home, 'output')
  writeFileSync(output, '')
  const { command: COMMAND, campaign: CAMPAIGN = '', directory: DIRECTORY = '' } = inputs
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, GITHUB_OUTPUT: output, ACTION: ROOT }
  const { status, stdout } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', step.run], {
    cwd: directory,
    env: { ...env, COMMAND, CAMPAIGN, DIRECTORY },
    encoding: 'utf8',
  })
  const written = readFileSync(output, 'utf8')
  const answer = /^result-json<<(.+)\n([\s\S]*)\n\1\n$/.exec(written)?.[2] ?? null
  return { status, stdout, answer: answer === null || answer === '' ? null : JSON.parse(answer) }
}

async function campaign() {
  const person = project()
  await person.winnow('run')
  await offer(person, SHORT)
  await person.winnow('run')
  return person
}

describe('the action', () => {
  it('passes every input as a variable, and nothing of one into the script', () => {
    expect(step.run).not.toContain('${{')
    for (const name of Object.keys(action.inputs))
      expect(Object.values(step.env)).toContain(`\${{ inputs.${name} }}`)
  })

  it('proves a campaign, and says where it stands', async () => {
    const { dir } = await campaign()
    expect(act(dir, { command: 'audit' })).toMatchObject({ status: 0, answer: { ok: true } })
    expect(act(dir, { command: 'replay' })).toMatchObject({ status: 0, answer: { ok: true } })
    const elsewhere = { command: 'status', directory: dir, campaign: 'size' }
    expect(act(tmpdir(), elsewhere)).toMatchObject({ status: 0, answer: { campaign: 'size' } })
  })

  it('checks a spec without running anything of it', async () => {
    const person = project()
    person.write('.winnow/size.yaml', 'winnow: 1\nscoop: {}\n')
    expect(act(person.dir, { command: 'check' }).status).toBe(2)
  })

  it.each(['run', 'measure', 'status; touch injected', '$(touch injected)', ''])('refuses %j', command => {
    const { dir } = project()
    const { status, stdout, answer } = act(dir, { command })
    expect([status, answer]).toEqual([2, null])
    expect(stdout).toContain('::error::winnow: command is')
    expect(spawnSync('ls', [join(dir, 'injected')]).status).not.toBe(0)
  })
})
