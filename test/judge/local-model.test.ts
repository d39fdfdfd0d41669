import { describe, expect, it, onTestFinished } from 'vitest'
import { openBudget } from '../../src/judge/budget.ts'
import { createChatModels } from '../../src/judge/chat-model.ts'
import { parseEndpoint } from '../../src/judge/endpoint.ts'
import { startLocalModel } from '../../src/judge/local-model.ts'
import {
  applySkillRule,
  describeSkillRule,
  listShownQualities,
  SKILL_QUALITIES,
} from '../../src/judge/skill-rule.ts'

const POOR = '---\nname: reports\n---\n\n# Reports\n\n## Steps\n\nWrite it down.\n'

async function ask(user: string, system = '', answer = applySkillRule) {
  const server = await startLocalModel(answer)
  onTestFinished(() => server.close())
  const models = createChatModels({
    endpoint: parseEndpoint(server.url, 'key'),
    key: 'key',
    budget: openBudget({ model: 'm', capUsd: 1, price: { input: 1, output: 5 } }),
    clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
    random: { hex: () => '', fraction: () => 0 },
  })
  const question = { model: 'm', system, user, maxTokens: 1_000 }
  const answered = await models.ask(question, new AbortController().signal)
  return { answered, server, usage: models.usage() }
}

function writeNext(text: string, brief = ''): { text: string; hypothesis: string } {
  const user = `${brief}\nBEGIN SKILL\n${text}END SKILL`
  return JSON.parse(applySkillRule({ model: 'm', system: '', user })) as { text: string; hypothesis: string }
}

function score(text: string, about: string): Record<string, number> {
  const mark = 'a'.repeat(32)
  const content = `About: ${about}\nA person asks.\n--- the text ---\n${text}`
  const answer = applySkillRule({
    model: 'm',
    system: `"BEGIN ${mark} <item>"`,
    user: `BEGIN ${mark} 0123abcd\n${content}\nEND ${mark} 0123abcd`,
  })
  const { scores } = JSON.parse(answer) as { scores: (Record<string, number> & { item: unknown })[] }
  expect(scores.map(({ item }) => item)).toEqual(['0123abcd'])
  return scores[0] ?? {}
}

describe('the local model', () => {
  it('answers over HTTP, counts questions and tokens, and stops when it is closed', async () => {
    const { answered, server, usage } = await ask('abcdefgh', '', ({ user }) => user.toUpperCase())
    expect(answered).toEqual({ is: 'answered', text: 'ABCDEFGH', complete: true })
    expect([usage.tokens, usage.unanswered, server.countQuestions()]).toEqual([4, 0, 1])
    await server.close()
    await expect(fetch(`${server.url}/chat/completions`, { method: 'POST' })).rejects.toThrow('fetch failed')
  })

  it('refuses a question that its rule does not know, with the reason', async () => {
    const { answered } = await ask('What is the capital of France?')
    expect(answered).toMatchObject({
      is: 'not-taken',
      reason: expect.stringContaining('only scores items and improves'),
    })
  })
})

describe('the rule for skills', () => {
  it('is described with every quality', () => {
    const told = describeSkillRule().join('\n')
    for (const { name, shown } of SKILL_QUALITIES) expect(told).toContain(`${name.padEnd(10)} ${shown}`)
  })

  it('adds one missing quality a question until all are there', () => {
    let text = POOR
    const counts = SKILL_QUALITIES.map(() => {
      text = writeNext(text).text
      return listShownQualities(text).length
    })
    expect(counts).toEqual([1, 2, 3, 4, 5])
    expect(text.match(/^## Steps$/gm)).toHaveLength(1)
    expect(writeNext(text)).toEqual({ hypothesis: 'nothing is missing', text })
  })

  it('does not repeat what the brief names as tried', () => {
    const first = writeNext(POOR)
    expect(writeNext(POOR, `- exp-001: ${first.hypothesis}`).hypothesis).not.toBe(first.hypothesis)
  })

  it('scores a text higher for each quality that it really has, most for the one of the case', () => {
    const better = writeNext(POOR).text
    expect(score(POOR, 'steps')).toMatchObject({ quality: 1, coverage: 0 })
    expect(score(better, 'steps')).toMatchObject({ quality: 2.2, coverage: 1 })
    expect(score(better, 'limits')).toMatchObject({ quality: 1.7 })
    expect(score(`${POOR}\nsteps example questions limits check\n`, 'steps')).toMatchObject({ quality: 1 })
  })
})
