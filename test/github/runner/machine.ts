import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmulatedGithub } from '../emulator/github.ts'
import type { RunRecord, World } from '../emulator/world.ts'
import { writeEventFile } from './contexts.ts'
import type { JobDefinition, WorkflowDefinition } from './definitions.ts'
import { type Contexts, toText } from './expressions.ts'
import { type Published, type Resolved, resolveRemote, resolveSelf } from './published.ts'
import type { JobRecord, Result } from './records.ts'
import { type JobState, runSteps } from './steps.ts'
import { evaluateMapping, evaluateTemplate, member } from './template.ts'

export interface RunningProgram {
  pid: number
  /** The folder for temporary files of its machine. */
  temp: string
  ended: AbortSignal
}

/** Called while the program of a step runs; it runs on meanwhile, and may be over before. */
export type During = (job: JobRecord, step: string, program: RunningProgram) => Promise<void> | void

export interface JobOrder {
  github: EmulatedGithub
  run: RunRecord
  record: JobRecord
  definition: JobDefinition
  workflow: WorkflowDefinition
  /** All that expressions of the job see but `env`, `job`, `steps` and `runner`. */
  contexts: Contexts & { github: Record<string, unknown> }
  published: Published
  /** A folder of programs that take the place of the machine's. */
  tools: string
  cancelled: AbortSignal
  /** Its machine is gone: nothing of it runs on, and nobody learns what its steps put out. */
  lost: AbortSignal
  during: During | null
}

/** Where a job runs. */
export interface Machine {
  world: World
  run: RunRecord
  workspace: string
  temp: string
  contexts: JobOrder['contexts']
  /** The environment of a program that is no step of the job's own. */
  environment(): Record<string, string>
}

/** Runs one job from its set-up to its post steps, and fills in its record. */
export async function runJob(order: JobOrder): Promise<void> {
  const { github, record, run } = order
  const root = mkdtempSync(join(tmpdir(), 'winnow-machine-'))
  const token = github.token('github-actions[bot]', { kind: 'actions', grants: record.grants, run: run.id })
  const account = github.world.accounts.get(token)
  const began = performance.now()
  try {
    const state = await setUp(order, root, token)
    if (state) await work(order, state)
  } finally {
    // The token dies with its job.
    if (account) account.ended = true
    rmSync(root, { recursive: true, force: true })
    record.took = performance.now() - began
  }
}

async function work(order: JobOrder, state: JobState): Promise<void> {
  const { record, definition, cancelled, lost } = order
  await runSteps(state, definition.steps, state.scope)
  if (lost.aborted) {
    record.log.push('##[error]The hosted runner lost communication with the server.')
    record.conclusion = 'failure'
    return
  }
  for (const post of state.posts.toReversed()) addStep(record, post, 'success')
  if (cancelled.aborted) state.scope.status = 'cancelled'
  record.outputs = keepOutputs(state, order)
  record.conclusion = state.scope.status
}

async function setUp(order: JobOrder, root: string, token: string): Promise<JobState | null> {
  const { record, definition, workflow, github, run } = order
  const [workspace, temp, home] = ['work/project/project', 'temp', 'home'].map(name => join(root, name))
  if (!workspace || !temp || !home) throw new Error('a machine has three folders')
  for (const folder of [workspace, temp, home]) mkdirSync(folder, { recursive: true })
  const eventFile = writeEventFile(temp, run)
  const facts = { token, workspace, event_path: eventFile }
  const contexts = {
    ...order.contexts,
    github: { ...order.contexts.github, ...facts },
    secrets: { ...Object(order.contexts['secrets']), GITHUB_TOKEN: token },
  }
  try {
    const resolved = new Map<string, Resolved>()
    await resolveAll(order, root, resolved)
    const env = {
      ...evaluateMapping(member(workflow.template, 'env'), contexts),
      ...evaluateMapping(member(definition.template, 'env'), contexts),
    }
    const secrets = Object.values(order.contexts['secrets'] ?? {}).map(toText)
    addStep(record, 'Set up job', 'success')
    return {
      order: { ...order, contexts },
      machine: {
        world: github.world,
        run,
        workspace,
        temp,
        contexts,
        environment: () => ({ PATH: process.env['PATH'] ?? '', HOME: home }),
      },
      root,
      home,
      env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, toText(value)])),
      paths: [],
      masks: new Set([token, ...secrets].filter(each => each !== '')),
      posts: [],
      resolved,
      scope: { steps: {}, inputs: null, status: 'success', actionPath: null, env: {} },
    }
  } catch (error) {
    record.log.push(`##[error]${error instanceof Error ? error.message : String(error)}`)
    addStep(record, 'Set up job', 'failure')
    record.conclusion = 'failure'
    return null
  }
}

/** The runner fetches every action before the first step; those of the workspace come with a checkout. */
async function resolveAll(
  { definition, published, github, run }: JobOrder,
  root: string,
  resolved: Map<string, Resolved>,
): Promise<void> {
  if (member(definition.template, 'container') !== undefined)
    throw new Error('this runner starts no containers')
  for (const { template } of definition.steps) {
    const uses = evaluateTemplate(member(template, 'uses'), {})
    if (typeof uses !== 'string' || uses.startsWith('./') || resolved.has(uses)) continue
    const commit = run.job?.commit ?? run.head
    const found = uses.startsWith('$/')
      ? await resolveSelf(uses, github.world, commit, path => bring(github, commit, path, root))
      : await resolveRemote(uses, published)
    resolved.set(uses, found)
  }
}

/** A folder of the repository as it is at a commit, out of the job's reach. */
async function bring({ world }: EmulatedGithub, commit: string, path: string, root: string): Promise<string> {
  const into = join(root, 'self')
  mkdirSync(into, { recursive: true })
  await world.git.run('--work-tree', into, 'checkout', '-f', commit, '--', path)
  return join(into, path)
}

function addStep({ steps }: JobRecord, name: string, conclusion: Result): void {
  steps.push({ id: '', name, outcome: conclusion, conclusion, outputs: {} })
}

/** An output that may hold a secret is dropped. */
function keepOutputs({ order, scope, masks, env }: JobState, { record, definition }: JobOrder) {
  const contexts = {
    ...order.contexts,
    env,
    steps: scope.steps,
    job: { status: scope.status },
    runner: {},
  }
  const outputs = evaluateMapping(member(definition.template, 'outputs'), contexts)
  const kept = Object.entries(outputs).flatMap(([name, value]): [string, string][] => {
    const text = toText(value)
    if (![...masks].some(mask => text.includes(mask))) return [[name, text]]
    record.warnings.push(`Skip output '${name}' since it may contain secret.`)
    return []
  })
  return Object.fromEntries(kept)
}
