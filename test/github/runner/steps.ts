import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { inputVariables, type Ran, runStep } from '../../action/a-runner.ts'
import type { Json } from '../contract/describe.ts'
import { githubVariables } from './contexts.ts'
import type { StepDefinition } from './definitions.ts'
import {
  type Contexts,
  evaluateExpression,
  evaluateText,
  isTruthy,
  type Status,
  toText,
} from './expressions.ts'
import type { JobOrder, Machine } from './machine.ts'
import { type Resolved, resolveLocal, resolveRemote } from './published.ts'
import type { Result, StepRecord } from './records.ts'
import { findStock } from './stock-actions.ts'
import { evaluateMapping, evaluateTemplate, member, type Template } from './template.ts'

/** A list of steps: of a job, or of a composite action. */
export interface Scope {
  steps: Json
  inputs: Json | null
  status: Result
  actionPath: string | null
  /** Of the step that a composite action is. */
  env: Record<string, string>
}

/** A job under way. */
export interface JobState {
  order: JobOrder
  machine: Machine
  root: string
  home: string
  env: Record<string, string>
  paths: string[]
  masks: Set<string>
  posts: string[]
  resolved: Map<string, Resolved>
  scope: Scope
}

interface Outcome {
  outputs: Record<string, string>
  failed: string | null
}

const DONE: Outcome = { outputs: {}, failed: null }
const GRACE = 10_000

export async function runSteps(
  state: JobState,
  steps: readonly StepDefinition[],
  scope: Scope,
): Promise<void> {
  const isJob = scope.inputs === null
  for (const step of steps) {
    if (state.order.lost.aborted) return
    const { id, template } = step
    const contexts = contextsOf(state, scope)
    const uses = evaluateTemplate(member(template, 'uses'), contexts)
    const title = evaluateTemplate(member(template, 'name'), contexts) ?? uses ?? `Run ${id}`
    const record: StepRecord = {
      id,
      name: toText(title),
      outcome: 'skipped',
      conclusion: 'skipped',
      outputs: {},
    }
    if (isJob) state.order.record.steps.push(record)
    await runOne(state, step, scope, record)
    scope.steps[id] = { outputs: record.outputs, outcome: record.outcome, conclusion: record.conclusion }
    if (record.conclusion === 'failure') scope.status = 'failure'
  }
}

function contextsOf(state: JobState, scope: Scope): Contexts & { github: Record<string, unknown> } {
  const { contexts, cancelled, record } = state.order
  const { temp } = state.machine
  const isHosted = !record.labels.includes('self-hosted')
  const environment = isHosted ? 'github-hosted' : 'self-hosted'
  const runner = {
    os: 'Linux',
    arch: 'X64',
    name: 'machine',
    environment,
    temp,
    tool_cache: join(state.root, 'tools'),
  }
  const status = cancelled.aborted ? 'cancelled' : scope.status
  const own = { env: { ...state.env, ...scope.env }, steps: scope.steps, job: { status }, runner }
  if (scope.inputs === null) return { ...contexts, ...own }
  const action = { action_path: scope.actionPath, action_status: scope.status }
  return { ...contexts, ...own, github: { ...contexts.github, ...action }, inputs: scope.inputs }
}

function statusOf({ order }: JobState, scope: Scope): Status {
  const cancelled = order.cancelled.aborted
  return { success: scope.status === 'success' && !cancelled, failure: scope.status === 'failure', cancelled }
}

async function runOne(
  state: JobState,
  step: StepDefinition,
  scope: Scope,
  record: StepRecord,
): Promise<void> {
  const { log } = state.order.record
  const keepsGoing = () => {
    const contexts = withStepEnv(state, step, scope)
    return isTruthy(evaluateExpression(step.condition, contexts, statusOf(state, scope)))
  }
  try {
    if (!keepsGoing()) return
    log.push(`##[group]${record.name}`)
    const { outputs, failed } = await runProgramOf(state, step, scope, keepsGoing)
    record.outputs = outputs
    if (failed !== null) throw new Error(failed)
    record.outcome = record.conclusion = 'success'
  } catch (error) {
    log.push(`##[error]${error instanceof Error ? error.message : String(error)}`)
    record.outcome = state.order.cancelled.aborted ? 'cancelled' : 'failure'
    const contexts = contextsOf(state, scope)
    const goesOn = evaluateTemplate(member(step.template, 'continue-on-error'), contexts)
    record.conclusion = goesOn === true ? 'success' : record.outcome
  }
}

