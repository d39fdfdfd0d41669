import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import type { EmulatedGithub } from '../github/emulator/github.ts'
import type { RunRecord } from '../github/emulator/world.ts'
import { uploadFile } from '../github/measuring-job.ts'
import { job } from '../action/a-campaign.ts'
import { runLocally } from './local-action.ts'

const matrix = z.array(z.object({ slot: z.number(), order: z.string(), title: z.string() }))

interface Needed {
  result: 'success'
  outputs: Record<string, string>
}

interface RunOptions {
  token: string
  /** Commands that local-action runs; the others are started as the runner does. */
  locally: readonly string[]
  /** What the jobs that ask models have in their environment. */
  env?: Record<string, string>
}

/** Does every job of a started run, wired as in winnow.yml, and returns the commands it ran. */
export async function runJobs(
  github: EmulatedGithub,
  run: RunRecord,
  { token, locally, env = {} }: RunOptions,
): Promise<string[]> {
  const commands: string[] = []
  const variables = {
    GITHUB_EVENT_NAME: 'workflow_dispatch',
    GITHUB_REF: `refs/heads/${run.branch}`,
    GITHUB_RUN_ID: String(run.id),
    GITHUB_WORKFLOW_REF: `team/project/.github/workflows/winnow.yml@refs/heads/${run.branch}`,
  }
  async function start(name: string, inputs: Record<string, string>, more: Record<string, string> = {}) {
    const given = { inputs: { ...inputs, command: name }, env: { ...variables, ...more } }
    const ended = locally.includes(name) ? await runLocally(github, given) : await job(github, 'main', given)
    expect({ name, ...ended }).toMatchObject({ name, code: 0 })
    commands.push(name)
    return ended.outputs
  }
  /** Uploads what the step put out; the job puts out the digest of the artifact. */
  const upload = ({ report = '', artifact: name = '' }: Record<string, string>) =>
    uploadFile(github, run, { name, file: basename(report), text: readFileSync(report, 'utf8') })
  run.status = 'in_progress'
  const tick = await start('tick', { 'next-jobs': 'measure, propose, judge', 'github-token': token })
  const { campaign = '', orders = '', propose = '', judge = '', items = '' } = tick
  const needs: Record<string, Needed> = {
    tick: { result: 'success', outputs: { campaign, orders, propose, judge } },
    measure: { result: 'success', outputs: {} },
    propose: { result: 'success', outputs: {} },
    judge: { result: 'success', outputs: {} },
  }
  const putOut = (job: string, name: string, value: string) => {
    const needed = needs[job]
    if (needed !== undefined) needed.outputs[name] = value
  }
  if (propose !== '') putOut('propose', 'digest', upload(await start('propose', { campaign: propose }, env)))
  if (judge !== '') putOut('judge', 'digest', upload(await start('judge', { campaign: judge, items }, env)))
  for (const { slot, order } of orders === '' ? [] : matrix.parse(JSON.parse(orders)))
    putOut('measure', `slot-${slot}`, `success ${upload(await start('measure', { campaign, order }))}`)
  if (commands.length > 1) await start('settle', { jobs: JSON.stringify(needs), 'github-token': token })
  github.finish(run, 'success')
  return commands
}
