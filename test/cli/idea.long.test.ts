import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { modelServer } from '../servers/model-server.ts'
import { FILES, project, proven, SHORT, SPEC } from './project.ts'
import { releaseTest } from '../support/cases.ts'

describe('winnow idea', () => {
  it('adds, lists, imports and drops, and names what is there already', async () => {
    const person = project()
    await person.winnow('run')
    expect((await person.winnow('idea', 'list')).out).toBe(
      'The backlog is empty. Next: winnow idea add "what might help"\n',
    )
    const first = await person.winnow(
      'idea',
      'add',
      'Use fewer letters',
      '--category',
      'size',
      '--priority',
      'low',
    )
    expect([first.code, first.out]).toEqual([0, 'idea-001 added: Use fewer letters\n'])
    const twice = await person.winnow('idea', 'add', 'use  FEWER letters.')
    expect([twice.code, twice.err]).toEqual([
      2,
      'error: that is idea-001 already\n  fix: winnow idea list shows its state\n',
    ])
    person.write('ideas.md', '- [layout] pack it\n- [layout] Pack it!\n- use fewer letters\n- another\n')
    const sooner = await person.winnow('idea', 'import', 'ideas.md', '--priority', 'high')
    expect(sooner.err).toContain('--priority has no effect on a list: it is for patches')
    const imported = await person.winnow('idea', 'import', 'ideas.md')
    expect(imported.out).toBe('2 ideas added: idea-002 to idea-003.\n')
    expect(imported.err).toBe(
      'note: left out, it is in this file already: Pack it!\nnote: left out, it is idea-001 already: use fewer letters\n',
    )
    expect((await person.winnow('idea', 'drop', '3', '-m', 'too vague')).out).toBe(
      'idea-003 is dropped: another\n',
    )
    expect((await person.winnow('idea', 'drop', 'idea-003')).err).toContain('idea-003 is dropped already')
    expect((await person.winnow('idea', 'drop', 'idea-009')).err).toContain(
      'there is no idea-009 in the backlog',
    )
    expect((await person.winnow('idea', 'lst')).err).toContain('did you mean winnow idea list?')
    expect((await person.winnow('idea', 'add')).err).toContain('fix: winnow idea add "what might help"')
    const listed = JSON.parse((await person.winnow('idea', 'list', '--json')).out)
    expect(listed).toMatchObject([
      { id: 'idea-002', hypothesis: 'pack it', category: 'layout', priority: 'medium', status: 'open' },
      { id: 'idea-001', category: 'size', priority: 'low', source: 'ada', experiment: null },
      { id: 'idea-003', status: 'dropped', learnings: 'too vague' },
    ])
    expect((await person.winnow('status')).out).toContain('  to take: idea-002 (medium, layout): pack it\n')
    await proven(person)
  })

  it('is carried out by who tries it, and ends with what came of it', async () => {
    const person = project()
    const before = person.refs()
    person.write('src/value', SHORT)
    const early = await person.winnow('try', '--idea', 'idea-001')
    expect([early.code, early.err]).toEqual([2, expect.stringContaining('campaign size has not started')])
    expect(person.refs()).toBe(before)
    person.git('checkout', '-q', 'src/value')
    await person.winnow('run')
    await person.winnow('idea', 'add', 'use fewer letters', '--category', 'size')
    expect((await person.winnow('try', '--idea', 'idea-007')).err).toContain('there is no idea-007')
    person.write('src/value', SHORT)
    const { code, out } = await person.winnow('try', '--idea', '1', '--json')
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ hypothesis: 'use fewer letters' })])
    const [idea] = JSON.parse((await person.winnow('idea', 'list', '--json')).out)
    expect(idea).toMatchObject({ id: 'idea-001', status: 'tried', experiment: 'exp-001', outcome: 'kept' })
    expect(idea.learnings).toMatch(/^kept: bytes 100 -> 50/)
    expect((await person.winnow('idea', 'list')).out).toContain('tried as exp-001')
    await proven(person)
  })

  it('is handed to the programs that are asked, one to each asking', async () => {
    const agent = [
      'idea=$(grep -o "^- idea-00[0-9]" | head -n 1)',
      'echo "$idea" >> "$HOME/handed"',
      'test -n "$idea" || exit 1',
      'echo "$idea" > src/value',
      `echo '{"learnings": "short words help"}'`,
    ].join('; ')
    const spec = `${SPEC}propose: [{ use: command, command: '${agent.replaceAll("'", "''")}' }]\nexecution: { mode: serial }\nmerge: { hold_above: null, forgeable: allow }\n`
    const person = project({ ...FILES, '.winnow/size.yaml': spec })
    person.write(
      'ideas.yaml',
      '- { hypothesis: a, category: x, priority: low }\n- { hypothesis: b, category: y }\n',
    )
    const begun = await person.winnowWith({ signal: AbortSignal.abort() }, 'run')
    expect(begun.code).toBe(130)
    expect((await person.winnow('idea', 'import', 'ideas.yaml')).out).toBe(
      '2 ideas added: idea-001 to idea-002.\n',
    )
    await person.winnow('run')
    const listed = JSON.parse((await person.winnow('idea', 'list', '--json')).out)
    expect(listed).toMatchObject([
      { id: 'idea-001', status: 'tried', learnings: 'short words help' },
      {
        id: 'idea-002',
        status: 'tried',
        learnings: 'short words help',
        outcome: 'kept',
        experiment: 'exp-001',
      },
    ])
    const { experiments } = (await person.json('status')) as { experiments: { id: string }[] }
    expect(experiments.map(({ id }) => id)).toEqual(['exp-001', 'exp-002'])
    expect(await person.json('show', '1')).toMatchObject({ verdict: 'kept' })
    await proven(person)
  })
})

