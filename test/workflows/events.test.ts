import { describe, expect, it } from 'vitest'
import { WORKFLOW } from '../../src/init/workflows/files.ts'
import { isJson } from '../github/contract/describe.ts'
import { actionsOf, type EventName, payloadWrongs, presence, recorded } from '../github/contract/webhooks.ts'
import { evaluateExpression, evaluateText, isTruthy } from '../github/runner/expressions.ts'
import { type Job, parsedWorkflow, type Workflow } from './parsed.ts'
import { JUDGED, NODE, written } from './written.ts'

const ASKING = 'propose: [{ use: command, command: ./ideas }]'
const text = (more: string[][], singleJob = false) =>
  written(more, NODE, { singleJob }).find(({ path }) => path === WORKFLOW)?.text ?? ''
const plain = parsedWorkflow(text([[]]))
const full = parsedWorkflow(text([[ASKING, ...JUDGED], ['execution: { runs_on: bench }']]))
const single = parsedWorkflow(text([[]], true))
const elsewhere = parsedWorkflow(text([['branches: { prefix: tuning }'], []]))

/** The events of a file whose payload is a webhook's; `pull_request_target` has that of `pull_request`. */
const listEvents = ({ on }: Workflow) =>
  Object.keys(on).flatMap(trigger => {
    if (trigger === 'schedule') return []
    const event = trigger === 'pull_request_target' ? 'pull_request' : trigger
    if (!isEvent(event)) throw new Error(`no payload of ${trigger} was recorded`)
    return [{ trigger, event }]
  })

function isEvent(name: string): name is EventName {
  return recorded.some(({ event }) => event === name)
}

describe('recorded payloads', () => {
  it('are as their published schemas have them', () => {
    const wrong = recorded.filter(({ event, payload }) => payloadWrongs(event, payload).length > 0)
    // Of a time in which runs did not tell the path of their file.
    expect(wrong.map(({ event }) => event)).toEqual(['workflow_run'])
  })

  it('would be refused, were they otherwise', () => {
    for (const { event, payload } of valid) {
      expect(payloadWrongs(event, { ...payload, action: 'shouted', repository: {} })).not.toEqual([])
      const { sender: _, ...rest } = payload
      expect(payloadWrongs(event, rest)).not.toEqual([])
    }
  })
})

describe('what the workflow takes from an event', () => {
  it('is what the schemas of its triggers promise', () => {
    const paths = new Set(
      [...text([[]]).matchAll(/\bgithub\.event\.([\w.]+\w)/g)].map(([, path = '']) => path),
    )
    const events = ['issue_comment', 'pull_request', 'pull_request_review', 'workflow_dispatch'] as const
    const found = Object.fromEntries(
      [...paths].map(path => [path, events.map(event => presence(event, path))]),
    )
    const [no, some, yes] = ['never', 'sometimes', 'always']
    // Every path has a value, or is asked for only where it tells whether there is one.
    expect(found).toEqual({
      action: [yes, yes, yes, no],
      comment: [yes, no, no, no],
      'comment.body': [yes, no, no, no],
      'issue.number': [yes, no, no, no],
      'issue.pull_request': [some, no, no, no],
      pull_request: [no, yes, yes, no],
      'pull_request.base.ref': [no, yes, yes, no],
      // Null where the fork is gone, which is no repository of ours.
      'pull_request.head.repo.full_name': [no, yes, yes, no],
      'pull_request.number': [no, yes, yes, no],
      'repository.default_branch': [yes, yes, yes, yes],
      review: [no, no, yes, no],
      // Of a schedule, which is no webhook: checkout takes the default branch there when it is told of none.
      schedule: [no, no, no, no],
    })
  })

  it('are kinds that there are', () => {
    for (const { trigger, event } of listEvents(plain)) {
      const given = plain.on[trigger]
      const types = isJson(given) && Array.isArray(given['types']) ? given['types'] : []
      expect([event, actionsOf(event)]).toEqual([event, expect.arrayContaining(types)])
    }
  })
})

const HOME = 'team/project'
const status = { success: true, failure: false, cancelled: false }

