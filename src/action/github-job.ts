import { homedir } from 'node:os'
import { join } from 'node:path'
import { isDebug } from '@actions/core'
import { context as runnerContext } from '@actions/github'
import { z } from 'zod'
import { findCommentVerb, parseCommentCommand } from '../cli/comment-command.ts'
import { DEFAULT_PREFIX, type KnownCampaign } from '../cli/known-campaigns.ts'
import { VERBS } from '../cli/registry.ts'
import type { Call, CommandArguments, Terminal } from '../cli/verb.ts'
import { createPublicRegistries } from '../dependencies/registries.ts'
import { withGitAccess } from '../engine/campaign/open.ts'
import { UserError, isRefusal } from '../errors.ts'
import { requireSendable } from '../github/client.ts'
import { createGithubClock } from '../github/github-clock.ts'
import { createGithubForge } from '../github/github-forge.ts'
import { WORKFLOW_FILE } from '../model/github.ts'
import { explainApproverRefusal } from '../github/people.ts'
import type { Forge, Permission } from '../github/port.ts'
import { createWebFetch } from '../github/web.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { VERSION } from '../version.ts'
import { type ActionEnv, type Inputs, resolveInWorkspace } from './inputs.ts'
import { getTempDir, readAttempt, readRunId, SYSTEM_CLOCK, SYSTEM_RANDOM } from './job.ts'
import { appendSummary, setOutputs, toLogLine } from './outputs.ts'
import type { Task } from './root-pipe.ts'

/** The output `result-json` of a run that read no campaign. */
export const NO_CAMPAIGNS = { campaigns: [], later: [], broken: [] }

/** What the runner says about the server and the event that started the job. No branch can change it. */
export type JobContext = Pick<typeof runnerContext, 'apiUrl' | 'serverUrl' | 'eventName' | 'payload'>

export interface GithubJob {
  apiUrl: string
  serverUrl: string
  repository: string
  token: string
  /** Token of a GitHub App, for actions that the job's own token may not do. Null: none was given. */
  appToken: string | null
  workflowFile: string
  /** The event that started the job. Untrusted text. */
  event: { name: string; payload: unknown }
}

export function readGithubJob({ inputs, env }: Task, context: JobContext = runnerContext): GithubJob {
  const token = inputs['github-token']
  if (token === '') {
    throw new UserError(`command ${inputs.command} needs the input github-token`, {
      fix: 'with: { github-token: ${{ github.token }} }, and the permissions of the table in docs/github.md',
    })
  }
  requireSendable(token)
  const appToken = readAppToken(inputs)
  const { GITHUB_REPOSITORY: repository = '' } = env
  if (repository === '')
    throw new UserError('GITHUB_REPOSITORY is not set: this command runs in a job of GitHub Actions')
  const { apiUrl, eventName: name, payload } = context
  const serverUrl = context.serverUrl.replace(/\/+$/, '')
  const event = { name, payload }
  return { apiUrl, serverUrl, repository, token, appToken, workflowFile: parseWorkflowFile(env), event }
}

/** Reads `owner/name/.github/workflows/file.yml@ref`: a maintainer may have renamed the workflow file. */
function parseWorkflowFile({ GITHUB_WORKFLOW_REF: ref = '' }: ActionEnv): string {
  return /\/\.github\/workflows\/([^/@]+)@/.exec(ref)?.[1] ?? WORKFLOW_FILE
}

/** Drafts use github-token: an App's token would start every workflow on them, with its secrets. */
function readAppToken({ 'app-token': given, 'github-token': token }: Inputs): string | null {
  if (given === '') return null
  requireSendable(given)
  if (given !== token) return given
  throw new UserError('app-token and github-token are the same token', {
    fix: "give the job's own as github-token: ${{ github.token }}, and the App's as app-token alone",
  })
}

export function buildJobEnvironment(task: Task, job: GithubJob): Call['environment'] {
  const { inputs, env } = task
  const { serverUrl, appToken } = job
  const say = (line: string) => console.log(toLogLine(line))
  const debug = isDebug() ? { debug: say } : {}
  const web = createWebFetch(env)
  const clock = createGithubClock(SYSTEM_CLOCK)
  const actor = env['GITHUB_TRIGGERING_ACTOR'] || env['GITHUB_ACTOR'] || 'unknown'
  return {
    directory: resolveInWorkspace(env, inputs.directory),
    env: withGitAccess(env, job),
    ...(appToken === null ? {} : { workflowsEnv: withGitAccess(env, { serverUrl, token: appToken }) }),
    cacheDir: join(getTempDir(env), 'winnow'),
    machineDir: join(homedir(), '.cache', 'winnow'),
    remote: 'origin',
    by: { run_id: readRunId(env), attempt: readAttempt(env), actor },
    version: VERSION,
    clock,
    random: SYSTEM_RANDOM,
    faults: { reach: () => undefined },
    progress: { say },
    registries: createPublicRegistries({ web }),
    forge: refs =>
      createGithubForge({
        ...job,
        web,
        version: VERSION,
        say,
        ...debug,
        base: toShortRef(refs.optimize),
        clock,
        monotonic: () => clock.monotonic(),
        sleep: ms => clock.sleep(ms),
        random: () => Math.random(),
      }),
  }
}

