import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, afterAll, describe, expect, it } from 'vitest'
import { computeLoss, selectLossTerms, splitPrintedSignals } from '../../src/decide/loss.ts'
import { readRewrite, renderGradientQuestion } from '../../src/ideas/text-gradient.ts'
import { applyFactCardRule, describeFactCardRule, FACT_CARD_LESSONS } from '../../src/judge/fact-card-rule.ts'
import { type LocalModel, startLocalModel } from '../../src/judge/local-model.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { scratch } from '../git/scratch.ts'

const FIXTURE = new URL('../../fixtures/fact-cards', import.meta.url).pathname
const { spec } = parseSpec(readFileSync(join(FIXTURE, '.winnow/fact-cards.yaml'), 'utf8'), {
  file: 'fact-cards.yaml',
})
const TASKS = spec.measurement.suite?.tasks ?? []

type Prompts = Readonly<Record<string, string>>
const START: Prompts = Object.fromEntries(
  ['worker_pitfalls', 'manager_planning_preamble'].map(name => [
    name,
    readFileSync(join(FIXTURE, `prompts/${name}.md`), 'utf8'),
  ]),
)
const [EVERY_NOTE, SHORT, UNITS, STUFFED, SOURCES] = FACT_CARD_LESSONS

function learn(prompts: Prompts, ...lessons: readonly (typeof EVERY_NOTE)[]): Prompts {
  return lessons.reduce<Prompts>((known, lesson) => {
    if (lesson === undefined) throw new Error('no such lesson')
    return { ...known, [lesson.artifact]: `${known[lesson.artifact]}${lesson.line}\n` }
  }, prompts)
}

let model: LocalModel
beforeAll(async () => {
  model = await startLocalModel(applyFactCardRule)
})
afterAll(() => model.close())

type Printed = Record<string, number | string>

async function runTask(prompts: Prompts, task: (typeof TASKS)[number]): Promise<Printed> {
  const dir = scratch()
  cpSync(FIXTURE, dir, { recursive: true })
  for (const [name, text] of Object.entries(prompts)) writeFileSync(join(dir, `prompts/${name}.md`), text)
  const env = {
    PATH: process.env['PATH'],
    WINNOW_MODEL_URL: model.url,
    WINNOW_TASK: task.name,
    WINNOW_TASK_TEXT: task.task,
    WINNOW_TASK_BUDGET: JSON.stringify(task.budget),
  }
  const { stdout } = await promisify(execFile)('node', ['bench/fact-card.mjs', 'm'], { cwd: dir, env })
  return JSON.parse(stdout) as Printed
}

/** The mean loss over the tasks, as the campaign computes it. */
async function computeSuiteLoss(prompts: Prompts): Promise<number> {
  const losses = TASKS.map(async task => {
    const terms = selectLossTerms(spec, task)
    const loss = computeLoss(splitPrintedSignals(await runTask(prompts, task), terms).signals, terms)
    if ('missing' in loss) throw new Error(`${loss.missing.join(', ')} are missing`)
    return loss.total
  })
  return (await Promise.all(losses)).reduce((sum, loss) => sum + loss, 0) / losses.length
}

function listFailedGates(printed: Printed): string[] {
  return spec.metric.degenerate_gates.flatMap(({ name, check }) =>
    Number(printed[name]) <= Number(check.replace('<= ', '')) ? [] : [name],
  )
}

function ask(prompts: Prompts, artifact: string, defects: string) {
  const artifacts = Object.entries(prompts).map(([name, content]) => ({ name, content }))
  const user = renderGradientQuestion({
    artifact: { name: artifact, content: prompts[artifact] ?? '' },
    defects,
    learningRate: 0.5,
  })
  return readRewrite(applyFactCardRule({ model: 'm', system: '', user }), artifacts, 0.5)
}

describe('the fact cards', () => {
  it('have a lower loss with each lesson that helps, and a higher one with the lesson that harms', async () => {
    const losses = [
      await computeSuiteLoss(START),
      await computeSuiteLoss(learn(START, EVERY_NOTE)),
      await computeSuiteLoss(learn(START, EVERY_NOTE, UNITS)),
      await computeSuiteLoss(learn(START, EVERY_NOTE, UNITS, SOURCES)),
    ]
    expect(losses.toSorted((a, b) => b - a)).toEqual(losses)
    expect(losses[0]).toBeGreaterThan(0.55)
    expect(losses[3]).toBeLessThan(0.1)
    expect(await computeSuiteLoss(learn(START, EVERY_NOTE, UNITS, SHORT))).toBeGreaterThan(losses[2] ?? 1)
  }, 60_000)

  it('would be best with a prompt full of keywords, which does not pass the gates', async () => {
    const [task] = TASKS
    if (task === undefined) throw new Error('no task')
    const honest = learn(START, EVERY_NOTE, UNITS, SOURCES)
    expect(listFailedGates(await runTask(honest, task))).toEqual([])
    const stuffed = learn(START, STUFFED)
    expect(await computeSuiteLoss(stuffed)).toBeLessThan(await computeSuiteLoss(honest))
    expect(listFailedGates(await runTask(stuffed, task))).toEqual(['prompt_words', 'keyword_share'])
  }, 60_000)
})

describe('the rule for fact cards', () => {
  it('is described with every lesson', () => {
    const told = describeFactCardRule().join('\n')
    for (const { line } of FACT_CARD_LESSONS) expect(told).toContain(line.slice(0, 60))
  })

  it('offers each line once, within the learning rate of the fixture', () => {
    expect(ask(START, 'manager_planning_preamble', '')).toMatchObject({
      artifact: 'manager_planning_preamble',
      content: learn(START, EVERY_NOTE)['manager_planning_preamble'],
      expectedLossReduction: 0.25,
    })
    const first = ask(START, 'worker_pitfalls', '')
    expect(first).toMatchObject({ rationale: `add: ${UNITS?.line}` })
    const second = ask(learn(START, UNITS), 'worker_pitfalls', '')
    expect(second).toMatchObject({ content: learn(START, UNITS, STUFFED)['worker_pitfalls'] })
    const rationale = typeof second === 'string' ? second : second.rationale
    expect(
      ask(learn(START, UNITS), 'worker_pitfalls', `- worker_pitfalls: ${rationale} (broken)`),
    ).toMatchObject({
      rationale: `add: ${SOURCES?.line}`,
    })
    expect(ask(learn(START, UNITS, STUFFED, SOURCES), 'worker_pitfalls', '')).toBe('it proposes no change')
  })

  it('refuses any other question', () => {
    expect(() =>
      applyFactCardRule({ model: 'm', system: '', user: 'What is the capital of France?' }),
    ).toThrow('only writes cards')
  })
})
