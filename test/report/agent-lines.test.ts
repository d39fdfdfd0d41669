import { describe, expect, it } from 'vitest'
import { renderAgentInstructions } from '../../src/cli/agent-files.ts'

describe('the lines for AGENTS.md', () => {
  it('are six lines, and the same for the same campaign', () => {
    const lines = renderAgentInstructions('parser')
    expect(lines).toHaveLength(6)
    expect(lines.filter(line => /[\n\r]/.test(line) || line.trim() === '')).toEqual([])
    expect(renderAgentInstructions('parser')).toEqual(lines)
  })

  it('name the spec, the command, every exit code and the branch', () => {
    const text = renderAgentInstructions('parser').join('\n')
    for (const said of [
      '`.winnow/parser.yaml`',
      'winnow try --campaign parser -m',
      '--json',
      '0 kept, 10 no gain, 11 not proven, 12 refused, 13 broken, 14 waiting, 15 worse',
      'winnow status --campaign parser --json',
      '`optimize/parser`',
    ])
      expect(text).toContain(said)
  })
})