type StepContexts = Contexts & { github: Record<string, unknown>; env: Record<string, string> }

function withStepEnv(state: JobState, { template }: StepDefinition, scope: Scope): StepContexts {
  const contexts = contextsOf(state, scope)
  const own = textsIn(evaluateMapping(member(template, 'env'), contexts))
  return { ...contexts, env: { ...state.env, ...scope.env, ...own } }
}

async function runProgramOf(
  state: JobState,
  step: StepDefinition,
  scope: Scope,
  keepsGoing: () => boolean,
): Promise<Outcome> {
  const { id, template } = step
  const contexts = withStepEnv(state, step, scope)
  const uses = member(template, 'uses')
  const start: Start = { state, id, env: contexts.env, contexts, keepsGoing }
  if (uses === undefined) return runShell(start, template)
  const name = toText(evaluateTemplate(uses, contexts))
  const found = name.startsWith('./')
    ? await resolveLocal(name, state.machine.workspace)
    : // An action of the workspace brings its own ones with it.
      (state.resolved.get(name) ?? (await resolveRemote(name, state.order.published)))
  const given = textsIn(evaluateMapping(member(template, 'with'), contexts))
  if (found.kind === 'stock') return runStock(start, found.name, given)
  const inputs = withDefaults(start, name, found.definition.inputs, given)
  if (found.definition.using === 'composite') return runComposite(start, found, inputs)
  return runCode(start, found, inputs)
}

interface Start {
  state: JobState
  id: string
  env: Record<string, string>
  contexts: Contexts & { github: Record<string, unknown> }
  /** Whether the step's condition holds now that the job was cancelled. */
  keepsGoing: () => boolean
}

function withDefaults(
  { state, contexts }: Start,
  action: string,
  declared: readonly { name: string; usual: Template }[],
  given: Record<string, string>,
): Record<string, string> {
  const names = new Set(declared.map(({ name }) => name.toLowerCase()))
  const unknown = Object.keys(given).filter(name => !names.has(name.toLowerCase()))
  if (unknown.length > 0) {
    const valid = declared.map(({ name }) => `'${name}'`).join(', ')
    const named = unknown.map(name => `'${name}'`).join(', ')
    state.order.record.warnings.push(`Unexpected input(s) ${named} of ${action}, valid inputs are [${valid}]`)
  }
  const usual = declared.map(({ name, usual }) => [name, toText(evaluateTemplate(usual, contexts))])
  return { ...Object.fromEntries(usual), ...given }
}

async function runStock(start: Start, name: string, given: Record<string, string>): Promise<Outcome> {
  const { state, contexts } = start
  const stock = findStock(name)
  if (!stock) throw new Error(`there is no action ${name}`)
  const isKnown = Object.keys(stock.inputs).length > 0
  const declared = Object.entries(stock.inputs).map(([input, usual]) => ({
    name: input,
    usual: evaluateText(usual, contexts),
  }))
  const inputs = isKnown ? withDefaults(start, name, declared, given) : given
  const { outputs, post, warning } = await stock.run({ inputs, machine: state.machine })
  if (post !== undefined) state.posts.push(post)
  if (warning) state.order.record.warnings.push(warning)
  return { outputs, failed: null }
}

async function runComposite(
  { state, contexts, env }: Start,
  { dir, definition }: Resolved & { kind: 'code' },
  inputs: Record<string, string>,
): Promise<Outcome> {
  const scope: Scope = { steps: {}, inputs, status: 'success', actionPath: dir, env }
  await runSteps(state, definition.steps, scope)
  const outputs = member(definition.template, 'outputs')
  const values = evaluateMapping(outputs, { ...contexts, steps: scope.steps, inputs })
  const texts = Object.entries(values).map(([name, output]) => [name, toText(Object(output)['value'])])
  return {
    outputs: Object.fromEntries(texts),
    failed: scope.status === 'success' ? null : 'a step of the action failed',
  }
}

