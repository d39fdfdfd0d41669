import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { githubsParser } from '../../workflows/githubs-parser.ts'
import { toText } from './expressions.ts'
import { isMapping, member, type Template, toTemplate } from './template.ts'

export interface StepDefinition {
  id: string
  /** The condition, with `success()` where it names no status. */
  condition: string
  /** All that the file says of it. */
  template: Template
}

export interface JobDefinition {
  id: string
  needs: string[]
  condition: string
  template: Template
  steps: StepDefinition[]
  /** It calls a workflow, here or in another repository. */
  calls: string | null
}

export interface WorkflowDefinition {
  template: Template
  jobs: JobDefinition[]
}

export interface ActionDefinition {
  template: Template
  using: string
  inputs: { name: string; usual: Template }[]
  /** Of a composite action. */
  steps: StepDefinition[]
}

/** What GitHub says of a file that it does not take. */
export class InvalidFile extends Error {}

type Parser = Awaited<ReturnType<typeof githubsParser>>
let loading: Promise<Parser> | null = null

/** One bundle for all tests of a process. */
function loadParser(): Promise<Parser> {
  loading ??= (async () => {
    const dir = mkdtempSync(join(tmpdir(), 'winnow-parser-'))
    try {
      return await githubsParser(dir)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })()
  return loading
}

const workflows = new Map<string, Promise<WorkflowDefinition>>()

/** A workflow file as GitHub's own parser reads it. */
export function readWorkflow(path: string, text: string): Promise<WorkflowDefinition> {
  const known = workflows.get(text) ?? parseWorkflow(path, text)
  workflows.set(text, known)
  return known
}

async function parseWorkflow(path: string, text: string): Promise<WorkflowDefinition> {
  const github = await loadParser()
  const { context, value } = github.parseWorkflow(
    { name: path, content: text },
    new github.NoOperationTraceWriter(),
  )
  const converted = value && (await github.convertWorkflowTemplate(context, value))
  const errors = context.errors.getErrors()
  if (errors.length > 0 || !converted || !value)
    throw new InvalidFile(`Invalid workflow file: ${errors.map(({ message }) => message).join('; ')}`)
  const template = toTemplate(JSON.parse(JSON.stringify(value)))
  const jobs = converted.jobs.map((job): JobDefinition => {
    const id = job.id.value
    const own = member(member(template, 'jobs'), id) ?? null
    const steps = 'steps' in job ? job.steps : []
    return {
      id,
      needs: (job.needs ?? []).map(each => each.value),
      condition: job.if.expression,
      template: own,
      steps: toSteps(steps, member(own, 'steps')),
      calls: 'ref' in job ? job.ref.value : null,
    }
  })
  return { template, jobs }
}

interface Converted {
  id: string
  if?: { expression: string }
}

function toSteps(converted: readonly Converted[], template: Template | undefined): StepDefinition[] {
  const templates = Array.isArray(template) ? template : []
  return converted.map((step, index) => ({
    id: step.id,
    condition: step.if?.expression ?? 'success()',
    template: templates[index] ?? null,
  }))
}

/** An action.yml as GitHub's own parser reads it. */
export async function readAction(path: string, text: string): Promise<ActionDefinition> {
  const github = await loadParser()
  const { context, value } = github.parseAction(
    { name: path, content: text },
    new github.NoOperationTraceWriter(),
  )
  const converted = value && github.convertActionTemplate(context, value)
  const errors = context.errors.getErrors()
  if (errors.length > 0 || !value || !converted)
    throw new InvalidFile(`${path}: ${errors.map(({ message }) => message).join('; ')}`)
  const template = toTemplate(JSON.parse(JSON.stringify(value)))
  const { runs } = converted
  const inputs = member(template, 'inputs')
  return {
    template,
    using: runs.using,
    steps: 'steps' in runs ? toSteps(runs.steps, member(member(template, 'runs'), 'steps')) : [],
    inputs: isMapping(inputs)
      ? inputs.entries.map(([name, input]) => ({
          name: toText(name),
          usual: member(input, 'default') ?? '',
        }))
      : [],
  }
}
