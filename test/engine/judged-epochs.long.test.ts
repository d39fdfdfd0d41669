import { expect, it } from 'vitest'
import { listEpochSteps } from '../../src/decide/epochs.ts'
import { requireCampaign } from '../../src/engine/controller/run.ts'
import type { AskedModel, ModelReply } from '../servers/model-server.ts'
import { shownIn } from '../servers/reading-judge.ts'
import { answers, createJudgedRepository, JUDGED_SPEC, SAMPLE } from '../support/judged-repository.ts'
import { releaseTest } from '../support/cases.ts'

const SPEC = `${JUDGED_SPEC.replace(/propose:.*\n/, 'propose: [{ use: textgrad, model: the-optimiser }]\n')}
artifacts: [{ name: answers, path: src/answers.txt }]
epochs: { count: 3, baseline: 2, learning_rate: 1 }
merge: { forgeable: allow }
stopping: { max_total_cost_usd: 5 }
`

const SCORES: Record<string, number> = { poor: 2, good: 3.2, great: 4.4 }

/** It goes by the first word. In a pass, "great" disappoints. */
function judge(asked: AskedModel): ModelReply {
  const isPass = asked.system.includes('"feedback"')
  const scores = shownIn(asked).map(({ key, content }) => {
    const [word = '', number = '0'] = content.split(' ')
    const quality = (isPass && word === 'great' ? 1 : (SCORES[word] ?? 1)) + (Number(number) % 4) / 10
    return { item: key, quality, ...(isPass ? { feedback: `answer ${number} is only ${word}` } : {}) }
  })
  return { text: JSON.stringify({ scores }) }
}

const isQuestion = ({ user }: AskedModel) => user.startsWith('Artifact: ')

function optimise({ user }: AskedModel): ModelReply {
  const next = user.includes('poor 0') ? 'good' : 'great'
  const reply = { artifact_name: 'answers', proposed_content: answers(next), rationale: `say ${next}` }
  return { text: JSON.stringify({ ...reply, expected_loss_reduction: 0.5, confidence: 0.5 }) }
}

it('epochs of a judged metric: passes have a mean, the gradient reads what the judge wrote, one update is rolled back', async () => {
  const site = await createJudgedRepository(
    {},
    { spec: SPEC, reply: asked => (isQuestion(asked) ? optimise(asked) : judge(asked)) },
  )
  await site.start()
  expect(await site.run()).toMatchObject({ for: 'nothing' })
  const { loaded, spec } = await requireCampaign(site.place)
  const { campaign } = loaded
  expect(campaign.status_reason).toBe('3 epochs measured (epochs.count)')
  expect(await site.outcomes()).toEqual({ 'say good': 'kept', 'say great': 'kept' })
  const passes = listEpochSteps(campaign, spec)
  expect(passes.map(({ epoch }) => Math.round((epoch.mean ?? 0) * 2) / 2)).toEqual([2, 2, 3.5, 1, 3.5])
  expect(passes.map(({ step }) => step.rollBack)).toEqual([null, null, null, 'exp-002', null])
  expect(passes.map(({ step }) => step.learningRate)).toEqual([1, 1, 1, 0.5, 0.5])
  expect(campaign.landings.map(({ reverted }) => reverted !== null)).toEqual([false, true])

  // Every pass scores the same items; comparisons are not asked for words.
  const items = new Set(passes.flatMap(({ epoch }) => epoch.runs.map(({ task }) => task)))
  expect(items.size).toBe(SAMPLE)
  const { asked } = site.server
  const told = asked.filter(({ system }) => system.includes('"feedback"'))
  expect(told).toHaveLength(passes.length * Math.ceil(SAMPLE / 5))

  const [first, second] = asked.filter(isQuestion).map(({ user }) => user)
  expect(first).toContain('Mean quality: 2.')
  expect(first).toMatch(/- q\d+: 2\n {2}feedback: answer \d+ is only poor\n/)
  expect(first?.match(/ {2}feedback: /g)).toHaveLength(SAMPLE)
  expect(second).toMatch(/feedback: answer \d+ is only good/)
  expect(second).not.toContain('is only poor')
  expect(second).toContain('answers: say good (kept')
  // Only the last pass keeps its texts.
  const kept = passes.map(({ epoch }) => epoch.runs.some(({ feedback }) => feedback !== null))
  expect(kept).toEqual([false, false, false, false, true])
  expect(campaign.spent.usd_for).toMatchObject({ judge: expect.any(Number), propose: expect.any(Number) })
  await site.proven()
}, 180_000)

releaseTest(
  'with compat: awp an update lands when its gates hold, and its order, measured alone, is its pass',
  async () => {
    const site = await createJudgedRepository(
      {},
      {
        spec: SPEC.replace('count: 3, baseline: 2,', 'count: 4, compat: awp,'),
        reply: asked => (isQuestion(asked) ? optimise(asked) : judge(asked)),
      },
    )
    await site.start()
    expect(await site.run()).toMatchObject({ for: 'nothing' })
    const { loaded, spec } = await requireCampaign(site.place)
    const passes = listEpochSteps(loaded.campaign, spec)
    expect(passes.map(({ epoch }) => Math.round((epoch.mean ?? 0) * 2) / 2)).toEqual([2, 3.5, 1, 3.5])
    expect(passes.map(({ step }) => step.rollBack)).toEqual([null, null, 'exp-002', null])
    expect(await site.reasonOf('say great')).toContain('every gate holds with it')
    const rules = (await site.events()).flatMap(event =>
      event.kind === 'order-issued' && event.purpose === 'experiment' ? [event.stop.rule] : [],
    )
    expect(rules).toEqual(['alone', 'alone'])
    await site.proven()
  },
  180_000,
)
