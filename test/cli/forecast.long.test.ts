import { describe, expect, it } from 'vitest'
import { completion, meteredEndpoint } from '../servers/metered-endpoint.ts'
import { modelServer } from '../servers/model-server.ts'
import { shownIn } from '../servers/reading-judge.ts'
import { releaseTest } from '../support/cases.ts'
import { answers, ITEMS_HARNESS, JUDGED_SPEC } from '../support/judged-repository.ts'
import { project } from './project.ts'

const HARNESS = `import { readFileSync } from 'node:fs'
const least = readFileSync('src/prompt.txt', 'utf8').trim() === '' ? 0 : 0.5
const headers = { authorization: 'Bearer ' + process.env.OPENAI_API_KEY }
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], max_tokens: 10 })
const answer = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body })
if (!answer.ok) throw new Error(await answer.text())
console.log(JSON.stringify({ score: process.env.NOISY ? Math.random() : least }))
`
const SPEC = `winnow: 1
metric: { primary: { name: score, direction: maximize }, degenerate_gates: [{ name: score, check: '>= 0' }] }
models: [{ id: m, price: { input: 100, output: 100 } }]
scope: { mutable: [src/] }
stopping: { max_total_cost_usd: 50 }
`
const MEASUREMENT = `measurement:
  command: exec ${process.execPath} bench/ask.mjs
  models: metered
  probes: off
`
const LEARNING = `artifacts: [{ name: prompt, path: src/prompt.txt }, { name: style, path: src/style.txt }]
propose: [{ use: textgrad, model: m }]
`

/** Compares what check says with what a campaign without an idea asks. Each call of the harness costs a cent. */
async function compareForecast(spec: string) {
  const { url, asked } = await meteredEndpoint(() => ({
    body: completion([90, 10], '{"artifact_name": null}'),
  }))
  const env = { WINNOW_MODEL_URL: url, WINNOW_MODEL_KEY: 'k' }
  const person = project({
    '.winnow/prompt.yaml': spec,
    'bench/ask.mjs': HARNESS,
    'src/prompt.txt': 'please\n',
    'src/style.txt': 'short\n',
  })
  const checked = await person.winnowWith({ env }, 'check', '--spend', '5')
  expect([checked.code, checked.err]).toEqual([0, expect.stringMatching(/^(?:attacking .*\n)?$/)])
  const trial = asked.length
  const { err } = await person.winnowWith({ env }, 'run')
  expect(err).not.toContain('error:')
  const { out } = await person.winnow('status')
  expect(out).toMatch(/\d epochs? measured \(epochs\.count\)/)
  const isGradient = ({ body }: (typeof asked)[number]) => JSON.stringify(body).includes('Artifact: ')
  const ofRun = asked.slice(trial)
  const gradients = ofRun.filter(isGradient).length
  return { out: checked.out, gradients, executions: ofRun.length - gradients }
}

describe('what check says that epochs cost is what a run asks', () => {
  it('of a metered suite whose means decide, and of text gradients', async () => {
    const suite = '  suite: { advisory: true, tasks: [{ name: a, task: x }, { name: b, task: y }] }\n'
    const { out, executions, gradients } = await compareForecast(
      `${SPEC}${MEASUREMENT}${suite}${LEARNING}epochs: { count: 2, baseline: 2 }\n`,
    )
    expect(out).toContain('before the first idea: 2 executions, about 0.02 USD (2 requests)')
    expect(out).toContain(
      'passes, 2 of the start and 2 of the epochs: the 3 after the first: 6 executions, about 0.06 USD (6 requests)',
    )
    expect(out).toContain('all of that without an idea: 8 executions, about 0.08 USD (8 requests)')
    expect(out).toContain('text gradients: 4 requests at most to m, not in these sums')
    expect([executions, gradients]).toEqual([8, 4])
  }, 120_000)

  it('of a metered harness that repeats exactly', async () => {
    const { out, executions, gradients } = await compareForecast(
      `${SPEC}${MEASUREMENT}epochs: { count: 3 }\n`,
    )
    expect(out).toContain('all of that without an idea: 5 executions, about 0.05 USD (5 requests)')
    expect([executions, gradients]).toEqual([5, 0])
  }, 120_000)

  releaseTest(
    'of a metered suite that is compared in pairs',
    async () => {
      const suite = `  env: [NOISY]\n  suite: { seeds: 12, tasks: [{ name: a, task: x }] }\nevidence: { scale: linear, min_effect: 0.2 }\n`
      const { out, executions } = await compareForecast(`${SPEC}${MEASUREMENT}${suite}epochs: { count: 2 }\n`)
      expect(out).toContain('all of that without an idea: 60 executions, about 0.6 USD (60 requests)')
      expect(executions).toBe(60)
    },
    300_000,
  )

  releaseTest(
    'of a judged metric',
    async () => {
      const { url, asked } = await modelServer(request => {
        if (request.user.startsWith('Artifact: ')) return { text: '{"artifact_name": null}' }
        const scores = shownIn(request).map(({ key, content }) => {
          return { item: key, quality: 2 + (content.length % 3) / 2, feedback: 'short' }
        })
        return { text: JSON.stringify({ scores }) }
      })
      const env = { WINNOW_MODEL_URL: url, WINNOW_MODEL_KEY: 'k', WINNOW_MODEL_PRICE: '1/5' }
      const spec = JUDGED_SPEC.replace(/propose:.*\n/, 'propose: [{ use: textgrad, model: m }]\n')
      const person = project({
        '.winnow/judged.yaml': `${spec}artifacts: [{ name: answers, path: src/answers.txt }]
epochs: { count: 2, baseline: 2 }
stopping: { max_total_cost_usd: 5 }
`,
        'bench/items.awk': ITEMS_HARNESS,
        'src/answers.txt': answers('poor'),
      })
      const { code, out } = await person.winnowWith({ env }, 'check')
      expect(code).toBe(0)
      expect(asked).toEqual([])
      expect(out).toMatch(
        /passes, 2 of the start and 2 of the epochs: 12 requests, about [\d,]+ tokens or 0\.\d+ USD/,
      )
      await person.winnowWith({ env }, 'run')
      const gradients = asked.filter(({ user }) => user.startsWith('Artifact: ')).length
      const passes = asked.filter(({ system }) => system.includes('"feedback"')).length
      expect([gradients, passes]).toEqual([2, 12])
      expect(out).toContain('text gradients: 2 requests at most to m, not in these sums')
      expect(out).toMatch(
        /all of that without an idea: 18 requests, about .* where the base prints the same items each time; else 24 requests, about /,
      )
      expect(asked.length - gradients).toBe(18)
    },
    120_000,
  )
})
