import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completion, meteredEndpoint } from '../servers/metered-endpoint.ts'
import { project } from './project.ts'

/** One call for each line of the prompt. */
const HARNESS = `import { readFileSync } from 'node:fs'
const headers = { authorization: 'Bearer ' + process.env.OPENAI_API_KEY }
const url = process.env.OPENAI_BASE_URL + '/chat/completions'
if (Object.values(process.env).some(value => value.includes('sk-of-ada'))) throw new Error('it has the key')
const lines = readFileSync('src/prompt.txt', 'utf8').trim().split('\\n')
for (const content of lines) {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], max_tokens: 10 })
  const answer = await fetch(url, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(await answer.text())
}
console.log(JSON.stringify({ answered: lines.length }))
`
const UNCAPPED = `winnow: 1
metric:
  primary: { name: model_cost_usd, direction: minimize }
  degenerate_gates: [{ name: answered, check: '> 0' }]
models: [{ id: m, price: { input: 100, output: 100 } }]
measurement: { command: exec ${process.execPath} bench/ask.mjs, models: metered, probes: off }
scope: { mutable: [src/] }
`
const CAPPED = `${UNCAPPED}stopping: { max_total_cost_usd: 5 }\n`

/** Each call uses 100 tokens, which cost a cent. */
async function meteredProject(spec: string, prompt = 'please\n', onAsk = (_before: number) => {}) {
  const endpoint = await meteredEndpoint((_, before) => {
    onAsk(before)
    return { body: completion([90, 10]) }
  })
  const files = { '.winnow/prompt.yaml': spec, 'bench/ask.mjs': HARNESS, 'src/prompt.txt': prompt }
  const person = project(files)
  const env = { WINNOW_MODEL_URL: endpoint.url, WINNOW_MODEL_KEY: 'sk-of-ada' }
  const winnow = (...argv: string[]) => person.winnowWith({ env }, ...argv)
  const usingListed = (...argv: string[]) =>
    person.winnowWith({ env: { ...env, WINNOW_MODEL_PRICE: '100/100' } }, ...argv)
  return { person, winnow, env, usingListed, asked: endpoint.asked }
}

describe('winnow check of a harness that asks models', () => {
  it('runs nothing until a person says how much it may spend, and then says what a campaign pays', async () => {
    const { winnow, asked } = await meteredProject(CAPPED)
    const free = await winnow('check')
    expect([free.code, free.out]).toEqual([
      0,
      expect.stringContaining('winnow check --spend 0.5 runs it once'),
    ])
    expect(asked).toHaveLength(0)
    const { code, out, err } = await winnow('check', '--spend', '0.5')
    expect([code, err]).toEqual([0, expect.not.stringContaining('error')])
    expect(asked).toHaveLength(1)
    expect(out).toContain(
      'models of the harness: 1 request, 100 tokens, 0.01 USD for 1 execution; no campaign counts this trial',
    )
    expect(out).toContain('one idea, where the numbers repeat exactly: 4 executions, about 0.04 USD')
    expect(out).toContain(
      'one job of pairs, of which an idea needs one or more: 18 executions, about 0.18 USD',
    )
    expect(out).toContain('before the first idea, two such jobs: 36 executions, about 0.36 USD')
    expect(out).toContain(
      'budget of the harness: 5 USD in all (stopping.max_total_cost_usd), about 500 executions',
    )
    expect(out + err).not.toContain('sk-of-ada')
  })

  it('ends a trial that wants more than it may spend, and says what it spent', async () => {
    const { winnow, asked } = await meteredProject(CAPPED, 'please\nand again\n')
    const { code, err } = await winnow('check', '--spend', '0.005')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('the trial spent 0.01 USD and did not end, and --spend allows 0.005 USD'),
    ])
    expect(err).toContain('fix: allow more: --spend 0.01')
    expect(asked).toHaveLength(1)
  })

  it('refuses what is no amount, and where there is nothing to pay', async () => {
    const { winnow, asked } = await meteredProject(CAPPED)
    expect((await winnow('check', '--spend', 'much')).err).toContain(
      '--spend much is no amount of US dollars',
    )
    expect((await winnow('check', '--spend', '1', '--no-try')).err).toContain('--no-try runs nothing')
    expect(asked).toHaveLength(0)
    expect((await project().winnow('check', '--spend', '1')).err).toContain(
      'measuring this spec costs nothing',
    )
  })
})

