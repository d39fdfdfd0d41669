import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAgentAnswer, readPrintedOutput } from '../../src/ideas/agent.ts'
import { scratch } from '../git/scratch.ts'

function answer(text: string, whole = true) {
  return parseAgentAnswer({ text, whole }, 'agent: 2 files changed')
}

describe('the answer of a program', () => {
  it('is its last JSON object with a known key', () => {
    const text = '{"hypothesis":"first"}\n{"hypothesis":"second"}\n{"type":"result","cost":{"usd":1}}\n'
    expect(answer(text).idea.hypothesis).toBe('second')
  })

  it('may be the whole output, have text after it, or braces in its text', () => {
    expect(answer('{"hypothesis":"a } in it {"}').idea.hypothesis).toBe('a } in it {')
    expect(answer('{"hypothesis":"x"}\nDone {really}.').idea.hypothesis).toBe('x')
  })

  it('ignores a field of the wrong type and keeps the others', () => {
    const { idea, learnings } = answer(
      '{"hypothesis":"h","category":7,"priority":"urgent","required_deps":"left-pad","learnings":[1]}',
    )
    expect(idea).toMatchObject({ hypothesis: 'h', category: 'general', priority: 'medium' })
    expect(idea.required_deps).toEqual(['left-pad'])
    expect(learnings).toBeNull()
  })

  it('falls back to the learnings, then to the first line, then to the changed files', () => {
    expect(answer('thinking\n{"learnings":"\\nUse a map\\nand more"}').idea.hypothesis).toBe('Use a map')
    expect(answer('\n  Use a set  \nmore\n{"category":"x"}').idea.hypothesis).toBe('Use a set')
    expect(answer('ut off at the start\nmore', false).idea.hypothesis).toBe('agent: 2 files changed')
    expect(answer('').idea.hypothesis).toBe('agent: 2 files changed')
  })

  it('is cleaned and capped', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), fc.string({ unit: 'binary' }), (a, b) => {
        const { idea, learnings } = answer(
          `${b}\n${JSON.stringify({ hypothesis: a, category: b, learnings: a })}`,
        )
        expect(idea.hypothesis).toMatch(/^[^\p{C}]{1,300}$/u)
        expect(idea.category).toMatch(/^[^\p{C}]{1,60}$/u)
        expect(learnings ?? 'none').toMatch(/^(?:[^\p{C}]|[\n\t]){1,4000}$/u)
      }),
    )
  })

  it('is found in bounded time', () => {
    expect(answer('{'.repeat(50_000) + '}'.repeat(50_000)).idea.hypothesis).not.toBe('')
  })
})

describe('the output of a program', () => {
  it('is read from its end if it is long', async () => {
    const path = join(scratch(), 'stdout')
    writeFileSync(path, `${'x'.repeat(300_000)}\n{"hypothesis":"late"}\n`)
    const printed = await readPrintedOutput(path)
    expect(printed.whole).toBe(false)
    expect(parseAgentAnswer(printed, 'none').idea.hypothesis).toBe('late')
  })

  it('is empty if the file is missing, a link or a folder', async () => {
    const dir = scratch()
    symlinkSync('/etc/passwd', join(dir, 'link'))
    mkdirSync(join(dir, 'folder'))
    for (const name of ['missing', 'link', 'folder']) {
      expect(await readPrintedOutput(join(dir, name))).toEqual({ text: '', whole: true })
    }
  })
})
