import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { jobClone } from '../action/a-job.ts'
import { outputsIn } from '../action/a-runner.ts'
import { scratch } from '../git/scratch.ts'
import type { EmulatedGithub } from '../github/emulator/github.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const LOCAL_ACTION = join(ROOT, 'node_modules/@github/local-action/bin/local-action.js')
/** Lets no time pass between requests that GitHub wants apart. */
const HURRIED = join(ROOT, 'test/action/hurried.cjs')

export interface LocalRun {
  code: number | null
  /** What local-action and the action printed. */
  printed: string
  outputs: Record<string, string>
  result: unknown
}

/**
 * Runs the action by github/local-action, in a clone of this branch. local-action has to stand in this repository, where it
 * finds itself, so the clone is named by the input `directory`; everything else stands in a file that it reads, as people
 * would write one.
 */
export async function runLocally(
  github: EmulatedGithub,
  given: { branch?: string; inputs: Record<string, string>; env?: Record<string, string> },
): Promise<LocalRun> {
  const { dir, git } = jobClone(github.bare, given.branch ?? 'main')
  const { url } = github.world
  git('remote', 'set-url', 'origin', `${url}/team/project`)
  const home = scratch('winnow-local-action-')
  mkdirSync(join(home, 'temp'))
  const files = { GITHUB_OUTPUT: join(home, 'output'), GITHUB_STEP_SUMMARY: join(home, 'summary') }
  for (const file of Object.values(files)) writeFileSync(file, '')
  const inputs = { ...given.inputs, directory: dir }
  const variables = {
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: `${url}/api/v3`,
    GITHUB_SERVER_URL: url,
    GITHUB_REPOSITORY: 'team/project',
    GITHUB_RUN_ID: '4711',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_ACTOR: 'ada',
    GITHUB_WORKSPACE: dir,
    RUNNER_TEMP: join(home, 'temp'),
    WINNOW_REMOTE_TIMEOUT: '600',
    ...files,
    ...given.env,
    ...Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
    ),
  }
  const file = join(home, '.env')
  writeFileSync(
    file,
    Object.entries(variables)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(''),
  )
  const child = spawn(process.execPath, [LOCAL_ACTION, ROOT, 'test/local-action/entry.mjs', file], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      NODE_OPTIONS: `--require ${HURRIED}`,
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const outputs = outputsIn(readFileSync(files.GITHUB_OUTPUT, 'utf8'))
  const result = outputs['result-json'] ?? ''
  return {
    code: child.exitCode,
    printed: `${stdout}${stderr}`,
    outputs,
    result: result === '' ? null : JSON.parse(result),
  }
}
