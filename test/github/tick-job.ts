import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { createGithubForge } from '../../src/github/github-forge.ts'
import type { Forge } from '../../src/github/port.ts'
import { type CampaignRefs, toShortRef } from '../../src/model/ids.ts'
import { type SizeOptions, createSizeRepository } from '../support/size-repository.ts'
import { BEGINNING } from '../support/campaign-client.ts'
import type { TestRepository } from '../support/repository.ts'
import { type EmulatedGithub, emulatedGithub } from './emulator/github.ts'
import { commitDateAt } from './emulator/world.ts'
import { type Scene, sceneOf } from './scene.ts'
import { IMPATIENT } from './temp-github.ts'

/** What winnow.yml asks for its job. */
export const GRANTS = {
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  actions: 'write',
  checks: 'write',
} as const

/** As much of the workflow file as starting its runs takes. */
export const WORKFLOW_FILE = '.github/workflows/winnow.yml'
export const WORKFLOW = `on: { workflow_dispatch: { inputs: { title: {} } } }
run-name: \${{ inputs.title }}
`

export interface TickJob {
  github: EmulatedGithub
  testRepository: TestRepository
  scene: Scene
  token: string
  /** What git speaks to the remote with. */
  env: Record<string, string>
  forge: (refs: CampaignRefs) => Forge
}

/** A campaign's repository whose remote and pull requests are on the emulated GitHub, and the token of one job there. */
export async function tickJob(
  ideas: readonly string[],
  { grants = GRANTS, ...options }: SizeOptions & { grants?: Partial<typeof GRANTS> } = {},
): Promise<TickJob> {
  const github = await emulatedGithub()
  if (options.seed !== undefined) github.world.commitDate = commitDateAt(Date.parse(BEGINNING))
  onTestFinished(() => github.stop())
  const testRepository = await createSizeRepository(ideas, { ...options, remote: true })
  execFileSync('git', ['-C', testRepository.repo, 'push', '-q', github.bare, 'main'])
  const token = github.jobToken(grants)
  const { url, env } = github.remote(token)
  testRepository.git('remote', 'set-url', 'origin', url)
  const forge = (refs: CampaignRefs) =>
    createGithubForge({
      apiUrl: `${github.url}/api/v3`,
      serverUrl: github.url,
      repository: 'team/project',
      token,
      version: '0.0.0',
      say: () => undefined,
      patience: IMPATIENT,
      base: toShortRef(refs.optimize),
      monotonic: () => performance.now(),
      sleep: hurried,
      random: Math.random,
    })
  return {
    github,
    testRepository,
    scene: sceneOf(github),
    token,
    env,
    forge,
  }
}

function hurried(milliseconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, Math.min(milliseconds, 20)))
}
