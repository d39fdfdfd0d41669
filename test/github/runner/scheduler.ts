import { isJson, type Json } from '../contract/describe.ts'
import type { EmulatedGithub } from '../emulator/github.ts'
import { noteRunCompleted } from '../emulator/events.ts'
import type { RunRecord, Runner } from '../emulator/world.ts'
import {
  ancestorsOf,
  type Attempt,
  concludeRun,
  endGroup,
  findGroup,
  inputsOf,
  type JobGroup,
  type Leg,
  mergeOutputs,
  needsOf,
  newGroup,
  statusBefore,
} from './attempt.ts'
import { githubContext } from './contexts.ts'
import { InvalidFile, readWorkflow } from './definitions.ts'
import { type Contexts, evaluateExpression, isTruthy, type Status, toText } from './expressions.ts'
import { Groups, toConcurrency } from './groups.ts'
import { type During, runJob } from './machine.ts'
import { expandStrategy, nameLeg } from './matrix.ts'
import { completePayload } from './payloads.ts'
import { toGrants } from './permissions.ts'
import type { Published } from './published.ts'
import type { JobRecord, Result } from './records.ts'
import { evaluateTemplate, member } from './template.ts'

export interface SchedulerOptions {
  /** How many hosted machines there are. */
  machines: number
  /** Self-hosted ones by their labels. */
  selfHosted: readonly (readonly string[])[]
  secrets: Record<string, string>
  /** Secrets that only jobs of an environment get, and the branches from which it may be used. */
  environments: Readonly<Record<string, { secrets: Record<string, string>; branches: RegExp }>>
  published: Published
  tools: string
  during: During | null
}

/** Starts the jobs of runs as GitHub does: everything that happens is in the workflow files and the events. */
export class Scheduler implements Runner {
  readonly jobs: JobRecord[] = []
  /** Jobs that no machine takes for now. */
  withholds: (job: JobRecord) => boolean = () => false
  readonly #github: EmulatedGithub
  readonly #options: SchedulerOptions
  readonly #groups = new Groups()
  readonly #attempts: Attempt[] = []
  #active = 0
  #changed: (() => void)[] = []
  #isPumping = false

  constructor(github: EmulatedGithub, options: SchedulerOptions) {
    this.#github = github
    this.#options = options
    github.world.runner = this
  }

  start(run: RunRecord, kept: readonly JobRecord[] = [], repeated: ReadonlySet<string> = new Set()): void {
    const attempt: Attempt = {
      run,
      workflow: null,
      concurrency: null,
      state: 'loading',
      cancelled: false,
      groups: [],
      kept,
      repeated,
      cancel: () => this.#cancelAttempt(attempt),
    }
    this.#attempts.push(attempt)
    this.#track(this.#load(attempt))
  }

  cancel(run: RunRecord): void {
    const attempt = this.#attempts.findLast(each => each.run === run)
    if (attempt) this.#cancelAttempt(attempt)
    this.#pump()
  }

  /** Ends one job as GitHub does when its time is up: that of its work, or that of waiting for a machine. */
  timeOut(job: JobRecord): void {
    const leg = this.#legOf(job)
    if (leg) this.#cancelLeg(leg)
    this.#pump()
  }

  /** Takes its machine away from one job. */
  lose(job: JobRecord): void {
    this.#legOf(job)?.lost.abort()
  }

