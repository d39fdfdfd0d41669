import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { RIGHTS } from '../../src/setup/github/permissions.ts'
import { SIZE_FILES, SIZE_SPEC, shorter } from '../engine/size-yard.ts'
import { type EmulatedGithub, emulatedGithub } from '../github/emulator/github.ts'
import type { Account, RunRecord } from '../github/emulator/world.ts'
import { sceneOf } from '../github/scene.ts'
import { WORKFLOW, WORKFLOW_FILE } from '../github/tick-job.ts'
import { jobClone } from './a-job.ts'
import { type Ended, type Step, step } from './a-runner.ts'

type Grants = NonNullable<Account['grants']>

/** What the workflows give the job of tick, and nothing more. */
export function tickGrants(): Grants {
  const given = Object.entries(RIGHTS.tick.permissions)
  return Object.fromEntries(given.map(([name, [level]]) => [name.replaceAll('-', '_'), level]))
}

/** A repository with a spec, an idea and the workflow that measures; nothing ran yet. */
export async function onGithub(files: Record<string, string> = {}, grants: Grants = tickGrants()) {
  const github = await emulatedGithub()
  onTestFinished(() => github.stop())
  // Comments count from the beginning of the campaign on.
  github.world.clock = Date.now() + 3_600_000
  const scene = sceneOf(github)
  scene.commit('main', {
    ...SIZE_FILES,
    '.winnow/size.yaml': SIZE_SPEC,
    [WORKFLOW_FILE]: WORKFLOW,
    'ideas/01.patch': shorter('a', 3),
    ...files,
  })
  return { github, scene, token: github.jobToken(grants) }
}

/** A job of winnow.yml or winnow-measure.yml: its clone, and the real bundle started as a runner starts it. */
export async function job(
  github: EmulatedGithub,
  branch: string,
  given: Omit<Step, 'workspace'>,
): Promise<Ended> {
  const { dir, git } = jobClone(github.bare, branch)
  // Where GitHub says that it is, which something may stand before.
  const { url } = github.world
  git('remote', 'set-url', 'origin', `${url}/team/project`)
  const env = {
    GITHUB_API_URL: `${url}/api/v3`,
    GITHUB_SERVER_URL: url,
    GITHUB_REPOSITORY: 'team/project',
    GITHUB_RUN_ID: '4711',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_ACTOR: 'ada',
    ...given.env,
  }
  const ended = await step({ ...given, workspace: dir, env })
  expect(git('config', '--list')).not.toContain('xtraheader')
  return ended
}

export function ticking(
  github: EmulatedGithub,
  token: string,
  env: Record<string, string> = {},
  inputs: Record<string, string> = {},
): Promise<Ended> {
  return job(github, 'main', { inputs: { command: 'tick', 'github-token': token, ...inputs }, env })
}

export async function measuring(github: EmulatedGithub, run: RunRecord): Promise<void> {
  const env = { GITHUB_RUN_ID: String(run.id), GITHUB_REF: `refs/heads/${run.branch}` }
  const inputs = { command: 'measure', campaign: 'size', order: run.title }
  const { outputs } = await job(github, run.branch, { inputs, env })
  const file = outputs['report'] ?? ''
  github.finish(run, 'success', {
    [outputs['artifact'] ?? '']: { [basename(file)]: readFileSync(file, 'utf8') },
  })
}