/** WINNOW_PAUSED is a repository variable that the workflow passes on. It stops everything. */
export function isPaused({ WINNOW_PAUSED: paused = '' }: ActionEnv): boolean {
  return paused !== '' && paused !== 'false'
}

export function reportPaused(result: object): number {
  const line =
    'WINNOW_PAUSED is set, so this run did nothing. To continue, delete the repository variable WINNOW_PAUSED.'
  console.log(line)
  appendSummary(line)
  setOutputs({ 'result-json': JSON.stringify(result) })
  return 0
}

/** In a clone of another repository, winnow would write its branches there with this job's token. */
export function requireOwnRemote(
  remotes: readonly { name: string; url: string }[],
  { serverUrl, repository }: Pick<GithubJob, 'serverUrl' | 'repository'>,
): void {
  const url = remotes.find(({ name }) => name === 'origin')?.url ?? ''
  const own = `${serverUrl}/${repository}`
  if (normalizeRemoteUrl(url) === normalizeRemoteUrl(own)) return
  throw new UserError(`the remote origin of this clone is ${url || 'not set'}, but the job runs for ${own}`, {
    fix: 'clone the repository itself, over HTTPS, with actions/checkout',
  })
}

function normalizeRemoteUrl(url: string): string {
  return url
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase()
}

export function createCall(
  environment: Call['environment'],
  options: Readonly<Record<string, string | true>>,
  interrupt: AbortSignal = new AbortController().signal,
): Call {
  const commandArguments: CommandArguments = {
    positionals: [],
    command: [],
    flag: name => options[name] === true,
    text: name => {
      const value = options[name]
      return typeof value === 'string' && value !== '' ? value : undefined
    },
    texts: () => [],
  }
  const say = (text: string): void => console.log(toLogLine(text))
  const terminal: Terminal = {
    out: say,
    err: say,
    json: value => say(JSON.stringify(value)),
    live: () => undefined,
    confirm: null,
    async *lines() {},
  }
  const program = { called: 'winnow', runtime: process.execPath }
  return { given: commandArguments, terminal, environment, interrupt, verbs: VERBS, program }
}

// The event that started the job

const commented = z.object({
  comment: z.object({
    id: z.number().int().positive(),
    body: z.string(),
    user: z.object({ login: z.string() }).nullable(),
  }),
})

/**
 * Checks whether a comment without permission started this run. Such a comment gets a reaction, and winnow
 * reads no campaign. The event is untrusted text, so the permission comes from GitHub.
 */
export async function isCommentRefused(
  { event }: GithubJob,
  environment: Call['environment'],
  campaigns: readonly KnownCampaign[],
): Promise<boolean> {
  if (event.name !== 'issue_comment') return false
  const forge = environment.forge?.(buildCampaignRefs(DEFAULT_PREFIX, ''))
  if (forge === undefined) throw new Error('a job has a forge')
  const { comment } = parseJobEvent(commented, event)
  const login = comment.user?.login ?? ''
  const isBot = login === '' || login.endsWith('[bot]')
  if (!isBot && (await canSteer(forge, campaigns, { login, body: comment.body }))) return false
  // The workflow starts for every comment that begins with the name, such as "/winnowing".
  const isCommand = parseCommentCommand(comment.body) !== null
  if (!isBot && isCommand) await rejectComment(environment, forge, comment.id)
  const author = login || 'A deleted account'
  const line = toLogLine(`${author} has no write access here: winnow ignored the comment.`)
  console.log(line)
  appendSummary(escapeMarkdown(line))
  setOutputs({ 'result-json': JSON.stringify({ paused: false, ...NO_CAMPAIGNS }) })
  return true
}

export function parseJobEvent<T>(schema: z.ZodType<T>, { name, payload }: GithubJob['event']): T {
  const parsed = schema.safeParse(payload)
  if (parsed.success) return parsed.data
  throw new UserError(`GITHUB_EVENT_PATH does not hold an event ${name}`, {
    fix: `start this job by the event ${name}, as the workflow of winnow init --github does`,
    cause: parsed.error,
  })
}

/** Write access, or the right to approve that a spec gives. */
async function canSteer(
  forge: Forge,
  campaigns: readonly KnownCampaign[],
  { login, body }: { login: string; body: string },
): Promise<boolean> {
  const permission: Permission = (await forge.readPermission(login)) ?? 'none'
  if (permission === 'write' || permission === 'admin') return true
  const [name = ''] = parseCommentCommand(body) ?? []
  if (findCommentVerb(name, VERBS)?.name !== 'approve') return false
  for (const { spec } of campaigns) {
    if (spec === null) continue
    const why = await explainApproverRefusal(forge, spec.dependencies.approvers, { login, permission })
    if (why === null) return true
  }
  return false
}

/** Ignores a token that may not add reactions: the refusal itself needs none. */
async function rejectComment(
  { progress }: Call['environment'],
  forge: Forge,
  comment: number,
): Promise<void> {
  try {
    await forge.react(String(comment), '-1')
  } catch (error) {
    if (!isRefusal(error)) throw error
    progress.say(`winnow could not add its reaction to the comment: ${error.message}`)
  }
}

const dispatched = z.object({ inputs: z.object({ title: z.string().optional() }).nullable().optional() })

/** Empty unless workflow_dispatch started this run. */
export function readDispatchTitle({ event }: GithubJob): string {
  return event.name === 'workflow_dispatch' ? (parseJobEvent(dispatched, event).inputs?.title ?? '') : ''
}