  #legOf(job: JobRecord): Leg | undefined {
    return this.#attempts
      .flatMap(({ groups }) => groups.flatMap(({ legs }) => legs))
      .find(({ record }) => record === job)
  }

  /** Resolves when nothing moves any more: what is left waits for a machine or for people. */
  async rest(): Promise<void> {
    for (;;) {
      await this.#github.settle()
      this.#pump()
      if (this.#active === 0) return
      await new Promise<void>(resolve => this.#changed.push(resolve))
    }
  }

  #track(work: Promise<void>): void {
    this.#active++
    void this.#finish(work)
  }

  async #finish(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      const told = error instanceof Error ? (error.stack ?? error.message) : String(error)
      this.#github.api.violations.push(`the runner broke: ${told}`)
    }
    this.#active--
    this.#pump()
    for (const resolve of this.#changed.splice(0)) resolve()
  }

  async #load(attempt: Attempt): Promise<void> {
    const { run } = attempt
    const { world, api } = this.#github
    run.status = 'queued'
    const commit = run.job?.commit ?? run.head
    const text = (await world.git.file(commit, run.path)) ?? ''
    if (run.job) {
      const { payload, wrongs } = completePayload(run.event, run.job.payload)
      run.job.payload = payload
      api.violations.push(...wrongs)
    }
    try {
      attempt.workflow = await readWorkflow(run.path, text)
      const called = attempt.workflow.jobs.find(({ calls }) => calls !== null)
      if (called)
        throw new InvalidFile(`error parsing called workflow "${called.calls}": workflow was not found.`)
      attempt.groups = attempt.workflow.jobs.map(newGroup)
      attempt.kept = keepUntouched(attempt)
      const concurrency = member(attempt.workflow.template, 'concurrency')
      attempt.concurrency = toConcurrency(evaluateTemplate(concurrency, this.#workflowContexts(attempt, '')))
      attempt.state = 'pending'
    } catch (error) {
      if (!(error instanceof InvalidFile)) throw error
      attempt.state = 'done'
      Object.assign(run, { status: 'completed', conclusion: 'failure', refusal: error.message })
      await noteRunCompleted(world, run)
    }
  }

  #workflowContexts({ run }: Attempt, job: string): Contexts & { github: Json } {
    const { world } = this.#github
    return {
      github: githubContext(world, run, job),
      inputs: inputsOf(run),
      vars: Object.fromEntries(world.variables),
    }
  }

  /** Moves everything as far as it goes; what it starts calls it again. */
  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      while (this.#attempts.some(attempt => this.#advance(attempt)));
    } finally {
      this.#isPumping = false
    }
  }

  /** Whether anything changed. */
  #advance(attempt: Attempt): boolean {
    const { run, concurrency } = attempt
    if (attempt.state === 'pending') {
      if (attempt.cancelled) return this.#end(attempt)
      if (concurrency && !this.#groups.enter(concurrency, attempt)) return false
      attempt.state = 'running'
      Object.assign(run, { status: 'in_progress', conclusion: null })
      return true
    }
    if (attempt.state !== 'running') return false
    if (attempt.groups.some(group => this.#advanceGroup(attempt, group))) return true
    return attempt.groups.every(({ state }) => state === 'done') && this.#end(attempt)
  }

  #end(attempt: Attempt): boolean {
    const { run, concurrency } = attempt
    for (const group of attempt.groups) group.result ??= 'cancelled'
    attempt.state = 'done'
    Object.assign(run, { status: 'completed', conclusion: concludeRun(attempt) })
    if (concurrency) this.#groups.leave(concurrency, attempt)
    this.#track(noteRunCompleted(this.#github.world, run))
    return true
  }

  #advanceGroup(attempt: Attempt, group: JobGroup): boolean {
    if (group.state === 'done') return false
    if (group.state === 'waiting') {
      const isReady = group.definition.needs.every(id => findGroup(attempt, id).state === 'done')
      if (isReady) this.#open(attempt, group)
      return isReady
    }
    const started = group.legs.some(leg => this.#startLeg(attempt, group, leg))
    if (started) return true
    if (!group.legs.every(({ state }) => state === 'done')) return false
    const { template } = group.definition
    endGroup(group, leg => {
      const contexts = this.#jobContexts(attempt, group, leg)
      return evaluateTemplate(member(template, 'continue-on-error'), contexts) === true
    })
    return true
  }

  /** Its needs have ended: it is skipped, or becomes as many jobs as its matrix has entries. */
  #open(attempt: Attempt, group: JobGroup): void {
    const { definition } = group
    const kept = attempt.kept.filter(({ id }) => id === definition.id)
    const contexts = { ...this.#workflowContexts(attempt, definition.id), needs: needsOf(attempt, group) }
    const before = this.jobs.length
    group.state = 'expanded'
    try {
      const isWanted = this.#holds(definition.condition, contexts, statusBefore(attempt, group))
      if (!isWanted && kept.length === 0) {
        const result = attempt.cancelled ? 'cancelled' : 'skipped'
        group.legs = [this.#newLeg(attempt, group, {}, 0, result)]
        return
      }
      const strategy = evaluateTemplate(member(definition.template, 'strategy'), contexts)
      group.strategy = expandStrategy(isJson(strategy) ? strategy : null)
      group.legs = group.strategy.legs.map((matrix, index) =>
        this.#newLeg(attempt, group, matrix, index, null),
      )
    } catch (error) {
      this.jobs.splice(before)
      const leg = this.#newLeg(attempt, group, {}, 0, 'failure')
      leg.record.log.push(`##[error]${error instanceof Error ? error.message : String(error)}`)
      group.legs = [leg]
    }
    for (const leg of group.legs) {
      const done = kept.find(
        ({ matrix, conclusion }) => toText(matrix) === toText(leg.matrix) && conclusion !== null,
      )
      if (!done) continue
      Object.assign(leg.record, { conclusion: done.conclusion, outputs: done.outputs, status: 'completed' })
      leg.state = 'done'
      mergeOutputs(group, done.outputs)
    }
  }

  #holds(condition: string, contexts: Contexts, status: Status): boolean {
    return isTruthy(evaluateExpression(condition, contexts, status))
  }

  #jobContexts(attempt: Attempt, group: JobGroup, { matrix, index }: Pick<Leg, 'matrix' | 'index'>) {
    const { strategy, definition } = group
    const { failFast = true, mostAtOnce = 1, legs = [] } = strategy ?? {}
    return {
      ...this.#workflowContexts(attempt, definition.id),
      needs: needsOf(attempt, group),
      matrix,
      strategy: {
        'fail-fast': failFast,
        'job-index': index,
        'job-total': legs.length,
        'max-parallel': Number.isFinite(mostAtOnce) ? mostAtOnce : legs.length,
      },
    }
  }

  #environmentOf(group: JobGroup, contexts: Contexts): string | null {
    const value = evaluateTemplate(member(group.definition.template, 'environment'), contexts)
    return toText(isJson(value) ? value['name'] : value) || null
  }

  #refuseEnvironment({ run }: Attempt, group: JobGroup, contexts: Contexts): string | null {
    const name = this.#environmentOf(group, contexts)
    const rule = name === null ? undefined : this.#options.environments[name]?.branches
    return rule === undefined || rule.test(run.branch)
      ? null
      : `Branch "${run.branch}" is not allowed to deploy to ${name} due to environment protection rules.`
  }

  #secretsOf({ run }: Attempt, group: JobGroup, contexts: Contexts): Record<string, string> {
    if (run.job?.fromFork === true) return {}
    const name = this.#environmentOf(group, contexts)
    const own = name === null ? undefined : this.#options.environments[name]
    return { ...this.#options.secrets, ...own?.secrets }
  }

  #newLeg(attempt: Attempt, group: JobGroup, matrix: Json, index: number, result: Result | null): Leg {
    const { run, workflow } = attempt
    const { id, template } = group.definition
    const permissions = member(template, 'permissions') ?? member(workflow?.template, 'permissions')
    const contexts = this.#jobContexts(attempt, group, { matrix, index })
    const granted = permissions === undefined ? undefined : evaluateTemplate(permissions, {})
    const record: JobRecord = {
      run: run.id,
      attempt: run.attempt ?? 1,
      id,
      name: id,
      matrix,
      status: result === null ? 'queued' : 'completed',
      conclusion: result,
      labels: [],
      steps: [],
      outputs: {},
      grants: toGrants(granted, run.job?.fromFork ?? false),
      log: [],
      warnings: [],
      summary: [],
      took: null,
    }
    this.jobs.push(record)
    const controller = new AbortController()
    const leg: Leg = {
      record,
      matrix,
      index,
      concurrency: null,
      controller,
      lost: new AbortController(),
      state: result === null ? 'queued' : 'done',
      cancel: () => this.#cancelLeg(leg),
    }
    if (result !== null) return leg
    const own = evaluateTemplate(member(template, 'name'), contexts)
    record.name = toText(own) || nameLeg(id, matrix)
    record.labels = toLabels(evaluateTemplate(member(template, 'runs-on'), contexts))
    leg.concurrency = toConcurrency(evaluateTemplate(member(template, 'concurrency'), contexts))
    return leg
  }

  #startLeg(attempt: Attempt, group: JobGroup, leg: Leg): boolean {
    const { record, concurrency, controller } = leg
    if (leg.state !== 'queued') return false
    if (concurrency && !this.#groups.enter(concurrency, leg)) return false
    const atOnce = group.legs.filter(({ state }) => state === 'running').length
    const mayStart = atOnce < (group.strategy?.mostAtOnce ?? Number.POSITIVE_INFINITY)
    if (!mayStart || this.withholds(record) || !this.#hasMachine(record)) return false
    const { workflow } = attempt
    if (!workflow) throw new Error('a job starts after its workflow was read')
    leg.state = 'running'
    record.status = 'in_progress'
    const { published, tools, during } = this.#options
    const contexts = this.#jobContexts(attempt, group, leg)
    const refusal = this.#refuseEnvironment(attempt, group, contexts)
    if (refusal !== null) {
      record.log.push(`##[error]${refusal}`)
      record.conclusion = 'failure'
      this.#endLeg(group, leg)
      return true
    }
    const job = runJob({
      github: this.#github,
      run: attempt.run,
      record,
      definition: group.definition,
      workflow,
      contexts: { ...contexts, secrets: this.#secretsOf(attempt, group, contexts) },
      published,
      tools,
      cancelled: controller.signal,
      lost: leg.lost.signal,
      during,
    })
    this.#track(job.finally(() => this.#endLeg(group, leg)))
    return true
  }

  #hasMachine({ labels }: JobRecord): boolean {
    const busy = this.jobs.filter(({ status }) => status === 'in_progress')
    const [first = ''] = labels
    const isHosted = (label: string | undefined) => label?.startsWith('ubuntu-') === true
    if (isHosted(first)) return busy.filter(each => isHosted(each.labels[0])).length < this.#options.machines
    const fitting = this.#options.selfHosted.filter(own => labels.every(label => own.includes(label)))
    const taken = busy.filter(each => toText(each.labels) === toText(labels)).length
    return taken < fitting.length
  }

  #endLeg(group: JobGroup, leg: Leg): void {
    const { record, concurrency } = leg
    record.status = 'completed'
    record.conclusion ??= 'failure'
    leg.state = 'done'
    if (concurrency) this.#groups.leave(concurrency, leg)
    mergeOutputs(group, record.outputs)
    if (record.conclusion !== 'failure' || group.strategy?.failFast !== true) return
    for (const other of group.legs) if (other !== leg) this.#cancelLeg(other)
  }

  #cancelLeg(leg: Leg): void {
    const { record, concurrency } = leg
    if (leg.state === 'running') leg.controller.abort()
    if (leg.state !== 'queued') return
    leg.state = 'done'
    Object.assign(record, { status: 'completed', conclusion: 'cancelled' })
    if (concurrency) this.#groups.leave(concurrency, leg)
  }

  /** Jobs whose condition holds all the same, as `always()` does, are left alone. */
  #cancelAttempt(attempt: Attempt): void {
    if (attempt.state === 'done') return
    attempt.cancelled = true
    if (attempt.concurrency && attempt.state === 'pending') this.#groups.leave(attempt.concurrency, attempt)
    for (const group of attempt.groups.filter(({ state }) => state === 'expanded'))
      for (const leg of group.legs) {
        const contexts = this.#jobContexts(attempt, group, leg)
        if (!this.#holds(group.definition.condition, contexts, statusBefore(attempt, group)))
          this.#cancelLeg(leg)
      }
  }
}

/** What depends on a job that runs again runs again as well. */
function keepUntouched(attempt: Attempt): JobRecord[] {
  const { kept, groups, repeated } = attempt
  const isRepeated = ({ definition }: JobGroup) => repeated.has(definition.id)
  const touched = groups.filter(group => ancestorsOf(attempt, group).some(isRepeated))
  return kept.filter(({ id }) => !touched.some(({ definition }) => definition.id === id))
}

function toLabels(value: unknown): string[] {
  if (isJson(value))
    return [value['group'], value['labels']]
      .flat()
      .filter(each => each !== undefined)
      .map(String)
  return [value]
    .flat()
    .filter(each => each !== null)
    .map(String)
}
