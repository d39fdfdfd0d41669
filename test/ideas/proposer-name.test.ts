import { describe, expect, it } from 'vitest'
import type { CampaignContext } from '../../src/engine/campaign/context.ts'
import { createCampaignIdeas } from '../../src/engine/campaign/ideas.ts'
import { getProposerName, isProposerDisabled, nameProposers } from '../../src/ideas/proposers.ts'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import { buildCommandKey, TEXT_GRADIENT } from '../../src/model/fold/proposers.ts'
import { aSpec } from '../decide/a-spec.ts'

function nameOf(proposer: Record<string, unknown>): string {
  const [first] = aSpec({ propose: [proposer] }).propose
  if (!first) throw new Error('no proposer')
  return getProposerName(first)
}

describe('the name of a proposer', () => {
  it.each([
    [{ use: 'command', command: 'claude -p', name: 'my agent' }, 'my agent'],
    [{ use: 'command', command: 'claude -p --model x' }, 'command:claude'],
    [{ use: 'command', command: ' /usr/local/bin/claude -p' }, 'command:claude'],
    [{ use: 'command', command: 'KEY=secret OTHER=x codex exec' }, 'command:codex'],
    [{ use: 'command', command: `KEY='my secret' codex exec` }, 'command:codex'],
    [{ use: 'command', command: 'A="x \\" y"\'z z\'\\ w B=1 /bin/codex exec' }, 'command:codex'],
    [{ use: 'command', command: 'KEY="open secret codex' }, 'command:unnamed'],
    [{ use: 'command', preset: 'aider' }, 'command:aider'],
    [{ use: 'command', command: 'KEY=secret' }, 'command:unnamed'],
    [{ use: 'patch', dir: 'ideas' }, 'patch:ideas'],
    [{ use: 'external' }, 'external'],
    [{ use: 'dispatch', workflow: 'x.yml' }, 'dispatch:x.yml'],
  ])('%j is %s', (proposer, name) => {
    expect(nameOf(proposer)).toBe(name)
  })
})

describe('several proposers of a spec', () => {
  const named = (...propose: Record<string, unknown>[]) =>
    nameProposers(aSpec({ propose }).propose).map(({ name }) => name)
  const python = (file: string, more = {}) => ({ use: 'command', command: `python3 ${file}`, ...more })

  it('of one program are told apart, and the first keeps the name that a single one has', () => {
    expect(named(python('a.py'))).toEqual(['command:python3'])
    const [first, second, third] = named(python('a.py'), python('b.py'), python('a.py'))
    expect([first, second, third]).toEqual(['command:python3', 'command:python3 2', 'command:python3 3'])
  })

  it('have different keys in the ledger, whatever names they were given', () => {
    const names = named(
      { use: 'command', preset: 'claude' },
      python('a.py', { name: 'claude' }),
      python('b.py', { name: 'command:claude 2' }),
      python('c.py', { name: 'x'.repeat(70) }),
      python('d.py', { name: 'x'.repeat(80) }),
      python('e.py', { name: 'textgrad' }),
    )
    expect(names.slice(0, 3)).toEqual(['command:claude', 'claude 3', 'command:claude 2'])
    expect(new Set(names.map(name => buildCommandKey(name, 'f00d'))).size).toBe(names.length)
    expect(names).not.toContain(TEXT_GRADIENT)
  })

  it('are all asked, also beside an agent of the command line', () => {
    const spec = aSpec({ propose: [python('a.py'), python('b.py')] })
    const agents = ['claude', 'claude'].map(
      () => ({ use: 'command', preset: 'claude', timeout_seconds: 9 }) as const,
    )
    const ideas = createCampaignIdeas({ dataDir: '' } as CampaignContext, agents)
    const names = ['command:python3', 'command:python3 2', 'command:claude']
    expect(ideas.listProposers(createEmptyCampaign(), spec)).toEqual(names)
    const failed = { failures: 3, disabled: true, asked: 0, since_kept: null }
    const campaign = { ...createEmptyCampaign(), proposers: { 'command:python3 2': failed } }
    expect(ideas.listProposers(campaign, spec)).toEqual(['command:python3', 'command:claude'])
  })
})

describe('a disabled proposer', () => {
  const proposers = {
    claude: { failures: 3, disabled: true, asked: 0, since_kept: null },
    codex: { failures: 2, disabled: false, asked: 0, since_kept: null },
  }

  it('is disabled only by its own ledger entry', () => {
    expect(isProposerDisabled({ proposers }, 'claude')).toBe(true)
    expect(isProposerDisabled({ proposers }, 'codex')).toBe(false)
    expect(isProposerDisabled({ proposers }, 'aider')).toBe(false)
    expect(isProposerDisabled({ proposers }, 'constructor')).toBe(false)
  })
})
