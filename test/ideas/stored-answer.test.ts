import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildCommandKey } from '../../src/model/fold/proposers.ts'
import { forgetSettled, readStoredAnswers, storeAnswer } from '../../src/ideas/stored-answers.ts'
import { scratch } from '../git/scratch.ts'
import { aCampaign } from './incumbent.ts'

const HERE = { has: async () => true, commit: async () => ({ tree: 'd'.repeat(40) }) }
const base = { commit: 'b'.repeat(40), tree: 'c'.repeat(40) }

function asked(hypothesis: string) {
  const idea = {
    hypothesis,
    category: 'general',
    priority: 'medium' as const,
    required_deps: [],
    family: null,
  }
  return { ok: true as const, idea, learnings: 'learned', commit: 'a'.repeat(40), base }
}

type Campaign = Parameters<typeof readStoredAnswers>[1]

const key = buildCommandKey('an agent / of "mine"', 'n1')
const said: string[] = []
const say = (line: string) => void said.push(line)
const campaign = (rest: Partial<Campaign> = {}): Campaign => aCampaign({ started: 'this one', ...rest })

function answer(rest: Partial<Parameters<typeof storeAnswer>[1]> = {}): Parameters<typeof storeAnswer>[1] {
  const who = 'an agent / of "mine"'
  const at = '2026-01-01T00:00:00Z'
  return {
    key,
    campaign: 'this one',
    who,
    at,
    minutes: 12,
    first_unseen: 4,
    result: asked('Use a map'),
    ...rest,
  }
}

describe('an answer of a program', () => {
  it('stays in a file until its idea is an experiment, on the incumbent that it changes', async () => {
    const dir = join(scratch(), 'answers')
    await storeAnswer(dir, answer())
    const { proposals } = await readStoredAnswers(dir, campaign(), HERE, say)
    expect(proposals).toEqual([
      {
        hypothesis: 'Use a map',
        category: 'general',
        priority: 'medium',
        required_deps: [],
        family: null,
        learnings: 'learned',
        source: { use: 'command', key: 'command:an agent / of "mine":n1' },
        head: { commit: 'a'.repeat(40), base, tree: 'd'.repeat(40) },
        first_unseen: 4,
        branch: null,
        pull: null,
      },
    ])
    const opened = campaign({ sources: { [key]: 'exp-001' } })
    expect(await readStoredAnswers(dir, opened, HERE, say)).toEqual({ proposals: [], answers: [] })
    await forgetSettled(dir, campaign(), say)
    expect(readdirSync(dir)).toHaveLength(1)
    await forgetSettled(dir, opened, say)
    await forgetSettled(dir, opened, say)
    expect(readdirSync(dir)).toEqual([])
  })

  it('stays until its cost is recorded, with or without an idea', async () => {
    const dir = scratch()
    const none = buildCommandKey('b', 'n2')
    await storeAnswer(dir, answer())
    await storeAnswer(dir, answer({ key: none, who: 'b', result: { ok: false, reason: 'tired' } }))
    const unpaid = await readStoredAnswers(dir, campaign(), HERE, say)
    expect(unpaid.proposals).toHaveLength(1)
    expect(unpaid.answers).toEqual([
      { key, who: 'an agent / of "mine"', ok: true, minutes: 12 },
      { key: none, who: 'b', ok: false, minutes: 12 },
    ])
    const paid = campaign({ answered: { [key]: true, [none]: true } })
    expect(await readStoredAnswers(dir, paid, HERE, say)).toMatchObject({ proposals: [{}], answers: [] })
    await forgetSettled(dir, paid, say)
    expect(readdirSync(dir)).toHaveLength(1)
  })

  it('to another campaign of the same name is ignored', async () => {
    const dir = scratch()
    await storeAnswer(dir, answer({ campaign: 'an earlier one' }))
    expect(await readStoredAnswers(dir, campaign(), HERE, say)).toEqual({ proposals: [], answers: [] })
    await forgetSettled(dir, campaign(), say)
    expect(readdirSync(dir)).toEqual([])
  })

  it('is stored once even if storing is repeated, and read oldest first', async () => {
    const dir = scratch()
    const later = answer({
      key: buildCommandKey('a', '1'),
      at: '2026-01-02T00:00:00Z',
      result: asked('later'),
    })
    await storeAnswer(dir, later)
    await storeAnswer(dir, later)
    await storeAnswer(dir, answer({ key: buildCommandKey('b', '1'), result: asked('sooner') }))
    const { proposals } = await readStoredAnswers(dir, campaign(), HERE, say)
    expect(proposals.map(({ hypothesis }) => hypothesis)).toEqual(['sooner', 'later'])
  })

  it('has the field ok only once', () => {
    expect(buildCommandKey('command:claude', 'n')).toBe('command:claude:n')
    expect(buildCommandKey('claude', 'n')).toBe('command:claude:n')
  })

  it('whose commit is gone is rejected, not lost', async () => {
    const dir = scratch()
    await storeAnswer(dir, answer())
    const { proposals } = await readStoredAnswers(dir, campaign(), { ...HERE, has: async () => false }, say)
    expect(proposals).toMatchObject([{ head: { rejected: expect.stringContaining('is gone') } }])
  })

  it.each(['{"key": 1}', '', '\0\0\0'])('damaged as %j is moved aside with one message', async text => {
    const dir = scratch()
    writeFileSync(join(dir, 'x.json.123.tmp'), '{')
    expect(await readStoredAnswers(dir, campaign(), HERE, say)).toEqual({ proposals: [], answers: [] })
    writeFileSync(join(dir, 'x.json'), text)
    said.length = 0
    for (let times = 0; times < 2; times++)
      expect(await readStoredAnswers(dir, campaign(), HERE, say)).toEqual({ proposals: [], answers: [] })
    const aside = readdirSync(dir).filter(name => name.startsWith('x.json.damaged-'))
    expect(aside).toHaveLength(1)
    expect(said).toEqual([
      expect.stringContaining(`is now ${join(dir, aside[0] ?? '')}: its idea and cost are lost`),
    ])
  })

  it('is absent if nothing was stored', async () => {
    const nothing = { proposals: [], answers: [] }
    expect(await readStoredAnswers(join(scratch(), 'none'), campaign(), HERE, say)).toEqual(nothing)
  })
})
