import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Repository } from '../git/repository.ts'
import { makeAccessible } from '../measure/isolation/access-check.ts'
import { changeOwner, clearSharedFolders } from '../measure/isolation/side-users.ts'
import { type Ended, SupervisorLost } from '../measure/process/launch.ts'
import { claimWorkDir, noteSupervisor, releaseWorkDir } from '../measure/process/leftovers.ts'
import type { Owner } from '../measure/process/reaper.ts'
import { chooseSupervisor } from '../measure/process/supervisor.ts'
import { tryParseJson } from '../model/canonical-json.ts'
import type { Oid, Point } from '../model/ids.ts'
import { toSafeLine } from '../model/text.ts'
import type { IdeaText } from '../plan/world.ts'
import { createAgentTree, readAgentTree, type TreeRepository } from './agent-tree.ts'
import { LONGEST_HYPOTHESIS, toIdea, toLearnings } from './idea-block.ts'

export interface AgentRequest {
  repo: TreeRepository & Pick<Repository, 'writeCommit' | 'diff'>
  incumbent: Point
  /** From `getProposerName`. Appears in messages and in the commit. */
  name: string
  command: string
  brief: string
  timeoutSeconds: number
  /** Absolute path, owned by winnow, and used by one request at a time. */
  workDir: string
  /** The invoking user's environment. Variables that give write access to the repository are removed. */
  env: Readonly<Record<string, string>>
  /** Runs the program as this user, which requires root. Defaults to winnow's own user. */
  owner?: Owner
  /** Ends the program with all its processes. The request then rejects with the signal's reason. */
  signal: AbortSignal
  now: () => number
  /** Monotonic clock in milliseconds. */
  monotonic: () => number
}

export type AgentResult =
  | { ok: true; idea: IdeaText; learnings: string | null; commit: Oid; base: Point }
  | { ok: false; reason: string }

/** Lets a program edit a copy of the incumbent, and commits the result. */
export function askAgent(request: AgentRequest): Promise<AgentResult> {
  return withAgentFiles(request, files => runAndPropose(request, files))
}

/** Lets a program read a copy of the incumbent, and returns what it printed. Its changes are dropped. */
export function askAgentForText(
  request: AgentRequest,
): Promise<{ ok: true; text: string } | { ok: false; reason: string }> {
  return withAgentFiles(request, async files => {
    await prepareAgentFiles(request, files)
    const reason = await runAndDescribeFailure(request, files)
    if (reason !== null) return { ok: false, reason }
    return { ok: true, text: (await readPrintedOutput(files.stdout)).text }
  })
}

async function withAgentFiles<T>(
  { workDir, owner }: AgentRequest,
  work: (files: AgentFiles) => Promise<T>,
): Promise<T> {
  if (owner === undefined) await mkdir(workDir, { recursive: true })
  else makeAccessible(workDir)
  await claimWorkDir(workDir)
  const files = getAgentFiles(workDir)
  try {
    await clearAgentFiles(files)
    return await work(files)
  } finally {
    await clearAgentFiles(files)
    if (owner !== undefined) await clearSharedFolders(owner)
    await releaseWorkDir(workDir)
  }
}

/** For programs that read the brief from a file. */
export function getBriefPath(workDir: string): string {
  return join(workDir, 'brief.md')
}

type AgentFiles = Record<'tree' | 'brief' | 'home' | 'stdout' | 'stderr', string>

function getAgentFiles(workDir: string): AgentFiles {
  return {
    tree: join(workDir, 'tree'),
    brief: getBriefPath(workDir),
    home: join(workDir, 'home'),
    stdout: join(workDir, 'stdout'),
    stderr: join(workDir, 'stderr'),
  }
}

async function clearAgentFiles(files: AgentFiles): Promise<void> {
  for (const path of Object.values(files)) await rm(path, { recursive: true, force: true })
}

async function runAndPropose(request: AgentRequest, files: AgentFiles): Promise<AgentResult> {
  const { repo, incumbent, name, env } = request
  const agentTree = { repo, from: incumbent.tree, dir: files.tree, env }
  await prepareAgentFiles(request, files)
  const failure = await runAndDescribeFailure(request, files)
  if (failure !== null) return { ok: false, reason: failure }
  const left = await readAgentTree(agentTree)
  if ('unreadable' in left) return { ok: false, reason: `${name}: ${left.unreadable}` }
  if (left.tree === incumbent.tree) return { ok: false, reason: `${name} changed nothing` }
  return proposeTree(request, files, left.tree)
}

async function prepareAgentFiles({ repo, incumbent, brief, env, owner }: AgentRequest, files: AgentFiles) {
  await writeFile(files.brief, brief)
  await createAgentTree({ repo, from: incumbent.tree, dir: files.tree, env })
  if (owner !== undefined) await giveToOwner(owner, files)
}

/** The parent folder stays ours, so the program cannot replace these paths. */
async function giveToOwner(owner: Owner, { tree, home, stdout, stderr }: AgentFiles): Promise<void> {
  await mkdir(home)
  for (const path of [stdout, stderr]) await writeFile(path, '')
  for (const path of [tree, home, stdout, stderr]) await changeOwner(path, owner)
}

/**
 * The brief is on standard input, and in a file for programs that need a path. Null: the program ended its
 * supervisor.
 */
async function runAgent(request: AgentRequest, files: AgentFiles): Promise<Ended | null> {
  const { workDir, timeoutSeconds, signal, monotonic, owner } = request
  const supervisor = await chooseSupervisor({ owner: owner ?? null, monotonic })
  const home = owner === undefined ? {} : { HOME: files.home }
  const launch = {
    command: `exec <"$WINNOW_BRIEF"\n${request.command}`,
    cwd: files.tree,
    env: { ...buildAgentEnvironment(request.env, files), ...home },
    stdout: files.stdout,
    stderr: files.stderr,
    timeoutSeconds,
    signal,
  }
  try {
    return await supervisor.run(launch, pid => noteSupervisor(workDir, pid))
  } catch (error) {
    if (error instanceof SupervisorLost) return null
    throw error
  }
}