interface Occasion {
  trigger: string
  payload: unknown
  vars?: Record<string, string>
}

function describeEvent({ trigger, payload }: Occasion) {
  return { event_name: trigger, event: payload, repository: HOME }
}

/** Which jobs that need no other start. */
function startedBy(workflow: Workflow, occasion: Occasion): string[] {
  const contexts = { github: describeEvent(occasion), vars: occasion.vars ?? {} }
  return Object.entries(workflow.jobs).flatMap(([name, job]) => {
    if (job['needs'] !== undefined) return []
    return isTruthy(evaluateExpression(job.if ?? 'true', contexts, status)) ? [name] : []
  })
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((of, key) => (isJson(of) ? of[key] : undefined), value)
}

/** A payload with another value at a path; it has to be one that GitHub could send. */
function having(event: EventName, payload: unknown, changes: Record<string, unknown>): unknown {
  const copy: unknown = structuredClone(payload)
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    const holder = at(copy, keys.join('.'))
    if (!isJson(holder)) throw new Error(`no ${path} in ${event}`)
    holder[last] = value
  }
  expect(payloadWrongs(event, copy)).toEqual([])
  return copy
}

const valid = recorded.filter(({ event, payload }) => payloadWrongs(event, payload).length === 0)
const payloads = (event: EventName) =>
  valid.filter(each => each.event === event).map(({ payload }) => payload)
const PULL = {
  url: 'https://a/b',
  html_url: 'https://a/b',
  diff_url: 'https://a/b',
  patch_url: 'https://a/b',
}
const pullsOfPeople = payloads('pull_request').filter(payload =>
  isJson(at(payload, 'pull_request.head.repo')),
)
const reviews = payloads('pull_request_review').filter(payload =>
  isJson(at(payload, 'pull_request.head.repo')),
)

describe.each([
  ['tick', plain],
  ['run', single],
] as const)('what starts %s', (job, workflow) => {
  it('is no review and no comment of another repository, but what is started by hand', () => {
    for (const trigger of ['issue_comment', 'pull_request_review'] as const)
      for (const payload of payloads(trigger)) expect(startedBy(workflow, { trigger, payload })).toEqual([])
    for (const payload of payloads('workflow_dispatch'))
      expect(startedBy(workflow, { trigger: 'workflow_dispatch', payload })).toEqual([job])
    expect(startedBy(workflow, { trigger: 'schedule', payload: { schedule: '7 * * * *' } })).toEqual([job])
  })

  it('is a pull request, from a fork as well', () => {
    expect(pullsOfPeople.length).toBeGreaterThan(0)
    for (const payload of pullsOfPeople) {
      for (const name of [HOME, 'somebody/project']) {
        const from = having('pull_request', payload, { 'pull_request.head.repo.full_name': name })
        expect(startedBy(workflow, { trigger: 'pull_request_target', payload: from })).toEqual([job])
      }
    }
  })

  it.each([
    ['optimize/size', HOME, [job]],
    ['optimize/size', 'somebody/project', []],
    ['optimize', HOME, []],
    ['main', HOME, []],
    ['x/optimize/size', HOME, []],
    ['optimize-exp/size/exp-001', HOME, []],
  ])('is a review against %s from %s: %j', (base, from, jobs) => {
    expect(reviews.length).toBeGreaterThan(0)
    for (const payload of reviews) {
      const changes = { 'pull_request.base.ref': base, 'pull_request.head.repo.full_name': from }
      const review = having('pull_request_review', payload, changes)
      expect(startedBy(workflow, { trigger: 'pull_request_review', payload: review })).toEqual(jobs)
    }
  })

  it('is no review of a fork that is gone', () => {
    for (const payload of reviews) {
      const review = having('pull_request_review', payload, { 'pull_request.base.ref': 'optimize/size' })
      const head = at(review, 'pull_request.head')
      if (isJson(head)) head['repo'] = null
      expect(startedBy(workflow, { trigger: 'pull_request_review', payload: review })).toEqual([])
    }
  })

  it.each([
    ['/winnow status', true, [job]],
    ['/winnow status', false, []],
    ['please /winnow stop', true, []],
    ['', true, []],
  ])('is the comment %j, on a pull request (%s): %j', (body, onPull, jobs) => {
    for (const payload of payloads('issue_comment')) {
      const pull = onPull ? { 'issue.pull_request': PULL } : {}
      const comment = having('issue_comment', payload, { 'comment.body': body, ...pull })
      expect(startedBy(workflow, { trigger: 'issue_comment', payload: comment })).toEqual(jobs)
    }
  })

  it.each([
    ['true', []],
    ['on', []],
    ['false', [job]],
    ['', [job]],
  ])('is nothing while WINNOW_PAUSED is %j: %j', (WINNOW_PAUSED, jobs) => {
    const vars = { WINNOW_PAUSED }
    for (const payload of payloads('workflow_dispatch'))
      expect(startedBy(workflow, { trigger: 'workflow_dispatch', payload, vars })).toEqual(jobs)
    const schedule = { trigger: 'schedule', payload: { schedule: '7 * * * *' }, vars }
    expect(startedBy(workflow, schedule)).toEqual(jobs)
    for (const payload of pullsOfPeople)
      expect(startedBy(workflow, { trigger: 'pull_request_target', payload, vars })).toEqual(jobs)
  })
})