describe('winnow idea generate', () => {
  const LIST = {
    ideas: [
      { hypothesis: 'use fewer letters', category: 'size', priority: 'high' },
      { hypothesis: 'pack it', category: 'layout', priority: 'low', required_deps: ['tiny-pack'] },
    ],
  }

  releaseTest(
    'asks a model with what was learned before, and hands nothing out before a person approves',
    async () => {
      const server = await modelServer(() => ({ text: JSON.stringify(LIST), tokens: [1_000, 500] }))
      const env = { WINNOW_MODEL_URL: server.url, WINNOW_MODEL_KEY: 'k', WINNOW_MODEL_PRICE: '1/2' }
      const person = project()
      await person.winnow('run')
      person.write('src/value', SHORT)
      await person.winnow('try', '-m', 'an earlier trick')
      await person.winnow('archive')
      await person.winnow('run')
      const first = await person.winnowWith({ env }, 'idea', 'generate', '--model', 'the-model')
      expect([first.code, first.err]).toEqual([0, ''])
      expect(first.out).toContain('idea-002  low, layout: pack it (needs tiny-pack)\n')
      expect(first.out).toContain('the-model suggested 2 ideas of the 10 that it was asked for, for $0.0020')
      expect(server.asked[0]?.user).toContain('`an earlier trick`')
      const open = async () => (await person.winnow('status')).out
      expect(await open()).not.toContain('to take:')
      expect(await open()).toContain('0.002 USD')
      const again = await person.winnowWith({ env }, 'idea', 'generate', '--model', 'the-model')
      expect([again.code, again.err]).toEqual([
        2,
        expect.stringContaining('all ideas of the-model are known already'),
      ])
      expect((await person.winnow('idea', 'drop', '2')).out).toBe('idea-002 is dropped: pack it\n')
      expect((await person.winnow('idea', 'approve', '--all')).out).toBe(
        'idea-001 is approved: use fewer letters\n',
      )
      expect(await open()).toContain('to take: idea-001 (high, size): use fewer letters')
      expect((await person.winnow('idea', 'approve', '--all')).err).toContain('no idea waits for approval')
      await proven(person)
    },
    300_000,
  )

  it('asks a program of the spec in a copy of the incumbent, and keeps its list alone', async () => {
    const agent = [
      'cat > "$HOME/brief"',
      'echo lost > src/value',
      'cat answer.txt',
      'test -z "$FAIL" || { echo no quota >&2; exit 3; }',
    ].join('; ')
    const spec = `${SPEC}propose: [{ use: command, name: thinker, command: '${agent}' }]\n`
    const answer = `Here is what I would try:\n\`\`\`json\n${JSON.stringify(LIST)}\n\`\`\`\n`
    const person = project({ ...FILES, '.winnow/size.yaml': spec, 'answer.txt': answer })
    await person.winnowWith({ signal: AbortSignal.abort() }, 'run')
    const tree = person.git('rev-parse', 'optimize/size^{tree}')
    const failed = await person.winnowWith({ env: { FAIL: '1' } }, 'idea', 'generate', '--agent', 'thinker')
    expect([failed.code, failed.err]).toEqual([
      2,
      expect.stringContaining('thinker gave no ideas: thinker ended with exit code 3: no quota'),
    ])
    // Without an address of a model, the first program of the spec is asked.
    const first = await person.winnow('idea', 'generate')
    expect([first.code, first.err]).toEqual([0, ''])
    expect(first.out).toContain('idea-001  high, size: use fewer letters\n')
    expect(first.out).toContain(
      'thinker suggested 2 ideas of the 10 that it was asked for: size 1, layout 1.',
    )
    const brief = readFileSync(join(person.cache, 'brief'), 'utf8')
    expect(brief).toContain('Do not change any file. List 10 to 30 different ideas')
    expect(person.git('rev-parse', 'optimize/size^{tree}')).toBe(tree)
    expect((await person.winnow('status')).out).not.toContain('to take:')
    expect((await person.winnow('idea', 'approve', '--all')).out).toBe(
      '2 ideas approved: idea-001, idea-002\n',
    )
    await proven(person)
  }, 300_000)
})
