import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { type LocalModel, startLocalModel } from '../../src/judge/local-model.ts'
import { UNFIT_ANSWERS, UNKNOWN_MODEL } from '../judge/http-models.ts'
import { type AskedModel, type ModelReply, modelServer } from '../servers/model-server.ts'
import { project, proven } from './project.ts'
import { releaseTest } from '../support/cases.ts'

const SPEC = `winnow: 1
metric: { primary: { name: loss, direction: minimize } }
measurement: { command: node bench/suite.mjs, mode: once, probes: off }
gates: [{ name: tests, command: test -s prompts/worker_pitfalls.md }]
scope: { mutable: [prompts/] }
artifacts: [{ name: worker_pitfalls }, { name: manager_planning_preamble }]
propose: [{ use: textgrad, model: local }]
merge: { forgeable: allow, hold_above: null }
`

/** Each task needs a word in the prompts; the word "hurry" costs every task something. */
const SUITE = `import { readFileSync } from 'node:fs'
const text = ['worker_pitfalls', 'manager_planning_preamble'].map(name => readFileSync('prompts/' + name + '.md', 'utf8')).join(' ')
const needs = { octopi: 'checklist', neutron_stars: 'units', silk_road: 'sources' }
const hurried = text.includes('hurry') ? 0.2 : 0
const tasks = Object.fromEntries(Object.entries(needs).map(([task, word]) => [task, (text.includes(word) ? 0.1 : 0.6) + hurried]))
const scores = Object.values(tasks)
const lacking = Object.entries(needs).filter(([, word]) => !text.includes(word))
const feedback = Object.fromEntries(lacking.map(([task, word]) => [task, 'it has no ' + word]))
console.log(JSON.stringify({ loss: scores.reduce((a, b) => a + b) / scores.length, tasks, feedback }))
`

const FILES = {
  'bench/suite.mjs': SUITE,
  'prompts/worker_pitfalls.md': 'Check the inputs.\n',
  'prompts/manager_planning_preamble.md': 'Plan first.\n',
}