async function runAndDescribeFailure(request: AgentRequest, files: AgentFiles): Promise<string | null> {
  const { name, timeoutSeconds } = request
  const ended = await runAgent(request, files)
  if (ended === null) return `${name} ended the process that supervised it`
  if (ended.timedOut) return `${name} was ended after ${timeoutSeconds} s (timeout_seconds)`
  if (ended.exitCode === 0) return null
  const code = `ended with exit code ${ended.exitCode}`
  const how = ended.exitCode === null ? `was ended by ${ended.signal ?? 'a signal'}` : code
  const { text } = await readPrintedOutput(files.stderr)
  const lastLine = toSafeLine(text.trim().split('\n').at(-1) ?? '', 300)
  return lastLine === '' ? `${name} ${how}` : `${name} ${how}: ${lastLine}`
}

async function proposeTree(request: AgentRequest, files: AgentFiles, tree: Oid): Promise<AgentResult> {
  const { repo, incumbent, name } = request
  const changed = (await repo.diff(incumbent.tree, tree)).length
  const fallback = `${name}: ${changed} ${changed === 1 ? 'file' : 'files'} changed`
  const { idea, learnings } = parseAgentAnswer(await readPrintedOutput(files.stdout), fallback)
  const message = `${idea.hypothesis}\n\nWinnow-Source: ${name}`
  const date = Math.floor(request.now() / 1000)
  const commit = await repo.writeCommit({ tree, parents: [incumbent.commit], message, date })
  return { ok: true, idea, learnings, commit, base: incumbent }
}

// Answers

/** The output of a program: all of it, or its end if it is long. */
interface PrintedOutput {
  text: string
  whole: boolean
}

const TAIL_BYTES = 256 * 1024
const MOST_TRIES = 200

/** An invalid field is ignored and does not cost the idea. */
const answerSchema = z.object({
  hypothesis: z.string().optional().catch(undefined),
  category: z.string().optional().catch(undefined),
  priority: z.enum(['high', 'medium', 'low']).optional().catch(undefined),
  required_deps: z
    .union([z.array(z.string()), z.string().transform(name => [name])])
    .optional()
    .catch(undefined),
  family: z.string().optional().catch(undefined),
  learnings: z.string().optional().catch(undefined),
})
const ANSWER_KEYS = Object.keys(answerSchema.shape)

/** `defaultText` names an idea that the program did not describe. */
export function parseAgentAnswer({ text, whole }: PrintedOutput, defaultText: string) {
  const found = findLastAnswer(text)
  const { learnings, ...fields } = answerSchema.parse(found?.value ?? {})
  const before = text.slice(0, found?.at ?? text.length)
  const firstLine = (from: string) =>
    from.split('\n').find(line => toSafeLine(line, LONGEST_HYPOTHESIS) !== '')
  const fallback = firstLine(learnings ?? '') ?? (whole ? firstLine(before) : undefined)
  return { idea: toIdea(fields, fallback ?? defaultText), learnings: toLearnings(learnings) }
}

/** The last JSON object with a known key, also within prose or a code fence. */
function findLastAnswer(text: string): { value: Record<string, unknown>; at: number } | null {
  let tries = 0
  for (let end = text.lastIndexOf('}'); end > 0; end = text.lastIndexOf('}', end - 1)) {
    for (let at = text.lastIndexOf('{', end); at >= 0; at = text.lastIndexOf('{', at - 1)) {
      if (++tries > MOST_TRIES) return null
      // A brace may belong to prose or to a larger object.
      const value = z.record(z.string(), z.unknown()).safeParse(tryParseJson(text.slice(at, end + 1))).data
      if (value !== undefined && ANSWER_KEYS.some(key => Object.hasOwn(value, key))) return { value, at }
      if (at === 0) break
    }
  }
  return null
}

/** The agent can reach this path, so links are not followed and pipes do not block. */
export async function readPrintedOutput(path: string): Promise<PrintedOutput> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    // Removed or replaced by the program: counts as no output.
    return { text: '', whole: true }
  }
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return { text: '', whole: true }
    const length = Math.min(stat.size, TAIL_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, stat.size - length)
    return { text: buffer.toString('utf8', 0, bytesRead), whole: length === stat.size }
  } finally {
    await file.close()
  }
}

// Environment

/**
 * Variables that lead to the repository (location or credentials), to the job that runs winnow, or to a
 * registry.
 */
const WITHHELD =
  /^(?:GIT|GITHUB|GITLAB|BITBUCKET|GITEA|ACTIONS|INPUT|RUNNER|SSH)_|^(?:GH|GH_ENTERPRISE|HUB|CI_JOB|NPM|NODE_AUTH)_TOKEN$/

/**
 * A proposer may hold a model key, but no credentials that write to the repository. The
 * ceiling keeps its git from finding a repository above its own, should it remove that one.
 */
function buildAgentEnvironment(
  env: Readonly<Record<string, string>>,
  files: { tree: string; brief: string },
): Record<string, string> {
  const passed = Object.entries(env).filter(([name]) => !WITHHELD.test(name))
  return {
    ...Object.fromEntries(passed),
    PWD: files.tree,
    WINNOW_BRIEF: files.brief,
    GIT_CEILING_DIRECTORIES: dirname(files.tree),
    GIT_TERMINAL_PROMPT: '0',
  }
}