describe('spending that nothing caps', () => {
  it('is refused by winnow run before anything is recorded, until a person allows it, once', async () => {
    const { person, winnow, asked } = await meteredProject(UNCAPPED)
    const before = person.refs()
    const { code, err } = await winnow('run')
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('nothing caps what the harness may spend on models'),
    ])
    expect(err).toContain(
      'fix: write a cap in US dollars, such as 5, or allow it: winnow run --allow-uncapped',
    )
    expect((await winnow('run', '--dry-run')).code).toBe(2)
    expect([person.refs(), asked.length]).toEqual([before, 0])
    const allowed = await winnow('run', '--allow-uncapped')
    expect([allowed.code, allowed.err]).toEqual([
      14,
      expect.stringContaining('Recorded: ada allowed the harness to spend without a cap.'),
    ])
    expect(asked.length).toBeGreaterThan(0)
    const again = await winnow('run')
    expect([again.code, again.err]).toEqual([14, expect.not.stringContaining('caps')])
    const log = (await winnow('log', '--json')).out
    expect(log.match(/"uncapped-allowed"/g)).toHaveLength(1)
    expect(log).not.toContain('sk-of-ada')
  }, 300_000)

  it('pauses a campaign whose spec loses its cap, until winnow resume allows it', async () => {
    const { person, winnow, asked } = await meteredProject(CAPPED)
    expect((await winnow('run')).code).toBe(14)
    person.git('checkout', '-q', '--detach')
    person.commit('shorter', { 'src/prompt.txt': 'pls\n' })
    expect((await winnow('propose', '-m', 'shorter')).code).toBe(0)
    person.git('checkout', '-q', 'main')
    person.commit('no cap', { '.winnow/prompt.yaml': UNCAPPED })
    await winnow('run')
    const paused = asked.length
    expect((await winnow('status')).out).toContain('nothing caps what the harness may spend on models')
    await winnow('resume')
    await winnow('run')
    expect(asked).toHaveLength(paused)
    const dry = await winnow('resume', '--allow-uncapped', '--dry-run')
    expect(dry.out).toMatch(/^Nothing was written\. It would write:$/m)
    expect(dry.out).not.toContain('continues')
    const { code, err } = await winnow('resume', '--allow-uncapped')
    expect([code, err]).toEqual([0, expect.stringContaining('Recorded: ada allowed the harness to spend')])
    expect((await winnow('run')).code).toBe(14)
    expect((await winnow('status')).out).not.toContain('nothing caps')
    expect(asked.length).toBeGreaterThan(paused)
    const [results] = JSON.parse((await winnow('results', '--json')).out)
    const requests = asked.length - paused
    expect(results.cost).toMatchObject({
      model_requests: requests,
      model_tokens: 100 * requests,
      model_usd: expect.closeTo(0.01 * requests),
      judge_usd: 0,
    })
  }, 300_000)
})

