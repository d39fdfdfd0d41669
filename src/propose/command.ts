import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repository } from '../git/repository.ts'
import { chooseSupervisor } from '../measure/process/choose.ts'
import { claimWorkDir, noteSupervisor, releaseWorkDir } from '../measure/process/leftovers.ts'
import type { Ended } from '../measure/process/launch.ts'
import type { Owner } from '../measure/process/reaper.ts'
import { SupervisorLost } from '../measure/process/supervisor-output.ts'
import { makeAccessible } from '../measure/users/enterable.ts'
import { changeOwner } from '../measure/users/give.ts'
import { clearSharedFolders } from '../measure/users/sweep.ts'
import type { Oid, Point } from '../model/ids.ts'
import type { IdeaText } from '../plan/world.ts'
import { parseAgentAnswer, readPrintedOutput } from './agent-answer.ts'
import { buildAgentEnvironment } from './agent-environment.ts'
import { createAgentTree, readAgentTree, type TreeRepository } from './agent-tree.ts'
import { toSafeLine } from './quoted-text.ts'

export interface AgentRequest {
  repo: TreeRepository & Pick<Repository, 'writeCommit' | 'diff'>
  incumbent: Point
  /** `proposerName`: how it is called in messages and in the commit. */
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
