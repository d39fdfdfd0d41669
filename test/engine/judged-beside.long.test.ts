import { describe, expect, it } from 'vitest'
import type { Campaign } from '../../src/model/campaign.ts'
import { type AskedModel, type ModelReply, modelServer } from '../servers/model-server.ts'
import { readingJudge } from '../servers/reading-judge.ts'
import { createTestRepository, patchOf, type TestRepository } from '../support/repository.ts'

const SPEC = `winnow: 1
metric:
  primary: { type: judge, name: quality, direction: maximize }
  degenerate_gates: [{ name: answers, check: '>= 24' }]
  judge:
    rubric: Score 1 to 5 how good the answer is.
    scoring: { primary: quality }
    models: [one, two]
    sample_size: 12
    minimum_improvement: 0.5
    calibration: { labels: bench/labels.jsonl, min_agreement: 0.8 }
measurement:
  command: exec awk -f bench/items.awk src/answers.txt
  holdout: { command: exec awk -f bench/items.awk src/hidden.txt, max_uses: 3 }
  probes: off
scope: { mutable: [src/] }
execution: { mode: serial, max_concurrent: 1 }
propose: [{ use: patch, dir: ideas }]
`
const HARNESS = `BEGIN { printf "{\\"answers\\": 24, \\"items\\": [" }
{ printf "%s{\\"id\\": \\"%s\\", \\"content\\": \\"%s %s\\"}", (NR > 1 ? ", " : ""), $1, $2, $3 }
END { printf "]}" }
`
const LABELS = [1, 2, 3, 4, 5]
  .map(score => `${JSON.stringify({ content: `label ${score}`, score })}\n`)
  .join('')

const lines = (name: string, kind: string) =>
  Array.from({ length: 24 }, (_, at) => `${name}-${at} ${kind} ${at}\n`).join('')
const files = (name: string, seen: string, hidden: string) => ({
  'src/answers.txt': lines(name, seen),
  'src/hidden.txt': lines(name, hidden),
})

const WORDS: Record<string, number> = { good: 4.5, poor: 2.5, bad: 1.5 }

/** The second model is a little kinder. */
function scoring(asked: AskedModel): ModelReply {
  const kind = asked.model === 'two' ? 0.2 : 0
  return readingJudge(asked, ({ content }) => {
    const [word = '', number = '0'] = content.split(' ')
    return word === 'label'
      ? Number(number)
      : (WORDS[word] ?? 1) + kind + ((Number(number) * 7) % 5) / 10 - 0.2
  })
}

async function createRepository(reply: (asked: AskedModel) => ModelReply) {
  const server = await modelServer(reply)
  const base = files('old', 'poor', 'poor')
  const patch = (hypothesis: string, to: typeof base) =>
    patchOf(
      {
        'src/answers.txt': [base['src/answers.txt'], to['src/answers.txt']],
        'src/hidden.txt': [base['src/hidden.txt'], to['src/hidden.txt']],
      },
      { hypothesis },
    )
  const site = await createTestRepository({
    spec: SPEC,
    name: 'judged',
    files: {
      ...base,
      'bench/items.awk': HARNESS,
      'bench/labels.jsonl': LABELS,
      'ideas/1.patch': patch('overfitted', files('new', 'good', 'bad')),
      'ideas/2.patch': patch('better', files('new', 'good', 'good')),
    },
    env: { WINNOW_MODEL_URL: server.url, WINNOW_MODEL_KEY: 'sk', WINNOW_MODEL_PRICE: '1/5' },
  })
  await site.start()
  return { site, server }
}

async function agreements(site: TestRepository): Promise<(number | null)[]> {
  return (await site.events()).flatMap(event => {
    const found = event.kind === 'measured' ? event.report.judging?.agreement : undefined
    return found === undefined ? [] : [found]
  })
}

const kept = ({ landings }: Campaign) => landings.length > 0

describe('a judged campaign with labels, two models, a holdout and items of their own', () => {
  it('keeps what is better on the holdout too, by two samples', async () => {
    const { site, server } = await createRepository(scoring)
    await site.until(kept)
    expect(await agreements(site)).toEqual([expect.closeTo(1)])
    expect(await site.outcomes()).toMatchObject({ overfitted: 'dropped', better: 'kept' })
    expect(await site.reasonOf('overfitted')).toBe('holdout')
    expect(await site.reasonOf('better')).toContain('matched at random because their ids differ')
    const asked = (name: string) => server.asked.filter(({ model }) => model === name).length
    // The measurement of its effect may have begun.
    expect(Math.abs(asked('one') - asked('two'))).toBeLessThanOrEqual(1)
    // They take turns, the labels first.
    expect(server.asked.slice(0, 4).map(({ model }) => model)).toEqual(['one', 'two', 'one', 'two'])
    const { requests } = (await site.campaign()).spent
    expect(requests).toBeGreaterThan(10)
    expect(requests).toBeLessThanOrEqual(server.asked.length)
    await site.proven()
  }, 240_000)

  it('measures no idea while its judges disagree with people', async () => {
    const { site, server } = await createRepository(asked => readingJudge(asked, () => 3))
    expect(await site.run()).toMatchObject({ for: 'person' })
    const { status_reason: reason, experiments } = await site.campaign()
    expect(reason).toMatch(
      /the agreement of one \+ two with the labels is 0\.\d+, and the spec asks for 0\.8/,
    )
    expect(Object.values(experiments).every(({ outcome }) => outcome === null)).toBe(true)
    const before = server.asked.length
    await site.run()
    expect(server.asked).toHaveLength(before)
  }, 240_000)
})
