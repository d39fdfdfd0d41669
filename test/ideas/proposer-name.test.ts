import { describe, expect, it } from 'vitest'
import { getProposerName, isProposerDisabled } from '../../src/ideas/proposers.ts'
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
