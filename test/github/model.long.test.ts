import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Pull } from '../../src/github/pull.ts'
import { tempGithub } from '../github/temp-github.ts'
import { type AnyForge, pullOf } from './temp-forge.ts'

const BRANCHES = ['a', 'b', 'c'] as const
const numRuns = 4
let temp: AnyForge

/** What a change is about: a branch, never a number, so that one history can follow another in one forge. */
type Step =
  | { do: 'open'; branch: string; draft: boolean }
  | { do: 'close' | 'merge' | 'delete' | 'move'; branch: string }
  | { do: 'update'; branch: string; title: string; ready: boolean }
  | { do: 'comment'; branch: string; body: string; sticky: boolean }

const branch = fc.constantFrom(...BRANCHES)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('open' as const), branch, draft: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('close' as const, 'merge' as const, 'delete' as const, 'move' as const),
      branch,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      branch,
      title: fc.constantFrom('x', 'y'),
      ready: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('comment' as const),
      branch,
      body: fc.constantFrom('one', 'two'),
      sticky: fc.boolean(),
    }),
  },
)

/** The model: what a person would say the pull request looks like. */
interface Sketch {
  title: string
  draft: boolean
  state: Pull['state']
  bodies: string[]
  sticky: number | null
}

function opened(name: string, draft: boolean): Sketch {
  return { title: `try ${name}`, draft, state: 'open', bodies: [], sticky: null }
}

function sketchOf(pull: Pull): Omit<Sketch, 'sticky'> {
  const { title, draft, state } = pull
  return { title, draft, state, bodies: pull.comments.map(each => each.body) }
}

/** Applies a step to model and forge alike; nothing that is not open is touched. */
async function take(taken: Step, model: Map<string, Sketch>, numbers: Map<string, number>): Promise<void> {
  const { branch: name } = taken
  const sketch = model.get(name)
  const number = numbers.get(name)
  if (taken.do === 'open') {
    if (sketch?.state === 'open') return
    temp.commit(name)
    numbers.set(name, await temp.forge.open(pullOf(name, { draft: taken.draft })))
    model.set(name, opened(name, taken.draft))
    return
  }
  if (sketch?.state !== 'open' || number === undefined) return
  change(taken, sketch)
  await act(taken, number)
}

function change(taken: Exclude<Step, { do: 'open' }>, sketch: Sketch): void {
  if (taken.do === 'close' || taken.do === 'delete') sketch.state = 'closed'
  if (taken.do === 'merge') sketch.state = 'merged'
  if (taken.do === 'update') sketch.title = taken.title
  if (taken.do === 'update' && taken.ready) sketch.draft = false
  if (taken.do === 'comment') say(taken, sketch)
}

function say(taken: Extract<Step, { do: 'comment' }>, sketch: Sketch): void {
  const body = taken.sticky ? `sticky ${taken.body}` : taken.body
  if (!taken.sticky && sketch.bodies.includes(body)) return
  if (taken.sticky && sketch.sticky !== null) {
    sketch.bodies[sketch.sticky] = body
    return
  }
  if (taken.sticky) sketch.sticky = sketch.bodies.length
  sketch.bodies.push(body)
}

async function act(taken: Exclude<Step, { do: 'open' }>, number: number): Promise<void> {
  const { forge } = temp
  switch (taken.do) {
    case 'close':
      return forge.close(number)
    case 'merge':
      temp.merge(taken.branch)
      // Seen before the branch gets more commits: a merge of an older head is none of the newer one.
      return void (await forge.list())
    case 'delete':
      await forge.list()
      temp.deleteBranch(taken.branch)
      // Seen before the branch is there again: GitHub closes its pull request at once.
      return void (await forge.list())
    case 'move':
      return void temp.commit(taken.branch)
    case 'update':
      return forge.update(number, { title: taken.title, ...(taken.ready ? { draft: false } : {}) })
    case 'comment':
      return forge.comment(
        number,
        taken.sticky ? `sticky ${taken.body}` : taken.body,
        taken.sticky ? { marker: 'm' } : {},
      )
    default:
      return taken satisfies never
  }
}

describe('any history of changes', () => {
  beforeAll(async () => {
    temp = await tempGithub()
  })
  afterAll(() => temp.remove())

  test('leaves the pull requests as a simple model says, for everybody who looks', async () => {
    const bystander = await temp.other('bystander')
    const history = fc.array(step, { minLength: 1, maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(history, async steps => {
        const model = new Map<string, Sketch>()
        const numbers = new Map<string, number>()
        for (const each of steps) await take(each, model, numbers)
        const watched = [...numbers.values()]
        const mine = await temp.forge.list({ numbers: watched })
        for (const [name, { sticky: _sticky, ...sketch }] of model) {
          const pull = mine.find(each => each.number === numbers.get(name))
          expect(pull && sketchOf(pull)).toEqual(sketch)
        }
        expect((await bystander.list({ numbers: watched })).map(sketchOf)).toEqual(mine.map(sketchOf))
        const open = mine.filter(each => each.state === 'open').map(each => each.number)
        expect((await temp.forge.list()).map(each => each.number)).toEqual(open)
        await temp.forge.batch(open.map(number => ({ kind: 'close', number })))
      }),
      { numRuns, endOnFailure: true },
    )
  })
})