describe('commands that measure outside a campaign', () => {
  const COMPARED = ['--metric', 'model_cost_usd', '--model', 'm']
  const ASK = ['--', process.execPath, 'bench/ask.mjs']

  it('winnow compare meters the models that it is told, up to --spend', async () => {
    const { person, usingListed: winnow, asked } = await meteredProject(CAPPED, 'please\nand again\n')
    person.commit('shorter', { 'src/prompt.txt': 'please\n' })
    const compare = (...options: string[]) =>
      winnow('compare', 'main~1', 'main', ...COMPARED, ...options, ...ASK)
    const uncapped = await compare()
    expect([uncapped.code, uncapped.err]).toEqual([
      2,
      expect.stringContaining('the harness asks models, and nothing caps what they may cost'),
    ])
    expect(uncapped.err).toContain(
      'fix: give a cap in US dollars: winnow compare --spend 0.5; or allow it: winnow compare --allow-uncapped',
    )
    expect(asked).toHaveLength(0)

    const { code, out, err } = await compare('--spend', '5')
    expect([code, err]).toEqual([0, expect.not.stringContaining('error')])
    expect(out).toContain('main is better than main~1: model_cost_usd 0.02 -> 0.01')
    const [count, usd] = [asked.length, Number((asked.length / 100).toPrecision(2))]
    expect(out).toContain(
      `models of the harness: ${count} requests, ${count * 100} tokens, ${usd} USD of at most 5 USD (--spend); no campaign counts this`,
    )
    expect(new Set(asked.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer sk-of-ada']))
    expect(out + err).not.toContain('sk-of-ada')

    const before = asked.length
    const poor = await compare('--spend', '0.03', '--json')
    expect(asked).toHaveLength(before + 3)
    expect(poor.code).toBe(11)
    expect(JSON.parse(poor.out)).toMatchObject({
      verdict: 'not proven',
      end: 'money',
      sentence: expect.stringMatching(
        /^The money for model calls ran out before main and main~1 were compared/,
      ),
      models: { requests: 3, usd: expect.closeTo(0.03, 9), cap_usd: 0.03, cap_key: '--spend' },
    })
    const untold = await winnow('compare', 'main~1', '--metric', 'model_cost_usd', ...ASK)
    expect([untold.code, untold.err]).toEqual([
      2,
      expect.stringContaining('--metric model_cost_usd needs the models that the command asks'),
    ])
  }, 300_000)

  it('winnow optimize runs a pass under the cap of the spec, of --spend, or with consent', async () => {
    const suite = '  suite: { advisory: true, tasks: [{ name: a, task: x }, { name: b, task: y }] }\n'
    const spec = UNCAPPED.replace(/(measurement:) \{ (.*) \}\n/, (_, key, rest) => {
      return `${key}\n${rest
        .split(', ')
        .map((each: string) => `  ${each}\n`)
        .join('')}${suite}`
    })
    const { person, winnow, asked } = await meteredProject(spec)
    const refused = await winnow('optimize', '.winnow/prompt.yaml')
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining('winnow optimize --allow-uncapped'),
    ])
    expect(asked).toHaveLength(0)
    const { code, out } = await winnow('optimize', '.winnow/prompt.yaml', '--allow-uncapped')
    expect([code, out]).toEqual([0, expect.stringMatching(/mean model_cost_usd 0\.01 over 2 tasks/)])
    expect(out).toContain(
      'models of the harness: 2 requests, 200 tokens, 0.02 USD without a cap (--allow-uncapped); no campaign counts this',
    )
    person.write('.winnow/prompt.yaml', `${spec}stopping: { max_total_cost_usd: 5 }\n`)
    const capped = await winnow('optimize', '.winnow/prompt.yaml', '--json')
    expect(JSON.parse(capped.out).models).toEqual({
      model: 'm',
      requests: 2,
      tokens: 200,
      usd: expect.closeTo(0.02, 9),
      cap_usd: 5,
      cap_key: 'stopping.max_total_cost_usd',
    })
    const poor = await winnow('optimize', '.winnow/prompt.yaml', '--spend', '0.01')
    expect([poor.code, poor.err]).toEqual([
      2,
      expect.stringContaining('the trial spent 0.01 USD and did not end, and --spend allows 0.01 USD'),
    ])
    expect(asked).toHaveLength(5)
  }, 300_000)

  it('winnow measure --order spends what the order set aside, together with an interrupted attempt', async () => {
    let stop: AbortController | null = null
    const { person, winnow, env, asked } = await meteredProject(CAPPED, 'please\n', () => stop?.abort())
    await winnow('run')
    const events = (await winnow('log', '--json')).out.trimEnd().split('\n')
    const issued = events.map(line => JSON.parse(line)).find(({ kind }) => kind === 'order-issued')
    const { seq: _seq, kind: _kind, at: _at, by: _by, cause: _cause, prev: _prev, ...order } = issued
    expect(order.may_cost_usd).toBe(1.25)
    const measure = (mayCostUsd: number, signal = new AbortController().signal) => {
      person.write('order.json', JSON.stringify({ ...order, may_cost_usd: mayCostUsd }))
      const files = ['--order', 'order.json', '--spec', '.winnow/prompt.yaml', '--report', 'report.json']
      return person.winnowWith({ env, signal }, 'measure', ...files)
    }
    const before = asked.length
    stop = new AbortController()
    expect((await measure(1.25, stop.signal)).code).toBe(130)
    expect(asked).toHaveLength(before + 1)
    stop = null
    const whole = await measure(1.25)
    const count = asked.length - before
    expect([whole.code, whole.out]).toEqual([
      0,
      expect.stringContaining(
        `models of the harness: ${count} requests, ${100 * count} tokens, ${count / 100} USD`,
      ),
    ])
    expect(whole.out).toContain('of at most 1.25 USD (may_cost_usd of the order)')
    const read = () => JSON.parse(readFileSync(join(person.dir, 'report.json'), 'utf8'))
    expect(read()).toMatchObject({ runner_error: null, metered: { requests: count } })
    expect((await measure(0.01)).code).toBe(13)
    expect(asked).toHaveLength(before + count + 1)
    expect(read()).toMatchObject({
      runner_error: expect.stringContaining('$0.0100 of $0.0100 are spent'),
      metered: { requests: 1 },
    })
  }, 300_000)
})
