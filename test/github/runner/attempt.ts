import { isJson, type Json } from '../contract/describe.ts'
import type { RunRecord } from '../emulator/world.ts'
import type { JobDefinition, WorkflowDefinition } from './definitions.ts'
import type { Status } from './expressions.ts'
import type { Concurrency, Member } from './groups.ts'
import type { Strategy } from './matrix.ts'
import type { JobRecord, Result } from './records.ts'

/** One job of a definition's matrix, on its way to a machine. */
export interface Leg extends Member {
  record: JobRecord
  matrix: Json
  index: number
  concurrency: Concurrency | null
  controller: AbortController
  lost: AbortController
  state: 'queued' | 'running' | 'done'
}

/** One job of the file, with everything its matrix made of it. */
export interface JobGroup {
  definition: JobDefinition
  strategy: Strategy | null
  legs: Leg[]
  state: 'waiting' | 'expanded' | 'done'
  result: Result | null
  outputs: Record<string, string>
}

/** One try of a run. */
export interface Attempt extends Member {
  run: RunRecord
  workflow: WorkflowDefinition | null
  concurrency: Concurrency | null
  state: 'loading' | 'pending' | 'running' | 'done'
  cancelled: boolean
  groups: JobGroup[]
  /** Jobs of the attempt before that are not run again. */
  kept: readonly JobRecord[]
  /** Names of jobs that are run again by themselves, and not for what they depend on. */
  repeated: ReadonlySet<string>
}

export function newGroup(definition: JobDefinition): JobGroup {
  return { definition, strategy: null, legs: [], state: 'waiting', result: null, outputs: {} }
}

export function findGroup({ groups }: Attempt, id: string): JobGroup {
  const found = groups.find(each => each.definition.id === id)
  if (!found) throw new Error(`no job is called ${id}`)
  return found
}

/** Every job that one waits for, whether it names it or not. */
export function ancestorsOf(attempt: Attempt, { definition }: JobGroup): JobGroup[] {
  const found = new Set<JobGroup>()
  const visit = (names: readonly string[]) => {
    for (const group of names.map(id => findGroup(attempt, id))) {
      if (found.has(group)) continue
      found.add(group)
      visit(group.definition.needs)
    }
  }
  visit(definition.needs)
  return [...found]
}

/** Success means that no job before it was skipped, however far before. */
export function statusBefore(attempt: Attempt, group: JobGroup): Status {
  const before = ancestorsOf(attempt, group)
  return {
    success: !attempt.cancelled && before.every(({ result }) => result === 'success'),
    failure: before.some(({ result }) => result === 'failure'),
    cancelled: attempt.cancelled,
  }
}

export function needsOf(attempt: Attempt, { definition }: JobGroup): Json {
  const entries = definition.needs.map(id => {
    const { result, outputs } = findGroup(attempt, id)
    return [id, { result, outputs }]
  })
  return Object.fromEntries(entries)
}

/** The outputs of a matrix are one set: the last that ended wins, and an empty value takes nothing's place. */
export function endGroup(group: JobGroup, toleratesFailure: (leg: Leg) => boolean): void {
  const results = group.legs.map(leg =>
    leg.record.conclusion === 'failure' && toleratesFailure(leg) ? 'success' : leg.record.conclusion,
  )
  group.state = 'done'
  group.result = results.includes('failure')
    ? 'failure'
    : results.includes('cancelled')
      ? 'cancelled'
      : results.every(result => result === 'skipped')
        ? 'skipped'
        : 'success'
}

export function mergeOutputs(group: JobGroup, outputs: Record<string, string>): void {
  for (const [name, value] of Object.entries(outputs))
    if (value !== '' || group.outputs[name] === undefined) group.outputs[name] = value
}

export function concludeRun({ groups, cancelled }: Attempt): Result {
  const results = groups.map(({ result }) => result)
  if (results.includes('failure')) return 'failure'
  if (cancelled || results.includes('cancelled')) return 'cancelled'
  return results.every(result => result === 'skipped') ? 'skipped' : 'success'
}

export function inputsOf({ job }: RunRecord): Json {
  const inputs = job?.payload['inputs']
  return isJson(inputs) ? inputs : {}
}