const open: LocalModel[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** Appends the first of these lines that the text lacks, and expects what it says. */
async function startOptimiser(
  lines: Readonly<Record<string, readonly [string, number][]>>,
  questions: string[] = [],
) {
  const model = await startLocalModel(({ user }) => {
    questions.push(user)
    const [, name = ''] = /^Artifact: (.*)$/m.exec(user) ?? []
    const [, content = ''] = /^([0-9a-f]{32})\n([\s\S]*?)\n\1$/m.exec(user)?.slice(1) ?? []
    const next = lines[name]?.find(([line]) => !user.includes(line))
    if (next === undefined) return JSON.stringify({ artifact_name: null })
    return JSON.stringify({
      artifact_name: name,
      proposed_content: `${content}${next[0]}\n`,
      rationale: `say: ${next[0]}`,
      expected_loss_reduction: next[1],
      confidence: 0.5,
    })
  })
  open.push(model)
  return model
}

function campaign(epochs: string, { suite = SUITE, spec = SPEC } = {}) {
  const person = project({
    ...FILES,
    'bench/suite.mjs': suite,
    '.winnow/outer.yaml': `${spec}epochs: ${epochs}\nstopping: { max_total_cost_usd: 1 }\n`,
  })
  const run = ({ url }: { url: string }, env: Record<string, string> = {}) =>
    person.winnowWith({ env: { WINNOW_MODEL_URL: url, WINNOW_MODEL_PRICE: '0.1/0.1', ...env } }, 'run')
  return { person, run }
}

describe('epochs that learn', () => {
  it('apply updates without proof and roll back the one that regressed, as AWP does', async () => {
    const model = await startOptimiser({
      worker_pitfalls: [
        ['Mind the units.', 0.2],
        ['Always hurry.', 0.6],
      ],
      manager_planning_preamble: [['Write a checklist.', 0.3]],
    })
    const { person, run } = campaign('{ count: 5, learning_rate: 1, compat: awp }')
    expect((await run(model)).code).toBe(0)
    const { epochs, artifacts } = await person.json('inspect')
    expect(epochs).toMatchObject([
      {
        epoch: 1,
        mean: 0.6,
        tasks: { octopi: 0.6, neutron_stars: 0.6, silk_road: 0.6 },
        artifacts: { worker_pitfalls: 0, manager_planning_preamble: 0 },
        events: [
          {
            type: 'update',
            artifact: 'manager_planning_preamble',
            from_version: 0,
            to_version: 1,
            rationale: 'say: Write a checklist.',
            expected_loss_reduction: 0.3,
            confidence: 0.5,
            learning_rate: 1,
          },
        ],
      },
      { epoch: 2, mean: expect.closeTo(0.4333, 4), artifacts: { manager_planning_preamble: 1 } },
      {
        epoch: 3,
        mean: expect.closeTo(0.2667, 4),
        learning_rate: 1,
        events: [{ type: 'update', artifact: 'worker_pitfalls', from_version: 1, to_version: 2 }],
      },
      {
        epoch: 4,
        mean: expect.closeTo(0.4667, 4),
        regressed: true,
        learning_rate: 0.5,
        events: [
          {
            type: 'rollback',
            artifact: 'worker_pitfalls',
            from_version: 2,
            to_version: 1,
            mean_loss_prev: expect.closeTo(0.2667, 4),
            mean_loss_current: expect.closeTo(0.4667, 4),
            new_learning_rate: 0.5,
          },
        ],
      },
      { epoch: 5, mean: expect.closeTo(0.2667, 4), artifacts: { worker_pitfalls: 1 }, events: [] },
    ])
    expect(artifacts).toMatchObject([
      { name: 'worker_pitfalls', path: 'prompts/worker_pitfalls.md', current: 1 },
      { name: 'manager_planning_preamble', current: 1 },
    ])
    const text = (await person.winnow('inspect')).out
    expect(text).toContain('worker_pitfalls v2 -> v1')
    expect((await person.winnow('status')).out).toContain('5 epochs measured (epochs.count)')
    const { out: charts } = await person.winnow('export', '--format', 'svg')
    expect(charts).toContain(
      '<title>epoch 4: mean 0.4667; mean of the last 3 0.3889; regression, limit 0.2667; worker_pitfalls v2 -&gt; v1</title>',
    )
    expect(charts).toMatch(/<path class="cross".*<title>worker_pitfalls v2 -&gt; v1 after epoch 4/)
    const [ledger = ''] = /refs\/heads\/optimize-state\/\S+/.exec(person.refs()) ?? []
    const view = person.git('show', `${ledger}:chart.svg`)
    expect(view.match(/<circle class="(\w+)".*<title>epoch/g)).toHaveLength(10)
    expect(view).toMatch(/<circle class="rollback".*<title>epoch 4: mean 0.4667/)
    expect(await person.json('inspect', '--artifact', 'worker_pitfalls')).toMatchObject({
      versions: [{ version: 0 }, { version: 1, author: 'textgrad' }, { version: 2, author: 'textgrad' }],
    })
    await proven(person)
  })

  it('keep what is proven, show the spread of the start, and end without an idea as often as there is none', async () => {
    const model = await startOptimiser({
      manager_planning_preamble: [
        ['Write a checklist.', 0.3],
        ['Always hurry.', 0.9],
      ],
    })
    const { person, run } = campaign('{ count: 2, baseline: 2, learning_rate: 1 }')
    expect((await run(model)).code).toBe(0)
    expect(await person.json('inspect')).toMatchObject({
      epochs: [
        { epoch: 0, mean: 0.6, events: [] },
        { epoch: 0, mean: 0.6, events: [{ type: 'update', to_version: 1 }] },
        { epoch: 1, mean: expect.closeTo(0.4333, 4), regressed: false, events: [] },
        { epoch: 2, mean: expect.closeTo(0.4333, 4), events: [] },
      ],
      rounds: [{ experiments: [{ verdict: 'kept' }] }, { experiments: [{ verdict: 'worse' }] }],
    })
    expect((await person.winnow('inspect')).out).toContain('baseline passes: mean 0.6, standard deviation 0')
    await proven(person)
  })

  it('only measure when nothing proposes', async () => {
    const person = project({
      ...FILES,
      '.winnow/outer.yaml': `${SPEC.replace(/^propose:.*\n/m, '')}epochs: { count: 2 }\n`,
    })
    // Nothing was kept.
    expect((await person.winnow('run')).code).toBe(10)
    expect(await person.json('inspect')).toMatchObject({
      epochs: [
        { epoch: 1, mean: 0.6 },
        { epoch: 2, mean: 0.6 },
      ],
      rounds: [],
    })
    await proven(person)
  })
})

/** The word "luck" helps in the first runs of a text, which decide about it, and harms in every later run. */
const FADING = SUITE.replace(
  "import { readFileSync } from 'node:fs'\n",
  `import { appendFileSync, readFileSync } from 'node:fs'
const count = process.env.RUNS_FILE
`,
).replace(
  "const hurried = text.includes('hurry') ? 0.2 : 0",
  `let hurried = 0
if (text.includes('luck')) {
  appendFileSync(count, 'x')
  hurried = readFileSync(count, 'utf8').length > 2 ? 0.2 : -0.05
}`,
)

describe('an update that regresses after it was kept', () => {
  releaseTest(
    'is rolled back alone, at half the rate, without a question in that epoch, until enough epochs were good',
    async () => {
      const questions: string[] = []
      const model = await startOptimiser(
        {
          worker_pitfalls: [['Trust your luck.', 0.4]],
          manager_planning_preamble: [['Write a checklist.', 0.9]],
        },
        questions,
      )
      const dir = mkdtempSync(join(tmpdir(), 'winnow-runs-'))
      onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
      const spec = SPEC.replace('probes: off }', 'probes: off, env: [RUNS_FILE] }')
      const epochs = '{ count: 6, baseline: 2, learning_rate: 1, recover: 2 }'
      const { person, run } = campaign(epochs, { suite: FADING, spec })
      expect(await run(model, { RUNS_FILE: join(dir, 'runs') })).toMatchObject({ code: 0 })
      const { epochs: seen, artifacts } = await person.json('inspect')
      expect(seen).toMatchObject([
        { epoch: 0, mean: 0.6 },
        { epoch: 0, mean: 0.6, events: [{ type: 'update', artifact: 'manager_planning_preamble' }] },
        {
          epoch: 1,
          mean: expect.closeTo(0.4333, 4),
          regressed: false,
          learning_rate: 1,
          events: [{ type: 'update', artifact: 'worker_pitfalls', from_version: 0, to_version: 1 }],
        },
        {
          epoch: 2,
          mean: expect.closeTo(0.6333, 4),
          limit: expect.closeTo(0.4333, 4),
          regressed: true,
          learning_rate: 0.5,
          events: [{ type: 'rollback', artifact: 'worker_pitfalls', from_version: 1, to_version: 0 }],
        },
        { epoch: 3, mean: expect.closeTo(0.4333, 4), regressed: false, learning_rate: 0.5, events: [] },
        { epoch: 4, learning_rate: 1, events: [] },
        { epoch: 5, learning_rate: 1 },
        { epoch: 6, learning_rate: 1 },
      ])
      // The other update stays.
      expect(artifacts).toMatchObject([{ current: 0 }, { name: 'manager_planning_preamble', current: 1 }])
      expect(questions[0]).toContain('- octopi: 0.6\n  feedback: it has no checklist\n')
      expect(questions.at(-1)).not.toContain('no checklist')
      expect(questions.at(-1)).toContain('feedback: it has no units')
      // Two questions, one for each artifact, in every epoch but that of the rollback and the last one.
      const rates = questions.map(user => /^Learning rate: (.*)$/m.exec(user)?.[1])
      expect(rates.filter((_, at) => at % 2 === 0)).toEqual(['1.00', '1.00', '0.50', '1.00', '1.00'])
      await proven(person)
    },
  )
})

describe('a model that gives no rewrite', () => {
  const one = SPEC.replace('artifacts: [{ name: worker_pitfalls }, ', 'artifacts: [')

  releaseTest(
    'leaves epochs without an update, whatever it answers, and the next good rewrite is measured',
    async () => {
      const rewrite = {
        artifact_name: 'manager_planning_preamble',
        proposed_content: 'Plan first.\nWrite a checklist.\n',
        rationale: 'say: checklist',
        expected_loss_reduction: 0.3,
        confidence: 0.5,
      }
      const reply = (_: AskedModel, before: number): ModelReply =>
        UNFIT_ANSWERS[before]?.[1] ?? { text: JSON.stringify(rewrite), tokens: [7, 3] }
      const server = await modelServer(reply)
      const count = UNFIT_ANSWERS.length + 1
      const { person, run } = campaign(`{ count: ${count}, baseline: 2, learning_rate: 1 }`, { spec: one })
      const before = person.refs()
      expect(await run(server)).toMatchObject({ code: 0 })
      const { epochs, rounds } = await person.json('inspect')
      const means = (epochs as { mean: number }[]).map(({ mean }) => mean.toFixed(2))
      expect(means).toEqual([...Array.from({ length: count + 1 }, () => '0.60'), '0.43'])
      expect(rounds).toMatchObject([{ experiments: [{ verdict: 'kept' }] }])
      expect((await person.winnow('status')).out).toContain(`${count} epochs measured (epochs.count)`)
      expect(server.asked).toHaveLength(count)
      expect(await person.json('status')).toMatchObject({ spent: { requests: count } })
      const experiments = person.refs().match(/refs\/heads\/optimize-exp\/\S+/g) ?? []
      expect([before.includes('optimize'), experiments.length <= 1]).toEqual([false, true])
      await proven(person)
    },
  )

  it('because it is unknown, stops the run with one reason, and the campaign goes on when it is known', async () => {
    let known = false
    const server = await modelServer(() =>
      known ? { text: JSON.stringify({ artifact_name: null }), tokens: [7, 3] } : UNKNOWN_MODEL,
    )
    const { person, run } = campaign('{ count: 1, baseline: 2 }', { spec: one })
    const stopped = await run(server)
    expect(stopped.code).not.toBe(0)
    expect(stopped.err).toMatch(/no model could be asked for a rewrite: 127\.0\.0\.1:\d+ has no model local/)
    expect(stopped.err).toContain('fix that, then run again')
    expect(await person.json('inspect')).toMatchObject({ epochs: [{ epoch: 0 }, { epoch: 0 }], rounds: [] })
    expect(await person.json('status')).toMatchObject({ spent: { requests: 0 } })
    known = true
    expect((await run(server)).code).toBe(10)
    expect(await person.json('inspect')).toMatchObject({ epochs: [{}, {}, { epoch: 1, mean: 0.6 }] })
    expect(await person.json('status')).toMatchObject({ spent: { requests: 1 } })
    await proven(person)
  })
})
