import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { parseCommentCommand, parseTypedCommand } from '../../src/cli/comment-command.ts'
import { VERBS } from '../../src/cli/registry.ts'
import { renderHelp } from '../../src/cli/command-line.ts'

function typed(line: string, subject: string | null = null) {
  const { verb, given } = parseTypedCommand(parseCommentCommand(line) ?? [], VERBS, subject)
  return { verb: verb.name, positionals: given.positionals, message: given.text('message') }
}

describe('a command in a comment', () => {
  it('is only the first line', () => {
    expect(parseCommentCommand('/winnow pause\r\nrelease week')).toEqual(['pause'])
    expect(parseCommentCommand(' /winnow pause')).toBeNull()
    expect(parseCommentCommand('/winnowed')).toBeNull()
    expect(parseCommentCommand('> /winnow stop')).toBeNull()
    expect(parseCommentCommand('yes\n/winnow stop')).toBeNull()
  })

  it('supports quoted words, and no other shell syntax', () => {
    const words = ['pause', '-m', "it's $(date)", '`id`', '$HOME']
    expect(parseCommentCommand('/winnow pause -m "it\'s $(date)" `id` $HOME')).toEqual(words)
    expect(parseCommentCommand(`/winnow ${'x'.repeat(2_000)}`)).toEqual([])
  })

  it('parses any text without an error', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        try {
          parseTypedCommand(parseCommentCommand(`/winnow ${text}`) ?? [], VERBS, null)
        } catch (error) {
          expect(error).toBeInstanceOf(UserError)
        }
      }),
    )
  })

  it('is a verb of the registry, with its arguments', () => {
    expect(typed('/winnow pause -m "release week"')).toEqual({
      verb: 'pause',
      positionals: [],
      message: 'release week',
    })
    expect(typed('/winnow approve-deps 0123abcd').verb).toBe('approve')
    expect(() => typed('/winnow pause -C /')).toThrow("/winnow pause: unknown option '-C'")
    expect(() => typed('/winnow stop --dry-run')).toThrow("unknown option '--dry-run'")
    expect(() => typed('/winnow uninstall')).toThrow('is not a command')
    expect(typed('/winnow pick exp-001').verb).toBe('pick')
  })

  it('defaults to the experiment of its pull request', () => {
    expect(typed('/winnow retry', 'exp-007').positionals).toEqual(['exp-007'])
    expect(typed('/winnow retry exp-001', 'exp-007').positionals).toEqual(['exp-001'])
    expect(() => typed('/winnow retry')).toThrow("/winnow retry: missing required argument 'exp'")
    expect(typed('/winnow pick', 'exp-007').positionals).toEqual(['exp-007'])
  })

  it('adds that experiment beside options with values and package names', () => {
    const about = (line: string) => typed(line, 'exp-007').positionals
    expect(about('/winnow approve-deps --digest 0123abcd')).toEqual(['exp-007'])
    expect(about('/winnow approve left-pad --digest=0123abcd is-odd')).toEqual([
      'exp-007',
      'left-pad',
      'is-odd',
    ])
    expect(about('/winnow approve exp-001 left-pad --digest 0123abcd')).toEqual(['exp-001', 'left-pad'])
    expect(about('/winnow approve 0123abcd')).toEqual(['0123abcd'])
    expect(typed('/winnow retry -m exp-001', 'exp-007')).toMatchObject({
      positionals: ['exp-007'],
      message: 'exp-001',
    })
    expect(about('/winnow retry 7')).toEqual(['7'])
    expect(about('/winnow retry xp-001')).toEqual(['xp-001'])
    expect(about('/winnow priority high')).toEqual(['exp-007', 'high'])
    expect(about('/winnow priority idea-002 high')).toEqual(['idea-002', 'high'])
    expect(about('/winnow avoid loops')).toEqual(['loops'])
  })

  it('is shown in the help of its verb', () => {
    const verbs = VERBS.filter(({ comment }) => comment !== undefined)
    expect(verbs.map(({ name }) => name).toSorted()).toEqual(
      [
        'approve',
        'avoid',
        'measure',
        'pause',
        'pick',
        'priority',
        'resume',
        'retry',
        'status',
        'stop',
        'try',
      ].toSorted(),
    )
    for (const verb of verbs) expect(renderHelp(VERBS, verb.name)).toContain(`/winnow ${verb.name}`)
  })
})
