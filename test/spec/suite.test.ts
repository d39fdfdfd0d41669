import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseSpec } from '../../src/spec/load.ts'
import { SpecErrors } from '../../src/spec/errors.ts'
import { toKebabName } from '../../src/spec/schema.ts'
import { mapSuite } from '../../src/spec/suite.ts'

const FILE = 'fixtures/suites/research_writeup.suite.yaml'
const seed = readFileSync(FILE, 'utf8')

describe('mapSuite', () => {
  test('reads the suite of seed 000 as it is', () => {
    const mapped = mapSuite(seed, FILE)
    expect(mapped).toMatchObject({
      suite: 'research_writeup_v1',
      name: 'research-writeup-v1',
      path: '.winnow/research-writeup-v1.yaml',
      values: {
        description: 'Short summary',
        metric: { primary: { type: 'loss', direction: 'minimize' }, loss: { missing: 'neutral' } },
        measurement: {
          suite: {
            advisory: true,
            tasks: [
              {
                name: 'summarise_paper',
                task: 'Write a 200-word summary...',
                workflow: 'path/to/workflow.awp.yaml',
                model: 'openai/gpt-5-mini',
                budget: { max_loops: 6, max_total_workers: 5, max_total_tokens: 400_000, max_wall_time: 240 },
                weights: { eval: 0.5, critique: 0.3, gate_rejections: 0.15, budget: 0.02, status: 0.03 },
              },
            ],
          },
        },
        artifacts: [
          { name: 'worker_pitfalls', path: 'prompts/worker_pitfalls.md' },
          { name: 'manager_planning_preamble', path: 'prompts/manager_planning_preamble.md' },
        ],
      },
    })
    expect(mapped.notes.join('\n')).toContain(
      'the suite research_writeup_v1 is the campaign research-writeup-v1',
    )
    expect(mapped.notes.join('\n')).toContain('1 (task, seed) pair proves nothing')
    expect(mapped.notes.join('\n')).toContain('set seeds: 12')
  })

  test('its text is a valid spec', () => {
    const { yaml, path, name } = mapSuite(seed, FILE)
    expect(parseSpec(yaml, { file: path }).spec).toMatchObject({ name, rules: 'winnow' })
  })

  test('maps the flags of awp optimize onto the spec', () => {
    const learning = { epochs: 5, learningRate: 0.5, textGradient: true, noRollback: true }
    const { yaml, path } = mapSuite(seed, FILE, learning)
    expect(parseSpec(yaml, { file: path }).spec).toMatchObject({
      epochs: { count: 5, baseline: 3, learning_rate: 0.5, rollback_on_regression: false, compat: null },
      propose: [{ use: 'textgrad', model: 'strong' }],
    })
    expect(mapSuite(seed, FILE, { epochs: 3 }).values).toMatchObject({ epochs: { count: 3 } })
    expect(mapSuite(seed, FILE).values).not.toHaveProperty('epochs')
  })

  test('lets the tasks ask their models through winnow', () => {
    const { yaml, path } = mapSuite(seed, FILE, { metered: true })
    expect(parseSpec(yaml, { file: path }).spec).toMatchObject({
      measurement: { models: 'metered' },
      models: [{ id: 'openai/gpt-5-mini' }],
    })
    const unnamed = seed.replace(/^ +model: .*\n/gm, '')
    expect(() => mapSuite(unnamed, FILE, { metered: true })).toThrow('no task of')
  })

  test('gives each target a campaign of its own', () => {
    const of = (target: string) => mapSuite(seed, FILE, { target })
    expect(of('Alpha_1:plan')).toMatchObject({ name: 'alpha-1-plan', path: '.winnow/alpha-1-plan.yaml' })
    expect(of('alpha:plan').name).not.toBe(of('alpha:write').name)
    // Names that collide are other specs, which --write refuses.
    expect(of('a-b:c').yaml).not.toBe(of('a:b-c').yaml)
  })

  test('learns the artifacts where the suite pins none, but not the one that grades', () => {
    const { values } = mapSuite('name: a\ntasks: [{ name: t, task: do it }]\n', 'a.yaml')
    expect(values['artifacts']).toHaveLength(5)
    expect(JSON.stringify(values)).not.toContain('critique_rubric')
  })

  test('enough pairs prove, so the suite is not advisory', () => {
    const { values } = mapSuite('name: a\ntasks: [{ name: t, task: do it }]\n', 'a.yaml', { seeds: 12 })
    expect(values['measurement']).toMatchObject({ suite: { seeds: 12 } })
    expect(values['measurement']).not.toMatchObject({ suite: { advisory: true } })
  })

  test('lists what it could not keep', () => {
    const text =
      'name: a\nowner: me\nbaseline_artifacts: { worker_pitfalls: 3 }\ntasks: [{ name: t, task: x, extra: {} }]\n'
    const { notes } = mapSuite(text, 'a.yaml', { command: 'sh run.sh' })
    expect(notes).toContain('owner was not kept: winnow does not know this key')
    expect(notes).toContain('tasks[0].extra was not kept: winnow does not know this key')
    expect(notes.join('\n')).toContain("worker_pitfalls: version 3 is in AWP's database")
    expect(notes.join('\n')).not.toContain('starts AWP')
  })

  test('names the key that a misspelt one is nearly, and not that one as missing', () => {
    const problems = (text: string) => {
      try {
        mapSuite(text, 'a.yaml')
        return null
      } catch (error) {
        return error instanceof SpecErrors ? error.message : error
      }
    }
    expect(problems('name: a\ntasks:\n  - name: t\n    taks: write it\n')).toBe(
      'a.yaml:4:5  tasks[0].taks  unknown key; did you mean "task"?',
    )
    expect(problems('name: a\ntaks: [{ name: t, task: x }]\ndescripton: b\n')).toBe(
      'a.yaml:2:1  taks  unknown key; did you mean "tasks"?\na.yaml:3:1  descripton  unknown key; did you mean "description"?',
    )
    expect(problems('name: a\ntasks: [{ name: t, task: x, budget: { max_loops: many } }]\n')).toBe(
      'a.yaml:2:50  tasks[0].budget.max_loops  found "many", expected a number',
    )
    expect(problems('name: a\nnames: [b]\ntasks: [{ name: t, task: x }]\n')).toBeNull()
  })

  test('names every mistake with its place', () => {
    expect(() => mapSuite('name: a\ntasks:\n  - name: t\n', 'a.yaml')).toThrow(
      /a\.yaml:3:5 {2}tasks\[0\]\.task/,
    )
    const twice = 'name: a\ntasks: [{ name: t, task: x }, { name: t, task: y }]\n'
    expect(() => mapSuite(twice, 'a.yaml')).toThrow(/"t", expected a name no other task has/)
    expect(() => mapSuite('tasks: []\n', 'a.yaml')).toThrow(/name/)
  })
})

