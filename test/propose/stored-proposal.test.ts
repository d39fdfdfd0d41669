import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import {
  commandKey,
  forgetProposal,
  readCommandProposals,
  storeProposal,
} from '../../src/propose/stored-proposal.ts'
import { scratch } from '../git/scratch.ts'
import { aCampaign } from './incumbent.ts'

const HERE = { has: async () => true }
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

describe('a proposal of a program', () => {
  const key = commandKey('an agent / of "mine"', 'n1')

  it('waits as a file until it is an experiment, on the incumbent it was made for', async () => {
    const dir = join(scratch(), 'proposals')
    await storeProposal(dir, { key, at: '2026-01-01T00:00:00Z', asked: asked('Use a map') })
    expect(await readCommandProposals(dir, aCampaign(), HERE)).toEqual([
      {
        hypothesis: 'Use a map',
        category: 'general',
        priority: 'medium',
        required_deps: [],
        family: null,
        learnings: 'learned',
        source: { use: 'command', key: 'command:an agent / of "mine":n1' },
        head: { commit: 'a'.repeat(40), base },
        branch: null,
        pull: null,
      },
    ])
    expect(await readCommandProposals(dir, aCampaign({ sources: { [key]: 'exp-001' } }), HERE)).toEqual([])
    await forgetProposal(dir, key)
    await forgetProposal(dir, key)
    expect(readdirSync(dir)).toEqual([])
  })

  it('is stored once however often that is repeated, and read oldest first', async () => {
    const dir = scratch()
    const later = { key: commandKey('a', '1'), at: '2026-01-02T00:00:00Z', asked: asked('later') }
    await storeProposal(dir, later)
    await storeProposal(dir, later)
    await storeProposal(dir, {
      key: commandKey('b', '1'),
      at: '2026-01-01T00:00:00Z',
      asked: asked('sooner'),
    })
    const found = await readCommandProposals(dir, aCampaign(), HERE)
    expect(found.map(({ hypothesis }) => hypothesis)).toEqual(['sooner', 'later'])
  })

  it('does not say its kind twice', () => {
    expect(commandKey('command:claude', 'n')).toBe('command:claude:n')
    expect(commandKey('claude', 'n')).toBe('command:claude:n')
  })

  it('whose commit is gone is rejected, not lost', async () => {
    const dir = scratch()
    await storeProposal(dir, { key, at: '2026-01-01T00:00:00Z', asked: asked('x') })
    const [proposal] = await readCommandProposals(dir, aCampaign(), { has: async () => false })
    expect(proposal?.head).toEqual({ rejected: expect.stringContaining('is gone') })
  })

  it('that was changed by hand is an error naming the file; a half-written one is never seen', async () => {
    const dir = scratch()
    writeFileSync(join(dir, 'x.json.123.tmp'), '{')
    expect(await readCommandProposals(dir, aCampaign(), HERE)).toEqual([])
    writeFileSync(join(dir, 'x.json'), '{"key": 1}')
    const error = await readCommandProposals(dir, aCampaign(), HERE).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({ place: { file: join(dir, 'x.json') } })
  })

  it('are none where nothing was ever stored', async () => {
    expect(await readCommandProposals(join(scratch(), 'none'), aCampaign(), HERE)).toEqual([])
  })
})
