import { createGithubForge, type GithubForgeOptions } from '../../src/github/github-forge.ts'
import {
  type AnyForge,
  BASE,
  type NewReview,
  only,
  type SingleForge,
  withSingleChanges,
} from '../github/temp-forge.ts'
import { type EmulatedGithub, emulatedGithub } from './emulator/github.ts'
import { type Scene, sceneOf } from './scene.ts'

/** The client as it is, but for the time it lets pass between requests. */
const AT_ONCE = {
  key: () => ({
    schedule: (_: unknown, work: (...given: unknown[]) => unknown, ...given: unknown[]) => work(...given),
  }),
}
export const IMPATIENT = {
  throttle: { write: AT_ONCE, notifications: AT_ONCE, retryAfterBaseValue: 1 },
  retry: { retryAfterBaseValue: 1 },
}

export interface TempGithub extends AnyForge {
  github: EmulatedGithub
  scene: Scene
  /** What the forges told people. */
  said: string[]
  forgeOf(token: string, rest?: Partial<GithubForgeOptions>): SingleForge
}

/** An emulated GitHub with a campaign's branch, and a forge on it. */
export async function tempGithub(): Promise<TempGithub> {
  const github = await emulatedGithub()
  const scene = sceneOf(github)
  const git = (...args: string[]) => scene.git(...args)
  const said: string[] = []
  const tokens = new Map<string, string>()
  let clock = 0
  let commits = 0

  function forgeOf(token: string, rest: Partial<GithubForgeOptions> = {}): SingleForge {
    const forge = createGithubForge({
      apiUrl: `${github.url}/api/v3`,
      repository: 'team/project',
      token,
      version: '0.0.0',
      say: line => void said.push(line),
      patience: IMPATIENT,
      base: BASE,
      monotonic: () => (clock += 1000),
      sleep: async milliseconds => void (clock += milliseconds),
      random: () => 0.5,
      ...rest,
    })
    const review = async (number: number, { commit, state }: NewReview) => {
      const event = state === 'approved' ? 'APPROVE' : 'REQUEST_CHANGES'
      await scene.ask(token, `POST /pulls/${number}/reviews`, { commit_id: commit, event, body: 'hm' })
    }
    return withSingleChanges(forge, review)
  }

  async function other(author: string): Promise<SingleForge> {
    const token = tokens.get(author) ?? github.token(author)
    tokens.set(author, token)
    return forgeOf(token)
  }

  function change() {
    return { [`files/${++commits}`]: `${commits}\n` }
  }

  git('update-ref', `refs/heads/${BASE}`, 'refs/heads/main')
  const forge = await other('ada')
  return {
    github,
    scene,
    said,
    forge,
    git,
    forgeOf,
    other,
    commit: branch => scene.commit(branch, change(), hasBranch(branch) ? undefined : [scene.tip(BASE)]),
    merge: branch => scene.commit(BASE, change(), [scene.tip(BASE), scene.tip(branch)]),
    deleteBranch: branch => void git('update-ref', '-d', `refs/heads/${branch}`),
    writes: () => github.api.log.filter(isWrite).length,
    only: number => only(forge, number),
    remove: () => github.stop(),
  }

  function hasBranch(branch: string): boolean {
    return git('for-each-ref', `refs/heads/${branch}`) !== ''
  }
}

function isWrite({ route, body }: { route: string; body: unknown }): boolean {
  return route.startsWith('POST /graphql')
    ? JSON.stringify(body).includes('mutation')
    : !route.startsWith('GET ')
}
