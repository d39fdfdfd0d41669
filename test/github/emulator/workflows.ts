import { parse } from 'yaml'
import { type Account, freshId, now, type RunRecord, type World } from './world.ts'

const FOLDER = '.github/workflows/'

export interface WorkflowFile {
  path: string
  name: string
  runName: string | null
  on: Record<string, unknown>
}

/** The workflow of a file as it is at a commit. */
export async function workflowAt(world: World, commit: string, file: string): Promise<WorkflowFile | null> {
  const path = file.startsWith(FOLDER) ? file : `${FOLDER}${file}`
  const text = await world.git.file(commit, path)
  if (text === null) return null
  const parsed: { name?: string; on?: unknown; 'run-name'?: string } = parse(text)
  return { path, name: parsed.name ?? path, runName: parsed['run-name'] ?? null, on: triggers(parsed.on) }
}

function triggers(on: unknown): Record<string, unknown> {
  if (typeof on === 'string') return { [on]: null }
  if (Array.isArray(on)) return Object.fromEntries(on.map(each => [String(each), null]))
  return { ...(typeof on === 'object' ? on : {}) }
}

interface Happening {
  event: string
  branch: string
  head: string
  by: Account
}

/** In the message of a head commit, or as its last line, after an empty one. */
const SKIPS = /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|\n\nskip-checks: ?true\s*$/

/**
 * Which workflows an event starts. What was done with a GITHUB_TOKEN starts none, but for pull requests: their
 * runs wait until a person approves them. The message of the head commit may say that nothing is to be started.
 */
export async function startedBy(world: World, { event, branch, head, by }: Happening): Promise<void> {
  const isToken = by.kind === 'actions'
  if (isToken && event !== 'pull_request') return
  if (SKIPS.test(await world.git.run('log', '-1', '--format=%B', head))) return
  for (const path of await world.git.paths(head, FOLDER)) {
    const workflow = await workflowAt(world, head, path)
    if (!workflow || !(event in workflow.on)) continue
    const state = isToken
      ? { status: 'completed', conclusion: 'action_required' }
      : { status: 'queued', conclusion: null }
    newRun(world, { ...state, workflow, title: workflow.name, event, branch, head, actor: by.login })
  }
}

interface NewRun
  extends Pick<RunRecord, 'status' | 'conclusion' | 'title' | 'event' | 'branch' | 'head' | 'actor'> {
  workflow: WorkflowFile
}

export function newRun(world: World, { workflow, ...rest }: NewRun): RunRecord {
  const { path, name } = workflow
  const run = { id: freshId(world), path, name, ...rest, createdAt: now(world) }
  world.runs.push(run)
  return run
}
