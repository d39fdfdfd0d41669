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
import type { Oid, Point } from '../model/ids.ts'
import type { IdeaText } from '../plan/world.ts'
import { createAgentTree, readAgentTree, type TreeRepository } from './agent-tree.ts'
import { LONGEST_HYPOTHESIS, toIdea, toLearnings } from './idea-block.ts'
import { toSafeLine } from './safe-text.ts'

export interface AgentRequest {
  repo: TreeRepository & Pick<Repository, 'writeCommit' | 'diff'>
  incumbent: Point
  /** `getProposerName`: how it is called in messages and in the commit. */
  name: string
  command: string
  brief: string
  timeoutSeconds: number
  /** Absolute, ours, and used by one asking at a time. */
  workDir: string
  /** The invoking user's environment; what could write to the repository is taken out of it. */
  env: Readonly<Record<string, string>>
  /** The program runs as this user, which we must be root to become; as ours unless given. */
  owner?: Owner
  /** Ends the program with everything it started; the asking then fails with the signal's reason. */
  signal: AbortSignal
  now: () => number
  /** Milliseconds that never go back. */
  monotonic: () => number
}

export type AgentResult =
  | { ok: true; idea: IdeaText; learnings: string | null; commit: Oid; base: Point }
  | { ok: false; reason: string }

/** Lets a program edit a copy of the incumbent, and makes one commit of what it left there. */
export async function askAgent(asking: AgentRequest): Promise<AgentResult> {
  const { workDir, owner } = asking
  if (owner === undefined) await mkdir(workDir, { recursive: true })
  else makeAccessible(workDir)
  await claimWorkDir(workDir)
  const place = getAgentFiles(workDir)
  try {
    await clearAgentFiles(place)
    return await runAndPropose(asking, place)
  } finally {
    await clearAgentFiles(place)
    if (owner !== undefined) await clearSharedFolders(owner)
    await releaseWorkDir(workDir)
  }
}

/** Where a program that wants a name finds what it is told. */
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

async function clearAgentFiles(place: AgentFiles): Promise<void> {
  for (const path of Object.values(place)) await rm(path, { recursive: true, force: true })
}

async function runAndPropose(asking: AgentRequest, place: AgentFiles): Promise<AgentResult> {
  const { repo, incumbent, name, env, owner } = asking
  const agentTree = { repo, from: incumbent.tree, dir: place.tree, env }
  await writeFile(place.brief, asking.brief)
  await createAgentTree(agentTree)
  if (owner !== undefined) await giveToOwner(owner, place)
  const failure = await runAndDescribeFailure(asking, place)
  if (failure !== null) return { ok: false, reason: failure }
  const left = await readAgentTree(agentTree)
  if ('unreadable' in left) return { ok: false, reason: `${name}: ${left.unreadable}` }
  if (left.tree === incumbent.tree) return { ok: false, reason: `${name} changed nothing` }
  return proposeTree(asking, place, left.tree)
}

/** The folder around stays ours: the program cannot put anything else in the place of these. */
async function giveToOwner(owner: Owner, { tree, home, stdout, stderr }: AgentFiles): Promise<void> {
  await mkdir(home)
  for (const path of [stdout, stderr]) await writeFile(path, '')
  for (const path of [tree, home, stdout, stderr]) await changeOwner(path, owner)
}

/** The brief is its standard input, and a file as well for programs that want a name. */
async function runAgent(asking: AgentRequest, place: AgentFiles): Promise<Ended> {
  const { workDir, timeoutSeconds, signal, monotonic, owner } = asking
  const supervisor = await chooseSupervisor({ owner: owner ?? null, monotonic })
  const home = owner === undefined ? {} : { HOME: place.home }
  const launch = {
    command: `exec <"$WINNOW_BRIEF"\n${asking.command}`,
    cwd: place.tree,
    env: { ...buildAgentEnvironment(asking.env, place), ...home },
    stdout: place.stdout,
    stderr: place.stderr,
    timeoutSeconds,
    signal,
  }
  return supervisor.run(launch, pid => noteSupervisor(workDir, pid))
}

async function runAndDescribeFailure(asking: AgentRequest, place: AgentFiles): Promise<string | null> {
  const { name, timeoutSeconds } = asking
  const ended = await runOrLost(asking, place)
  if (ended === 'lost') return `${name} ended the process that watched over it`
  if (ended.timedOut) return `${name} was ended after ${timeoutSeconds} s (timeout_seconds)`
  if (ended.exitCode === 0) return null
  const code = `ended with exit code ${ended.exitCode}`
  const how = ended.exitCode === null ? `was ended by ${ended.signal ?? 'a signal'}` : code
  const { text } = await readPrintedOutput(place.stderr)
  const complaint = toSafeLine(text.trim().split('\n').at(-1) ?? '', 300)
  return complaint === '' ? `${name} ${how}` : `${name} ${how}: ${complaint}`
}