describe('the smallest gain of a suite with a metric of its own', () => {
  const tasks = Array.from({ length: 12 }, (_, at) => ({ name: `t${at}`, command: `sh t${at}.sh` }))
  const parse = (suite: object, evidence: object) => {
    const primary = { name: 'cost', direction: 'minimize' }
    const gates = [{ name: 'tests', command: 'true' }]
    const measurement = { command: 'true', suite: { tasks, ...suite } }
    const spec = { winnow: 1, metric: { primary }, measurement, gates, evidence, scope: { mutable: ['a'] } }
    return parseSpec(JSON.stringify(spec), { file: 'suite.yaml' }).spec
  }

  test('is a share where the spec writes a percentage', () => {
    expect(parse({}, { min_effect: '5%' }).evidence).toMatchObject({ min_effect: 0.05, scale: 'log' })
    expect(parse({ advisory: true }, { min_effect: '5%' }).measurement.stability).toMatchObject({
      comparison: { method: 'relative', relative_threshold: 0.05 },
    })
  })

  test('has the units of the metric on a linear scale', () => {
    const linear = { min_effect: 5, scale: 'linear' }
    expect(parse({ advisory: true }, linear).measurement.stability).toMatchObject({
      comparison: { method: 'absolute' },
      noise_threshold: 5,
    })
  })
})

test('names in kebab-case', () => {
  expect(toKebabName('research_writeup_v1')).toBe('research-writeup-v1')
  expect(toKebabName('  Fact Card! ')).toBe('fact-card')
  expect(toKebabName('a__b--c')).toBe('a-b-c')
  expect(toKebabName('___')).toBe('')
  expect(mapSuite('name: ___\ntasks: [{ name: t, task: x }]\n', 'a.yaml').name).toBe('suite')
})
