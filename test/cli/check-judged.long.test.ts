import { describe, expect, it } from 'vitest'
import { JUDGED_SPEC } from '../support/judged-repository.ts'
import { modelServer } from '../servers/model-server.ts'
import { readingJudge } from '../servers/reading-judge.ts'
import { project } from './project.ts'

function judgedProject(items = 40, spec = JUDGED_SPEC) {
  const line = (at: number) => ({ id: `q${at}`, content: 'x'.repeat(400) })
  const printed = { answers: 24, items: Array.from({ length: items }, (_, at) => line(at)) }
  return project({
    '.winnow/judged.yaml': spec.replace(/command: .*awk.*txt/, 'command: cat src/answers.json'),
    'src/answers.json': `${JSON.stringify(printed)}\n`,
  })
}

async function asked(env: Record<string, string> = {}) {
  const server = await modelServer(() => 'reset')
  return { server, env: { WINNOW_MODEL_URL: server.url, WINNOW_MODEL_PRICE: '1/5', ...env } }
}

describe('winnow check of a judged spec', () => {
  it('says what judging costs and can show, and asks no model', async () => {
    const { server, env } = await asked()
    const { code, out } = await judgedProject().winnowWith({ env }, 'check')
    expect(code).toBe(0)
    expect(out).toMatch(
      /judged: 12 of 40 items of each side by the-judge in one job, 6 requests, about \d+ tokens or 0\.\d+ USD/,
    )
    expect(out).toContain('judging may cost 5 USD in all (metric.judge.max_total_cost_usd)')
    expect(out).toContain('smallest gain: 0.5 quality (metric.judge.minimum_improvement)')
    expect(out).toMatch(/budget: 5 USD in all, about \d+ jobs \(metric\.judge\.max_total_cost_usd\)/)
    expect(out).toMatch(
      /shown by: \d+ items at least; gains of [\d.]+ quality are seen where scores of one item vary by 0\.5/,
    )
    expect(out).not.toContain('warning: WINNOW_MODEL_URL')
    expect(server.asked).toEqual([])
  })

  it('says what its attacks cost, and lets the judge score them for the money that it is given', async () => {
    const reply: Parameters<typeof modelServer>[0] = asked =>
      readingJudge(asked, ({ content }) => (content.includes('give it 5') ? 5 : 2))
    const server = await modelServer(reply)
    const env = { WINNOW_MODEL_URL: server.url, WINNOW_MODEL_PRICE: '1/5' }
    const spec = JUDGED_SPEC.replace(', probes: off', '').replace(
      'degenerate_gates: [',
      "degenerate_gates: [{ name: words, check: '<= 45' }, ",
    )
    const person = project({
      '.winnow/judged.yaml': spec
        .replace(/exec awk.*txt/, 'node bench/items.mjs')
        .replace('src/', 'src/answer.md'),
      'src/answer.md': 'It depends.\n',
      'bench/items.mjs': `import { readFileSync } from 'node:fs'
const text = readFileSync('src/answer.md', 'utf8')
const items = Array.from({ length: 24 }, (_, at) => ({ id: 'q' + at, content: 'question ' + at + ': ' + text }))
console.log(JSON.stringify({ answers: text === '' ? 0 : 24, words: text.split(/\\s+/).length, items }))
`,
    })
    const free = await person.winnowWith({ env }, 'check')
    expect(free.code, free.err).toBe(0)
    expect(free.out).toMatch(
      /attacks on the harness: 4 changes and the base, at most 15 requests, about \d+ tokens/,
    )
    expect(free.out).toContain('attacks: not tried: a model scores them')
    expect(server.asked).toEqual([])

    const { code, out, err } = await person.winnowWith({ env }, 'check', '--spend', '0.5', '--json')
    expect(code, err).toBe(0)
    const { probes } = JSON.parse(out) as {
      probes: Record<string, unknown> & { results: { name: string }[] }
    }
    expect(probes['guard']).toEqual({ is: 'forgeable', by: ['instruct'] })
    expect(probes.results).toMatchObject([
      { name: 'vanish', caught_by: 'the printed numbers' },
      { name: 'forge-text', caught_by: 'no gain' },
      { name: 'instruct', caught_by: null },
      { name: 'stuff', caught_by: 'the printed numbers' },
    ])
    expect(probes['judging']).toMatchObject({ requests: 8 })
    expect(server.asked).toHaveLength(8)

    const poor = await person.winnowWith({ env }, 'check', '--spend', '0.0001')
    expect([poor.code, poor.out]).toEqual([0, expect.stringContaining('5 samples would cost about')])
    expect(server.asked).toHaveLength(8)
  })

  it('warns where no model could be asked', async () => {
    const person = judgedProject()
    const { code, out } = await person.winnow('check')
    expect([code, out]).toEqual([0, expect.stringContaining('WINNOW_MODEL_URL is not set')])
    const before = person.refs()
    const run = await person.winnow('run')
    expect([run.code, run.err]).toEqual([2, expect.stringContaining('no address of a model is set')])
    expect(person.refs()).toBe(before)
  })

  it('refuses what could never be shown, or paid by what is known', async () => {
    const few = await judgedProject(23).winnow('check')
    expect([few.code, few.err]).toEqual([2, expect.stringContaining('two samples that share none have 24')])
    const small = JUDGED_SPEC.replace('sample_size: 12', 'sample_size: 1')
    const never = await judgedProject(2, small).winnow('check')
    expect([never.code, never.err]).toEqual([
      2,
      expect.stringContaining('could show a gain: it takes at least'),
    ])
    const { env } = await asked({ WINNOW_MODEL_PRICE: '' })
    const unpaid = await judgedProject().winnowWith({ env }, 'check')
    expect([unpaid.code, unpaid.err]).toEqual([
      2,
      expect.stringContaining('the price of the-judge is unknown'),
    ])
  })
})
