import { describe, expect, it } from 'vitest'
import { parseCommandLine, parseWords } from '../../src/cli/command-line.ts'
import { VERBS } from '../../src/cli/registry.ts'
import { listOptions } from '../../src/cli/verb.ts'
import { UserError } from '../../src/errors.ts'

function run(...argv: string[]) {
  let printed = ''
  const parsed = parseCommandLine(argv, VERBS, text => (printed += text))
  return { parsed, printed }
}

function parse(...argv: string[]) {
  const { parsed } = run(...argv)
  if (parsed === null) throw new Error('it printed help')
  return parsed
}

function mistake(...argv: string[]): string {
  try {
    run(...argv)
  } catch (error) {
    if (error instanceof UserError) return `${error.message} / ${error.fix}`
    throw error
  }
  throw new Error('it was accepted')
}

const seeHelp = (name: string) => `winnow ${name} --help shows its arguments and options`

describe('the command line', () => {
  it('gives a verb its arguments and options', () => {
    const { verb, given } = parse(
      'propose',
      'topic',
      '-m',
      'an idea',
      '--needs',
      'a',
      '--needs=b',
      '--dry-run',
    )
    expect(verb.name).toBe('propose')
    expect(given.positionals).toEqual(['topic'])
    expect(given.text('message')).toBe('an idea')
    expect(given.texts('needs')).toEqual(['a', 'b'])
    expect([given.flag('dry-run'), given.flag('verbose')]).toEqual([true, false])
  })

  it('accepts the options of every verb before its name too', () => {
    const { verb, given } = parse('-C', 'dir', '--remote', 'none', 'status', '--json')
    expect(verb.name).toBe('status')
    expect([given.text('directory'), given.text('remote'), given.flag('json')]).toEqual(['dir', 'none', true])
  })

  it('accepts the options of every verb after its name', () => {
    const { given } = parse('status', '-C', 'dir', '--verbose')
    expect([given.text('directory'), given.flag('verbose')]).toEqual(['dir', true])
  })

  it('knows a switch that begins with no-', () => {
    expect(parse('check', '--no-try').given.flag('no-try')).toBe(true)
    expect(parse('check').given.flag('no-try')).toBe(false)
  })

  it("keeps the person's command, also where the directory of -C has the name of a command", () => {
    const { verb, given } = parse('-C', 'demo', 'compare', 'main', '--', 'npm', 'run', 'bench')
    expect([verb.name, given.text('directory'), given.command]).toEqual([
      'compare',
      'demo',
      ['npm', 'run', 'bench'],
    ])
  })

  it('takes everything after -- as arguments', () => {
    expect(parse('note', '--', '--json').given.positionals).toEqual(['--json'])
  })

  it('leaves the command of a person as it is', () => {
    const { given } = parse('compare', 'main', '--pairs', '4', '--', 'node', 'a.js', '--', '--json')
    expect([given.positionals, given.text('pairs')]).toEqual([['main'], '4'])
    expect(given.command).toEqual(['node', 'a.js', '--', '--json'])
  })

  it('takes a value that begins with a dash', () => {
    expect(parse('pause', '--message=-1 is odd').given.text('message')).toBe('-1 is odd')
  })

  it.each([
    [['stauts'], 'there is no command "stauts" / did you mean winnow status?'],
    [['xyzzy'], 'there is no command "xyzzy" / winnow help lists the commands'],
    [['run', '--frsh'], "winnow run: unknown option '--frsh' / did you mean --fresh?"],
    [['status', '--dry-run'], `winnow status: unknown option '--dry-run' / ${seeHelp('status')}`],
    [['--jsno'], "winnow: unknown option '--jsno' / winnow --help shows its arguments and options"],
    [['pause', '-m'], `winnow pause: option '-m, --message <reason>' argument missing / ${seeHelp('pause')}`],
    [['show'], `winnow show: missing required argument 'exp' / ${seeHelp('show')}`],
    [['pause', '-m', 'a', '--message=b'], '--message is given twice / give one --message'],
    [['propose', '--priority=low', '--priority', 'high'], '--priority is given twice / give one --priority'],
    [
      ['propose', '--priority', 'hihg'],
      "winnow propose: option '--priority <high|medium|low>' argument 'hihg' is invalid. Allowed choices are high, medium, low. / did you mean high?",
    ],
    [
      ['completion', 'bsh'],
      "winnow completion: command-argument value 'bsh' is invalid for argument 'shell'. Allowed choices are bash, zsh, fish. / did you mean bash?",
    ],
    [['compare', '--', 'x'], `winnow compare: missing required argument 'base' / ${seeHelp('compare')}`],
  ])('answers %j with what was probably meant', (argv, expected) => {
    expect(mistake(...argv)).toBe(expected)
  })

  it.each([
    [['pause', '-m', '--dry-run'], "argument '--dry-run' is invalid"],
    [['pause', '--message='], "argument '' is invalid"],
    [['note', ''], "value '' is invalid for argument 'text'"],
    [['propose', '--priority', 'now'], 'Allowed choices are high, medium, low'],
    [['completion', 'tcsh'], 'Allowed choices are bash, zsh, fish'],
    [['tick', 'size'], 'give the campaign as --campaign'],
    [['demo', 'a', 'b'], "too many arguments for 'demo'"],
    [['compare', 'main', 'npm'], 'missing -- <command>'],
  ])('refuses %j', (argv, expected) => {
    expect(mistake(...argv)).toContain(expected)
  })

  it.each([[[]], [['--help']], [['-h']]])('%j prints the overview', argv => {
    const { parsed, printed } = run(...argv)
    expect(parsed).toBeNull()
    expect(printed).toMatch(/^Usage: winnow <command>/)
  })

  it.each([
    [['run', '--help'], 'run'],
    [['run', '-h', '--fresh'], 'run'],
    [['show', '--help'], 'show'],
  ])('%j prints the help of one verb', (argv, name) => {
    const { parsed, printed } = run(...argv)
    expect(parsed).toBeNull()
    expect(printed).toMatch(new RegExp(`^Usage: winnow ${name} `))
  })

  it.each([[['version']], [['--version']]])('%j asks for the version', argv => {
    expect(parse(...argv).verb.name).toBe('version')
  })
})

describe('a command of a comment', () => {
  const note = VERBS.find(({ name }) => name === 'propose')!

  it('accepts only the options that it is given', () => {
    const options = listOptions(note).filter(({ name }) => name === 'message')
    const given = parseWords(note, ['-m', 'a'], options, () => ['topic'])
    expect([given.positionals, given.text('message')]).toEqual([['topic'], 'a'])
    for (const option of ['--help', '-C', '--dry-run'])
      expect(() => parseWords(note, [option], options, () => [])).toThrow(/unknown option/)
  })
})