it('follows the prefixes of all specs', () => {
  expect(elsewhere.on['pull_request_target']).toMatchObject({ branches: ['optimize/**', 'tuning/**'] })
  for (const payload of reviews) {
    const to = (base: string) => {
      const changes = { 'pull_request.base.ref': base, 'pull_request.head.repo.full_name': HOME }
      const review = having('pull_request_review', payload, changes)
      return startedBy(elsewhere, { trigger: 'pull_request_review', payload: review })
    }
    expect(['tuning/a', 'optimize/b', 'other/c'].map(to)).toEqual([['tick'], ['tick'], []])
  }
})

describe('the name of a run', () => {
  const nameRun = (occasion: Occasion, title = '') => {
    const contexts = { github: describeEvent(occasion), inputs: { title }, vars: {} }
    return evaluateText(String(plain['run-name']), contexts)
  }

  it('is the title that it was started with', () => {
    const [payload] = payloads('workflow_dispatch')
    const occasion = { trigger: 'workflow_dispatch', payload }
    expect(nameRun(occasion, 'speed: measure exp-007')).toBe('speed: measure exp-007')
    expect(nameRun(occasion)).toBe('started by hand')
  })

  it('says what happened otherwise', () => {
    expect(nameRun({ trigger: 'schedule', payload: { schedule: '7 * * * *' } })).toBe('scheduled check')
    const named = (trigger: string, event: EventName, changes: Record<string, unknown>) =>
      payloads(event).map(payload => {
        const changed: unknown = { ...(isJson(payload) ? payload : {}), ...changes }
        return nameRun({ trigger, payload: changed })
      })
    const pulls = named('pull_request_target', 'pull_request', { action: 'synchronize' })
    expect(pulls).toEqual(pulls.map(() => expect.stringMatching(/^pull request #\d+ updated$/)))
    const opened = named('pull_request_target', 'pull_request', { action: 'opened' })
    expect(opened).toEqual(opened.map(() => expect.stringMatching(/^pull request #\d+ opened$/)))
    for (const name of named('pull_request_review', 'pull_request_review', {}))
      expect(name).toMatch(/^review of #\d+$/)
    for (const name of named('issue_comment', 'issue_comment', {})) expect(name).toMatch(/^comment on #\d+$/)
  })
})

interface Run {
  event?: string
  ref?: string
  outputs?: Record<string, string>
  /** How tick ended. */
  result?: 'success' | 'failure' | 'cancelled' | 'skipped'
  cancelled?: boolean
}

/** Which jobs follow tick; as GitHub has it, what tick did not put out is empty. */
function following(workflow: Workflow, run: Run): string[] {
  const { event = 'workflow_dispatch', ref = 'optimize/size-0', result = 'success', cancelled = false } = run
  const contexts = {
    github: {
      event_name: event,
      ref_name: ref,
      event: { repository: { default_branch: 'main' } },
      repository: HOME,
    },
    vars: {},
    needs: { tick: { result, outputs: run.outputs ?? {} } },
  }
  const now = { success: result === 'success' && !cancelled, failure: result === 'failure', cancelled }
  const follows = ({ if: condition = 'success()' }: Job) =>
    isTruthy(evaluateExpression(condition, contexts, now))
  return Object.entries(workflow.jobs).flatMap(([name, job]) =>
    job['needs'] !== undefined && follows(job) ? [name] : [],
  )
}

describe('what follows tick', () => {
  const orders = '[{"slot":0}]'

  it.each([
    ['nothing, where nothing is due', {}, []],
    ['the measuring job of the campaign', { outputs: { campaign: 'size-0', orders } }, ['measure', 'settle']],
    [
      'that of a campaign with a runner of its own',
      { outputs: { campaign: 'size-1', orders } },
      ['measure-size-1', 'settle'],
    ],
    [
      'that of a campaign younger than the file',
      { outputs: { campaign: 'young', orders } },
      ['measure', 'settle'],
    ],
    ['the asking of programs', { outputs: { propose: 'size-0' }, ref: 'main' }, ['propose', 'settle']],
    ['the asking of models', { outputs: { judge: 'size-0' }, ref: 'main' }, ['settle', 'judge']],
    [
      'all of them at once',
      { outputs: { campaign: 'size-0', orders, judge: 'size-0', propose: 'size-0' } },
      ['judge', 'measure', 'propose', 'settle'],
    ],
    [
      'no measurement on the default branch',
      { outputs: { campaign: 'size-0', orders }, ref: 'main' },
      ['settle'],
    ],
    [
      'no measurement of what a pull request started',
      { outputs: { campaign: 'size-0', orders }, event: 'pull_request_target' },
      ['settle'],
    ],
    [
      'settle alone, where the run is cancelled: an order must not wait for its report',
      { outputs: { campaign: 'size-0', orders }, cancelled: true },
      ['settle'],
    ],
    [
      'what was put out before tick failed',
      { outputs: { campaign: 'size-0', orders }, result: 'failure' },
      ['measure', 'settle'],
    ],
    ['nothing, where tick was skipped', { outputs: {}, result: 'skipped' }, []],
  ] satisfies [string, Run, string[]][])('%s', (_what, run, jobs) => {
    expect(new Set(following(full, run))).toEqual(new Set(jobs))
  })
})

it('asks nobody in the run of a review, where no environment gives its secrets', () => {
  const step = full.jobs['tick']?.steps.find(({ with: given }) => given?.['command'] === 'tick')
  const nextJobs = (event_name: string) =>
    evaluateText(String(step?.with?.['next-jobs']), { github: { event_name } })
  expect(nextJobs('schedule')).toBe('measure, propose, judge')
  expect(nextJobs('pull_request_review')).toBe('measure')
})

describe('the slot of an order', () => {
  const outputs = plain.jobs['measure']?.['outputs']
  const fillSlots = (slot: number, jobStatus: string, uploaded: { hand?: string; rescue?: string }) => {
    const step = (digest: string | undefined) => ({
      outputs: digest === undefined ? {} : { 'artifact-digest': digest },
    })
    const contexts = {
      matrix: { slot, order: 'a' },
      job: { status: jobStatus },
      steps: { hand: step(uploaded.hand), rescue: step(uploaded.rescue) },
    }
    const values = Object.entries(isJson(outputs) ? outputs : {}).map(
      ([name, value]) => [name, evaluateText(String(value), contexts)] as const,
    )
    return Object.fromEntries(values.filter(([, value]) => value !== ''))
  }

  it('tells how its job ended and what it uploaded, and says nothing of others', () => {
    expect(fillSlots(0, 'success', { hand: 'd1' })).toEqual({ 'slot-0': 'success d1' })
    expect(fillSlots(7, 'cancelled', { rescue: 'd2' })).toEqual({ 'slot-7': 'cancelled d2' })
    expect(fillSlots(19, 'failure', {})).toEqual({ 'slot-19': 'failure ' })
  })
})
