import { data, Evaluator, Lexer, Parser } from '@actions/expressions'
import { describe, expect, it } from 'vitest'
import { isJson } from '../github/contract/describe.ts'
import { actionsOf, type EventName, payloadWrongs, presence, recorded } from '../github/contract/webhooks.ts'
import { parsedWorkflow, type Workflow } from './parsed.ts'
import { written } from './written.ts'

const workflows = written([['propose: [{ use: command, command: ./ideas }]']])
  .filter(({ path }) => path.includes('/workflows/'))
  .map(({ path, text }) => ({ path, text, workflow: parsedWorkflow(text) }))

/** Events whose payload is a webhook's; a schedule's is a line of the file itself. */
const eventsOf = ({ on }: Workflow) =>
  Object.keys(on).filter((name): name is EventName => name !== 'schedule')

describe('recorded payloads', () => {
  it('are of every event that starts a workflow, as their published schemas have them', () => {
    const started = new Set(workflows.flatMap(({ workflow }) => eventsOf(workflow)))
    expect(new Set(recorded.map(({ event }) => event))).toEqual(started)
    const wrong = recorded.filter(({ event, payload }) => payloadWrongs(event, payload).length > 0)
    // One is of a time in which runs did not tell the path of their file: it has to be borne all the same.
    expect(wrong).toEqual([
      { event: 'workflow_run', payload: expect.objectContaining({ action: 'completed' }) },
    ])
    expect(at(wrong[0]?.payload, 'workflow_run.path')).toBeUndefined()
  })

  it('would be refused, were they otherwise', () => {
    for (const { event, payload } of valid) {
      expect(payloadWrongs(event, { ...payload, action: 'shouted', repository: {} })).not.toEqual([])
      const { sender: _, ...rest } = payload
      expect(payloadWrongs(event, rest)).not.toEqual([])
    }
  })
})

describe('what the workflows take from an event', () => {
  it.each(workflows.map(({ path, text, workflow }) => [path, text, workflow] as const))(
    'is what the schemas of its triggers promise: %s',
    (_path, text, workflow) => {
      const paths = [...text.matchAll(/\bgithub\.event\.([\w.]+\w)/g)].map(([, path = '']) => path)
      const found = paths.map(path => [path, eventsOf(workflow).map(event => presence(event, path))])
      // Asked for only where it tells whether there is one.
      const expected = paths.map(path => {
        if (path === 'issue.pull_request') return [path, ['sometimes']]
        const isOfOne = path.startsWith('workflow_run.')
        return [
          path,
          eventsOf(workflow).map(event => (isOfOne && event !== 'workflow_run' ? 'never' : 'always')),
        ]
      })
      expect(found).toEqual(expected)
    },
  )

  it.each(workflows.map(({ path, workflow }) => [path, workflow] as const))(
    'are kinds that there are: %s',
    (_path, workflow) => {
      for (const event of eventsOf(workflow)) {
        const trigger = workflow.on[event]
        const types = isJson(trigger) && Array.isArray(trigger['types']) ? trigger['types'] : []
        expect([event, actionsOf(event)]).toEqual([event, expect.arrayContaining(types)])
      }
    },
  )
})

/** Which jobs GitHub's own evaluator would start. */
function started(
  name: string,
  event: string,
  payload: unknown,
  variables: Record<string, string> = {},
): string[] {
  const found = workflows.find(({ path }) => path.endsWith(`/${name}`))
  const jobs = Object.entries(found?.workflow.jobs ?? {}).filter(([job]) => job === 'tick' || job === 'wake')
  return jobs.flatMap(([job, { if: condition = 'true' }]) => {
    const contexts = { github: { event_name: event, event: payload }, vars: variables }
    return holds(condition, contexts) ? [job] : []
  })
}

function holds(condition: string, contexts: object): boolean {
  const names = Object.keys(contexts)
  const expression = new Parser(new Lexer(condition).lex().tokens, names, []).parse()
  const values: unknown = JSON.parse(JSON.stringify(contexts), data.reviver)
  if (!(values instanceof data.Dictionary)) throw new Error('contexts are a dictionary')
  return new Evaluator(expression, values).evaluate().coerceString() === 'true'
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
const of = (event: EventName) => valid.filter(each => each.event === event).map(({ payload }) => payload)
const PULL = {
  url: 'https://a/b',
  html_url: 'https://a/b',
  diff_url: 'https://a/b',
  patch_url: 'https://a/b',
}

describe('which jobs a payload starts', () => {
  it('none of what was recorded elsewhere but what was started by hand', () => {
    for (const { event, payload } of recorded.filter(each => each.event !== 'workflow_dispatch')) {
      const triggered = workflows.filter(({ workflow }) => event in workflow.on)
      const jobs = triggered.flatMap(({ path }) => started(path.split('/').at(-1) ?? '', event, payload))
      expect([event, triggered.length, jobs]).toEqual([event, 1, []])
    }
    for (const payload of of('workflow_dispatch'))
      expect(started('winnow.yml', 'workflow_dispatch', payload)).toEqual(['tick'])
  })

  it.each([
    ['.github/workflows/winnow-measure.yml', ['tick']],
    ['.github/workflows/winnow-wake.yml', ['tick']],
    ['.github/workflows/winnow.yml', []],
    ['.github/workflows/other/winnow-wake.yml', []],
    ['', []],
  ])('the end of a run of %s', (path, jobs) => {
    const named = { 'workflow_run.path': path, 'workflow_run.name': 'winnow-wake' }
    for (const payload of of('workflow_run'))
      expect(started('winnow.yml', 'workflow_run', having('workflow_run', payload, named))).toEqual(jobs)
  })

  it.each([
    ['optimize/size', ['wake']],
    ['optimize', []],
    ['main', []],
    ['x/optimize/size', []],
    ['optimize-exp/size/exp-001', []],
  ])('a pull request against %s, and a review of it', (base, jobs) => {
    for (const event of ['pull_request', 'pull_request_review'] as const)
      for (const payload of of(event))
        expect(
          started('winnow-wake.yml', event, having(event, payload, { 'pull_request.base.ref': base })),
        ).toEqual(jobs)
  })

  it.each([
    ['/winnow status', true, ['tick']],
    ['/winnow status', false, []],
    ['please /winnow stop', true, []],
    ['', true, []],
  ])('the comment %j, on a pull request: %s', (body, onPull, jobs) => {
    for (const payload of of('issue_comment')) {
      const pull = onPull ? { 'issue.pull_request': PULL } : {}
      const event = having('issue_comment', payload, { 'comment.body': body, ...pull })
      expect(started('winnow-comments.yml', 'issue_comment', event)).toEqual(jobs)
    }
  })

  it.each([
    ['true', []],
    ['on', []],
    ['false', ['tick']],
    ['', ['tick']],
  ])('none while WINNOW_PAUSED is %j', (WINNOW_PAUSED, jobs) => {
    for (const payload of of('workflow_dispatch'))
      expect(started('winnow.yml', 'workflow_dispatch', payload, { WINNOW_PAUSED })).toEqual(jobs)
    expect(started('winnow.yml', 'schedule', { schedule: '7 * * * *' }, { WINNOW_PAUSED })).toEqual(jobs)
  })
})