async function runOrLost(asking: AgentRequest, place: AgentFiles): Promise<Ended | 'lost'> {
  try {
    return await runAgent(asking, place)
  } catch (error) {
    if (error instanceof SupervisorLost) return 'lost'
    throw error
  }
}

async function proposeTree(asking: AgentRequest, place: AgentFiles, tree: Oid): Promise<AgentResult> {
  const { repo, incumbent, name } = asking
  const changed = (await repo.diff(incumbent.tree, tree)).length
  const otherwise = `${name}: ${changed} ${changed === 1 ? 'file' : 'files'} changed`
  const { idea, learnings } = parseAgentAnswer(await readPrintedOutput(place.stdout), otherwise)
  const message = `${idea.hypothesis}\n\nWinnow-Source: ${name}`
  const date = Math.floor(asking.now() / 1000)
  const commit = await repo.writeCommit({ tree, parents: [incumbent.commit], message, date })
  return { ok: true, idea, learnings, commit, base: incumbent }
}

/** What a program printed: all of it, or the end where it printed much. */
interface PrintedOutput {
  text: string
  whole: boolean
}

interface AgentAnswer {
  idea: IdeaText
  learnings: string | null
}

const TAIL_BYTES = 256 * 1024
const MOST_TRIES = 200

/** A slip in one field costs that field and not the work: whatever is not understood counts as not said. */
const said = z.object({
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
const KEYS = Object.keys(said.shape)

/** `otherwise` names the idea when the program says nothing about it. */
export function parseAgentAnswer({ text, whole }: PrintedOutput, otherwise: string): AgentAnswer {
  const found = findLastAnswer(text)
  const { learnings, ...told } = said.parse(found?.value ?? {})
  const before = text.slice(0, found?.at ?? text.length)
  const firstLine = (from: string) =>
    from.split('\n').find(line => toSafeLine(line, LONGEST_HYPOTHESIS) !== '')
  const fallback = firstLine(learnings ?? '') ?? (whole ? firstLine(before) : undefined)
  return {
    idea: toIdea(told, fallback ?? otherwise),
    learnings: toLearnings(learnings),
  }
}

/** The last JSON object that says something about an idea, with prose or a code fence around it or not. */
function findLastAnswer(text: string): { value: Record<string, unknown>; at: number } | null {
  let tries = 0
  for (let end = text.lastIndexOf('}'); end > 0; end = text.lastIndexOf('}', end - 1)) {
    for (let at = text.lastIndexOf('{', end); at >= 0; at = text.lastIndexOf('{', at - 1)) {
      if (++tries > MOST_TRIES) return null
      const value = parseJsonObject(text.slice(at, end + 1))
      if (value !== null && KEYS.some(key => Object.hasOwn(value, key))) return { value, at }
      if (at === 0) break
    }
  }
  return null
}

function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const parsed = z.record(z.string(), z.unknown()).safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : null
  } catch {
    // A brace of prose or of a larger object: the next one is tried.
    return null
  }
}

/** The file lies where an agent could reach it: no link is followed and no pipe waited for. */
export async function readPrintedOutput(path: string): Promise<PrintedOutput> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    // Removed or replaced by what ran: then nothing was said.
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

/** Names that lead to the repository, wherever it lies and by whatever key, to the job that runs us, or to a registry. */
const WITHHELD =
  /^(?:GIT|GITHUB|GITLAB|BITBUCKET|GITEA|ACTIONS|INPUT|RUNNER|SSH)_|^(?:GH|GH_ENTERPRISE|HUB|CI_JOB|NPM|NODE_AUTH)_TOKEN$/

/**
 * A proposer may hold a model key and nothing that writes to the repository (design section 4). The ceiling
 * keeps its git from finding a repository above its own, should it remove that.
 */
function buildAgentEnvironment(
  env: Readonly<Record<string, string>>,
  place: { tree: string; brief: string },
): Record<string, string> {
  const passed = Object.entries(env).filter(([name]) => !WITHHELD.test(name))
  return {
    ...Object.fromEntries(passed),
    PWD: place.tree,
    WINNOW_BRIEF: place.brief,
    GIT_CEILING_DIRECTORIES: dirname(place.tree),
    GIT_TERMINAL_PROMPT: '0',
  }
}
