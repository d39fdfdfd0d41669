import { parse } from 'yaml'
import { isJson, type Json } from '../contract/describe.ts'
import { evaluateText } from '../runner/expressions.ts'
import { matchesFilters } from './filters.ts'
import { type Account, freshId, now, type RunRecord, type World } from './world.ts'

const FOLDER = '.github/workflows/'

export interface WorkflowFile {
  path: string
  name: string
  runName: string | null
  on: Record<string, unknown>
  /** Its YAML cannot be read. */
  broken: boolean
}

/** The workflow of a file as it is at a commit. */
export async function workflowAt(world: World, commit: string, file: string): Promise<WorkflowFile | null> {
  const path = file.startsWith(FOLDER) ? file : `${FOLDER}${file}`
  const text = await world.git.file(commit, path)
  return text === null ? null : readWorkflow(path, text)
}

function readWorkflow(path: string, text: string): WorkflowFile {
  try {
    const parsed: unknown = parse(text)
    const { name, on, 'run-name': runName } = isJson(parsed) ? parsed : {}
    return {
      path,
      name: typeof name === 'string' ? name : path,
      runName: typeof runName === 'string' ? runName : null,
      on: readTriggers(on),
      broken: false,
    }
  } catch {
    return { path, name: path, runName: null, on: {}, broken: true }
  }
}

function readTriggers(on: unknown): Record<string, unknown> {
  if (typeof on === 'string') return { [on]: null }
  if (Array.isArray(on)) return Object.fromEntries(on.map(each => [String(each), null]))
  return isJson(on) ? on : {}
}

/** Something that can start workflows. */
export interface Happening {
  event: string
  /** Of which kind, where there are kinds. */
  action?: string
  /** The commit or tree whose workflow files are read. */
  files: string
  /** GITHUB_SHA and GITHUB_REF of what is started. */
  commit: string
  ref: string
  /** Branch and commit that the run is listed with. */
  branch: string
  head: string
  /** What a filter by branches looks at. */
  filtered: string | null
  /** The name of the workflow that ended. */
  workflow?: string
  by: Account
  title: string | null
  payload: Json
  /** Only this file. */
  file?: string
  /** Its token may only read, and there are no secrets. */
  fromFork?: boolean
  /** Its runs wait until a person approves them. */
  needsApproval?: boolean
}

/** In the message of a head commit, or as its last line, after an empty one. */
const SKIPS = /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|\n\nskip-checks: ?true\s*$/
const SKIPPABLE = new Set(['push', 'pull_request'])
/** What a GITHUB_TOKEN does starts nothing else. */
const STARTED_BY_TOKENS = new Set(['workflow_dispatch', 'repository_dispatch', 'pull_request'])

/**
 * Which workflows an event starts. What was done with a GITHUB_TOKEN starts none, but dispatches and pull requests;
 * the runs of those wait until a person approves them. The message of the head commit may say that nothing is to be
 * started.
 */
export async function startRuns(world: World, happening: Happening): Promise<RunRecord[]> {
  const { event, head, by, files, file } = happening
  if (by.kind === 'actions' && !STARTED_BY_TOKENS.has(event)) return []
  const paths = file === undefined ? await world.git.paths(files, FOLDER) : [file]
  if (paths.length === 0) return []
  if (SKIPPABLE.has(event) && SKIPS.test(await world.git.shown('%B', head))) return []
  const started: RunRecord[] = []
  for (const path of paths) {
    const workflow = await workflowAt(world, files, path)
    if (workflow?.broken === true && event === 'push')
      started.push(newRun(world, workflow, happening, { status: 'completed', conclusion: 'failure' }))
    if (
      !workflow ||
      !(event in workflow.on) ||
      world.workflowStates.get(path)?.startsWith('disabled') === true
    )
      continue
    if (!matchesFilters(workflow.on[event], happening)) continue
    started.push(newRun(world, workflow, happening, stateOf(happening)))
  }
  return started
}

type RunState = Pick<RunRecord, 'status' | 'conclusion'>

function stateOf({ event, by, needsApproval = false }: Happening): RunState {
  const waits = needsApproval || (by.kind === 'actions' && event === 'pull_request')
  return waits
    ? { status: 'completed', conclusion: 'action_required' }
    : { status: 'queued', conclusion: null }
}

function newRun(world: World, workflow: WorkflowFile, happening: Happening, state: RunState): RunRecord {
  const { event, branch, head, by, commit, ref, payload, fromFork = false } = happening
  const { path, name, runName } = workflow
  const number = world.runs.filter(each => each.path === path).length + 1
  const run: RunRecord = {
    id: freshId(world),
    path,
    name,
    title: happening.title ?? name,
    event,
    branch,
    head,
    ...state,
    createdAt: now(world),
    actor: by.login,
    attempt: 1,
    job: { commit, ref, payload, number, fromFork, byToken: by.kind === 'actions' },
  }
  if (runName !== null) run.title = nameRun(world, run, runName) || run.title
  world.runs.push(run)
  if (run.status === 'queued') world.runner?.start(run)
  return run
}

function nameRun(world: World, { event, actor, job, id, name }: RunRecord, text: string): string {
  const payload = job?.payload ?? {}
  const github = {
    event,
    event_name: event,
    actor,
    ref: job?.ref,
    ref_name: job?.ref.replace(/^refs\/(?:heads|tags|pull)\//, ''),
    sha: job?.commit,
    run_id: String(id),
    run_number: String(job?.number),
    run_attempt: '1',
    workflow: name,
    repository: `${world.owner}/${world.repo}`,
    repository_owner: world.owner,
  }
  const contexts = {
    github: { ...github, event: payload },
    inputs: isJson(payload['inputs']) ? payload['inputs'] : {},
    vars: Object.fromEntries(world.variables),
  }
  return evaluateText(text, contexts)
}
