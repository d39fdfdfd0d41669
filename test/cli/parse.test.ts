import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { UserError } from '../../src/errors.ts'
import { VERBS } from '../../src/cli/registry.ts'

const parse = (...argv: string[]) => parseCommandLine(argv, VERBS)

function mistake(...argv: string[]): string {
  try {
    parse(...argv)
  } catch (error) {
    if (error instanceof UserError) return `${error.message} / ${error.fix}`
    throw error
  }
  throw new Error('it was accepted')
}

describe('the command line', () => {
  it('gives a verb its arguments and options', () => {
    const { verb, given } = parse('propose', 'topic', '-m', 'an idea', '--dep', 'a', '--dep=b', '--dry-run')
    expect(verb.name).toBe('propose')
    expect(given.positionals).toEqual(['topic'])
    expect(given.text('message')).toBe('an idea')
    expect(given.texts('dep')).toEqual(['a', 'b'])
    expect([given.flag('dry-run'), given.flag('verbose')]).toEqual([true, false])
  })

  it('takes the options of every verb before its name as well', () => {
    const { verb, given } = parse('-C', 'run', '--remote', 'none', 'status', '--json')
    expect(verb.name).toBe('status')
    expect([given.text('directory'), given.text('remote'), given.flag('json')]).toEqual(['run', 'none', true])
  })

  it('takes everything after -- as arguments', () => {
    expect(parse('note', '--', '--json').given.positionals).toEqual(['--json'])
  })

  it('takes a value that begins with a dash when it is attached', () => {
    expect(parse('pause', '--message=-1 is odd').given.text('message')).toBe('-1 is odd')
  })

  it.each([
    [['stauts'], 'there is no command "stauts" / did you mean winnow status?'],
    [['xyzzy'], 'there is no command "xyzzy" / winnow help lists the commands'],
    [['run', '--frsh'], 'winnow run has no option --frsh / did you mean --fresh?'],
    [['run', '--dry'], 'winnow run has no option --dry / did you mean --dry-run?'],
    [['status', '--dry-run'], 'winnow status has no option --dry-run / winnow status --help lists them'],
    [['run', '-x'], 'winnow run has no option -x / winnow run --help lists them'],
    [['--jsno'], 'winnow has no option --jsno / winnow --help lists them'],
    [['pause', '-m'], '-m needs a value / winnow pause -m <reason>'],
    [['pause', '-m', '--dry-run'], '-m needs a value / write --message=--dry-run if that is its value'],
    [['pause', '--message='], '--message needs a value / winnow pause --message <reason>'],
    [['run', '--fresh=yes'], '--fresh takes no value / winnow run --fresh'],
    [['pause', '-m', 'a', '-m', 'b'], '-m is given twice / give it once'],
    [
      ['propose', '--priority', 'hihg'],
      '--priority cannot be "hihg" / did you mean high? It can be high, medium or low',
    ],
    [['propose', '--priority=urgent'], '--priority cannot be "urgent" / give high, medium or low'],
    [['propose', '--priority'], '--priority needs a value / winnow propose --priority <high|medium|low>'],
    [['show'], 'winnow show needs <exp>: the experiment, exp-007 or 7 / usage: winnow show <exp> [options]'],
    [
      ['completion'],
      'winnow completion needs <shell>: which shell: bash, zsh, fish / usage: winnow completion <shell> [options]',
    ],
    [['note', ''], 'winnow note needs <text>: what to remember / usage: winnow note <text> [options]'],
    [
      ['tick', 'size'],
      'winnow tick does not know what to do with "size" / did you mean winnow tick --campaign size?',
    ],
    [
      ['show', 'exp-007', 'size'],
      'winnow show does not know what to do with "size" / did you mean winnow show exp-007 --campaign size?',
    ],
    [['status', '--spec', 'size'], 'winnow status has no option --spec / did you mean --campaign?'],
    [
      ['demo', 'a', 'b'],
      'winnow demo does not know what to do with "b" / usage: winnow demo [directory] [options]',
    ],
  ])('answers %j with what was meant', (argv, expected) => {
    expect(mistake(...argv)).toBe(expected)
  })

  it.each([[[]], [['--help']], [['-h']], [['help']]])('%j shows the overview', argv => {
    const { verb, given } = parse(...argv)
    expect([verb.name, given.positionals]).toEqual(['help', []])
  })

  it.each([[['run', '--help']], [['run', '-h', '--fresh']], [['help', 'run']]])('%j shows one verb', argv => {
    const { verb, given } = parse(...argv)
    expect([verb.name, given.positionals]).toEqual(['help', ['run']])
  })

  it('shows the help of a verb whose arguments are missing', () => {
    expect(parse('show', '--help').given.positionals).toEqual(['show'])
  })

  it.each([[['version']], [['--version']]])('%j asks for the version', argv => {
    expect(parse(...argv).verb.name).toBe('version')
  })
})