function runCode(
  start: Start,
  found: Resolved & { kind: 'code' },
  inputs: Record<string, string>,
): Promise<Outcome> {
  const { dir, definition } = found
  const runs = member(definition.template, 'runs')
  const main = toText(evaluateTemplate(member(runs, 'main'), {}))
  const post = member(runs, 'post')
  if (post !== undefined) start.state.posts.push(`Post ${start.id}`)
  const { argv, env } = found.start?.(inputs) ?? { argv: [process.execPath, join(dir, main)], env: {} }
  const own = {
    ...inputVariables(inputs),
    ...env,
    ACTIONS_RUNTIME_TOKEN: `runtime-token-of-${start.state.machine.run.id}`,
    ACTIONS_RUNTIME_URL: `${start.state.machine.world.url}/_runtime/`,
    ACTIONS_RESULTS_URL: `${start.state.machine.world.url}/_results/`,
  }
  return runProgram(start, argv, start.state.machine.workspace, own)
}

const SHELLS: Readonly<Record<string, readonly string[]>> = {
  '': ['bash', '-e'],
  bash: ['bash', '--noprofile', '--norc', '-eo', 'pipefail'],
  sh: ['sh', '-e'],
}

function runShell(start: Start, template: Template): Promise<Outcome> {
  const { state, contexts } = start
  const { workflow, definition } = state.order
  const defaults = [definition.template, workflow.template].map(of => member(member(of, 'defaults'), 'run'))
  const setting = (key: string) =>
    toText(
      evaluateTemplate(
        [template, ...defaults].map(of => member(of, key)).find(each => each !== undefined),
        contexts,
      ),
    )
  const shell = setting('shell')
  const argv = SHELLS[shell]
  if (!argv) throw new Error(`this runner has no shell ${shell} yet`)
  const script = join(state.machine.temp, `${randomUUID()}.sh`)
  writeFileSync(script, toText(evaluateTemplate(member(template, 'run'), contexts)))
  const directory = resolve(state.machine.workspace, setting('working-directory'))
  return runProgram(start, [...argv, script], directory, {})
}

async function runProgram(
  start: Start,
  argv: readonly string[],
  cwd: string,
  own: Record<string, string>,
): Promise<Outcome> {
  const { state, id, env, contexts } = start
  const { order, machine, paths, home } = state
  const ended = new AbortController()
  const ran = await runStep({
    argv,
    cwd,
    temp: machine.temp,
    suffix: `_${randomUUID()}`,
    env: {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      HOME: home,
      RUNNER_OS: 'Linux',
      RUNNER_ARCH: 'X64',
      RUNNER_NAME: 'machine',
      RUNNER_ENVIRONMENT: order.record.labels.includes('self-hosted') ? 'self-hosted' : 'github-hosted',
      RUNNER_TEMP: machine.temp,
      RUNNER_TOOL_CACHE: join(state.root, 'tools'),
      ...githubVariables(contexts.github),
      GITHUB_ACTION: id,
      ...(typeof contexts.github['action_path'] === 'string'
        ? { GITHUB_ACTION_PATH: contexts.github['action_path'] }
        : {}),
      ...env,
      ...own,
      PATH: [...paths.toReversed(), order.tools, process.env['PATH'] ?? ''].join(delimiter),
    },
    meanwhile: pid => accompany(start, pid, ended.signal),
  })
  ended.abort()
  takeIn(state, ran)
  return {
    ...DONE,
    outputs: ran.outputs,
    failed: ran.code === 0 ? null : `Process completed with exit code ${ran.code}.`,
  }
}

/** Ends a step's program as the runner does it when its job is cancelled. */
async function accompany({ state, id, keepsGoing }: Start, pid: number, ended: AbortSignal): Promise<void> {
  const { cancelled, lost, during, record } = state.order
  const interrupt = () => {
    if (keepsGoing()) return
    signal(pid, 'SIGINT')
    const kill = setTimeout(() => signal(pid, 'SIGKILL'), GRACE)
    ended.addEventListener('abort', () => clearTimeout(kill))
  }
  cancelled.addEventListener('abort', interrupt, { once: true, signal: ended })
  lost.addEventListener('abort', () => signal(pid, 'SIGKILL'), { once: true, signal: ended })
  await during?.(record, id, { pid, temp: state.machine.temp, ended })
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself.
  }
}

function takeIn(state: JobState, ran: Ran): void {
  const { record } = state.order
  record.log.push(...[ran.stdout, ran.stderr].filter(text => text !== ''))
  for (const mask of ran.masks) state.masks.add(mask)
  Object.assign(state.env, ran.variables)
  state.paths.push(...ran.paths)
  record.summary.push(ran.summary)
}

function textsIn(values: Json): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toText(value)]))
}
