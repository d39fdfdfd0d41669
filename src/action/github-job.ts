import { randomBytes } from 'node:crypto'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { createPublicRegistries } from '../dependencies/registries.ts'
import { withGitAccess } from '../engine/git-access.ts'
import { createGithubForge, WORKFLOW_FILE } from '../forge/github/forge.ts'
import { requireSendable } from '../forge/github/sendable-token.ts'
import { createWebFetch } from '../forge/web.ts'
import { findProxy } from '../git/proxy.ts'
import { toShortRef } from '../model/refs.ts'
import type { Clock } from '../ports.ts'
import type { Call } from '../verbs/call.ts'
import { VERSION } from '../version.ts'
import type { Task } from './commands.ts'
import type { ActionEnv, Inputs } from './inputs.ts'
import { readAttempt, readRunId } from './run-id.ts'
import { toLogLine } from './runner-protocol.ts'
import { sleepUntilAborted } from './waiting.ts'

/** The repository that a job of GitHub Actions is about, and what it may speak to it with. */
export interface GithubJob {
  apiUrl: string
  serverUrl: string
  repository: string
  token: string
  /** Of a GitHub App, for what the job's own never may; null where none was given. */
  appToken: string | null
  /** The name of the workflow file that this job is of. */
  workflowFile: string
}

/** Read from what the runner sets, which no branch can change. */
export function readGithubJob({ inputs, env }: Task): GithubJob {
  const token = inputs['github-token']
  if (token === '') {
    throw new UserError(`command ${inputs.command} needs the input github-token`, {
      fix: 'with: { github-token: ${{ github.token }} }, and the permissions of the table in docs/github.md',
    })
  }
  requireSendable(token)
  const appToken = readAppToken(inputs)
  const { GITHUB_REPOSITORY: repository = '', GITHUB_API_URL, GITHUB_SERVER_URL } = env
  if (repository === '')
    throw new UserError('GITHUB_REPOSITORY is not set: this command runs in a job of GitHub Actions')
  const serverUrl = (GITHUB_SERVER_URL || 'https://github.com').replace(/\/+$/, '')
  const apiUrl = GITHUB_API_URL || 'https://api.github.com'
  // One that cannot be used is told before anything is asked by it, and not with each request.
  findProxy(apiUrl, env)
  return { apiUrl, serverUrl, repository, token, appToken, workflowFile: parseWorkflowFile(env) }
}

/** `owner/name/.github/workflows/file.yml@ref`: a maintainer may have given the file another name. */
function parseWorkflowFile({ GITHUB_WORKFLOW_REF: ref = '' }: ActionEnv): string {
  return /\/\.github\/workflows\/([^/@]+)@/.exec(ref)?.[1] ?? WORKFLOW_FILE
}

/** Drafts and their branches are those of github-token: an App's there would start every workflow on them, with its secrets. */
function readAppToken({ 'app-token': given, 'github-token': token }: Inputs): string | null {
  if (given === '') return null
  requireSendable(given)
  if (given !== token) return given
  throw new UserError('app-token and github-token are the same token', {
    fix: "give the job's own as github-token: ${{ github.token }}, and the App's as app-token alone",
  })
}

/** What verbs work with, in a job: pull requests are GitHub's, and git has the token for this server alone. */
export function buildJobEnvironment(task: Task, job: GithubJob): Call['around'] {
  const { inputs, env } = task
  const { apiUrl, serverUrl, repository, token, appToken, workflowFile } = job
  const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now(), sleep: sleepUntilAborted }
  const say = (line: string) => console.log(toLogLine(line))
  const debug = isDebugging(env) ? { debug: say } : {}
  const web = createWebFetch(env)
  return {
    directory: resolve(env['GITHUB_WORKSPACE'] ?? '.', inputs.directory),
    env: withGitAccess(env, job),
    ...(appToken === null ? {} : { workflowsEnv: withGitAccess(env, { serverUrl, token: appToken }) }),
    cacheDir: join(resolve(env['RUNNER_TEMP'] ?? tmpdir()), 'winnow'),
    machineDir: join(homedir(), '.cache', 'winnow'),
    remote: 'origin',
    by: { ...readRunAttempt(env), actor: env['GITHUB_TRIGGERING_ACTOR'] || env['GITHUB_ACTOR'] || 'unknown' },
    version: VERSION,
    clock,
    random: { hex: bytes => randomBytes(bytes).toString('hex'), fraction: () => Math.random() },
    faults: { reach: () => undefined },
    progress: { say },
    registries: createPublicRegistries({ version: VERSION, web }),
    forge: refs =>
      createGithubForge({
        apiUrl,
        serverUrl,
        repository,
        token,
        appToken,
        workflowFile,
        web,
        version: VERSION,
        say,
        ...debug,
        base: toShortRef(refs.optimize),
        clock: () => clock.now(),
        sleep: ms => clock.sleep(ms),
        random: () => Math.random(),
      }),
  }
}

function readRunAttempt(env: ActionEnv) {
  return { run_id: readRunId(env), attempt: readAttempt(env) }
}

/** "Enable debug logging" of a re-run. */
export function isDebugging({ RUNNER_DEBUG }: ActionEnv): boolean {
  return RUNNER_DEBUG === '1'
}

/** The variable of the repository that stops everything, as far as the workflow hands it over. */
export function isPaused({ WINNOW_PAUSED: paused = '' }: ActionEnv): boolean {
  return paused !== '' && paused !== 'false'
}
