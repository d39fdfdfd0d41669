import { parseArgs } from 'node:util'
import { UserError } from '../errors.ts'
import { containing, nearest } from '../spec/suggest.ts'
import type { Given } from './call.ts'
import { verbNamed } from './help.ts'
import { usageText, withValues } from './help-text.ts'
import { GLOBAL_OPTIONS, type Option, optionsOf, valueWord, type Verb } from './verb.ts'

export interface Parsed {
  verb: Verb
  given: Given
}

const CAMPAIGN = 'campaign'

type Values = ReadonlyMap<string, readonly string[]>

/** A command line against the registry: what is not in it is an error that names what was probably meant. */
export function parseCommandLine(argv: readonly string[], verbs: readonly Verb[]): Parsed {
  const at = verbAt(argv)
  const before = at === null ? argv : argv.slice(0, at)
  if (at === null) {
    if (before.includes('--version'))
      return { verb: verbNamed(verbs, 'version'), given: givenOf([], new Map()) }
    read(before, GLOBAL_OPTIONS, 'winnow')
    return { verb: verbNamed(verbs, 'help'), given: givenOf([], new Map()) }
  }
  const verb = verbNamed(verbs, argv[at] ?? '')
  const { own, command } = apart(verb, [...before, ...argv.slice(at + 1)])
  const { positionals, values } = read(own, optionsOf(verb), `winnow ${verb.name}`)
  if (values.has('help')) return { verb: verbNamed(verbs, 'help'), given: givenOf([verb.name], values) }
  if (verb.command !== undefined) requireCommand(verb, verb.command, positionals, command)
  requireArguments(verb, positionals, optionsOf(verb))
  return { verb, given: givenOf(positionals, values, command) }
}

/** Words for a verb against these of its options alone; what is said without words is filled in. */
export function parseWords(
  verb: Verb,
  words: readonly string[],
  options: readonly Option[],
  filledIn: (positionals: readonly string[]) => readonly string[],
): Given {
  const { positionals: said, values } = read(words, options, `winnow ${verb.name}`)
  const positionals = filledIn(said)
  requireArguments(verb, positionals, options)
  return givenOf(positionals, values)
}

/** A command of the person's own begins after the first `--`, and nothing in it is ours. */
function apart(verb: Verb, args: readonly string[]): { own: readonly string[]; command: readonly string[] } {
  const at = verb.command === undefined ? -1 : args.indexOf('--')
  return at === -1 ? { own: args, command: [] } : { own: args.slice(0, at), command: args.slice(at + 1) }
}

/** The first word that is neither an option nor an option's value. */
function verbAt(argv: readonly string[]): number | null {
  const { tokens } = parseArgs({ args: [...argv], options: settings(GLOBAL_OPTIONS), ...LENIENT })
  return tokens.find(({ kind }) => kind === 'positional')?.index ?? null
}

const LENIENT = { strict: false, allowPositionals: true, tokens: true } as const

function settings(options: readonly Option[]) {
  return Object.fromEntries(
    options.map(option => [
      option.name,
      {
        type: valueWord(option) === undefined ? ('boolean' as const) : ('string' as const),
        ...(option.short === undefined ? {} : { short: option.short }),
      },
    ]),
  )
}

function read(args: readonly string[], options: readonly Option[], command: string) {
  const { tokens } = parseArgs({ args: [...args], options: settings(options), ...LENIENT })
  const known = new Map(options.map(option => [option.name, option]))
  const positionals: string[] = []
  const values = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const option = known.get(token.name) ?? unknownOption(token.rawName, options, command)
    const value = valueOf(option, token, command)
    const before = values.get(option.name) ?? []
    if (before.length > 0 && valueWord(option) !== undefined && option.many !== true) {
      throw new UserError(`${token.rawName} is given twice`, { fix: 'give it once' })
    }
    values.set(option.name, [...before, value])
  }
  return { positionals, values }
}

interface OptionToken {
  rawName: string
  value?: string | undefined
  inlineValue?: boolean | undefined
}

function valueOf(option: Option, { rawName, value, inlineValue }: OptionToken, command: string): string {
  const word = valueWord(option)
  if (word === undefined) {
    if (inlineValue !== true) return ''
    throw new UserError(`${rawName} takes no value`, { fix: `${command} ${rawName}` })
  }
  const looksLikeAnOption = inlineValue !== true && value !== undefined && /^-./.test(value)
  if (value !== undefined && value !== '' && !looksLikeAnOption) {
    requireListed(rawName, value, option.values)
    return value
  }
  throw new UserError(`${rawName} needs a value`, {
    fix: looksLikeAnOption
      ? `write --${option.name}=${value} if that is its value`
      : `${command} ${rawName} <${word}>`,
  })
}

function requireListed(what: string, value: string, values: readonly string[] | undefined): void {
  if (values === undefined || values.includes(value)) return
  const near = nearest(value, values)
  const listed = values.length === 1 ? values.join() : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
  throw new UserError(`${what} cannot be ${JSON.stringify(value)}`, {
    fix: near === undefined ? `give ${listed}` : `did you mean ${near}? It can be ${listed}`,
  })
}

/** Options under another name that people give them. */
const MEANT: Readonly<Record<string, string>> = { spec: CAMPAIGN }

function unknownOption(rawName: string, options: readonly Option[], command: string): never {
  const word = rawName.replace(/^-+/, '')
  const names = options.map(({ name }) => name)
  const meant = MEANT[word]
  const near =
    meant !== undefined && names.includes(meant)
      ? meant
      : word.length < 2
        ? undefined
        : (nearest(word, names) ?? containing(word, names))
  throw new UserError(`${command} has no option ${rawName}`, {
    fix: near === undefined ? `${command} --help lists them` : `did you mean --${near}?`,
  })
}

function requireArguments(verb: Verb, positionals: readonly string[], options: readonly Option[]): void {
  const missing = verb.arguments.find(({ required }, index) => required && (positionals[index] ?? '') === '')
  if (missing !== undefined) {
    throw new UserError(`winnow ${verb.name} needs <${missing.name}>: ${withValues(missing)}`, {
      fix: usageText(verb),
    })
  }
  for (const [index, { name, values }] of verb.arguments.entries()) {
    const given = positionals[index]
    if (given !== undefined) requireListed(`<${name}> of winnow ${verb.name}`, given, values)
  }
  const extra = positionals[verb.arguments.length]
  if (extra === undefined || verb.arguments.at(-1)?.many === true) return
  throw new UserError(`winnow ${verb.name} does not know what to do with ${JSON.stringify(extra)}`, {
    fix: options.some(({ name }) => name === CAMPAIGN)
      ? `did you mean winnow ${[verb.name, ...positionals.slice(0, verb.arguments.length)].join(' ')} --${CAMPAIGN} ${extra}?`
      : usageText(verb),
  })
}

function requireCommand(
  verb: Verb,
  { name, summary }: NonNullable<Verb['command']>,
  positionals: readonly string[],
  command: readonly string[],
): void {
  if (command.some(word => word.trim() !== '')) return
  const [first, ...words] = positionals
  throw new UserError(`winnow ${verb.name} needs -- <${name}>: ${summary}`, {
    fix:
      words.length > 1 ? `did you mean winnow ${verb.name} ${first} -- ${words.join(' ')}?` : usageText(verb),
  })
}

function givenOf(positionals: readonly string[], values: Values, command: readonly string[] = []): Given {
  return {
    positionals,
    command,
    flag: name => values.has(name),
    text: name => values.get(name)?.[0],
    texts: name => values.get(name) ?? [],
  }
}
