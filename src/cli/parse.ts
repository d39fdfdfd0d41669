import { parseArgs } from 'node:util'
import { UserError } from '../errors.ts'
import { findContainingWord, findNearestWord } from '../spec/nearest-word.ts'
import { describeArgument, findVerb, renderUsage } from './help.ts'
import {
  type CommandArguments,
  getValueWord,
  GLOBAL_OPTIONS,
  listOptions,
  type Option,
  type Verb,
} from './verb.ts'

export interface ParsedCommand {
  verb: Verb
  given: CommandArguments
}

type OptionValues = ReadonlyMap<string, readonly string[]>

interface OptionToken {
  rawName: string
  value?: string | undefined
  inlineValue?: boolean | undefined
}

const CAMPAIGN = 'campaign'
const LENIENT = { strict: false, allowPositionals: true, tokens: true } as const

/** Options that people type under another name. */
const OPTION_ALIASES: Readonly<Record<string, string>> = { spec: CAMPAIGN }

/** Parses against the registry. An unknown word is an error that suggests the nearest known one. */
export function parseCommandLine(argv: readonly string[], verbs: readonly Verb[]): ParsedCommand {
  const at = findVerbIndex(argv)
  const before = at === null ? argv : argv.slice(0, at)
  if (at === null) {
    if (before.includes('--version'))
      return { verb: findVerb(verbs, 'version'), given: toCommandArguments([], new Map()) }
    readOptions(before, GLOBAL_OPTIONS, 'winnow')
    return { verb: findVerb(verbs, 'help'), given: toCommandArguments([], new Map()) }
  }
  const verb = findVerb(verbs, argv[at] ?? '')
  const { own, command } = splitCommand(verb, [...before, ...argv.slice(at + 1)])
  const { positionals, values } = readOptions(own, listOptions(verb), `winnow ${verb.name}`)
  if (values.has('help'))
    return { verb: findVerb(verbs, 'help'), given: toCommandArguments([verb.name], values) }
  if (verb.command !== undefined) requireCommand(verb, verb.command, positionals, command)
  requireArguments(verb, positionals, listOptions(verb))
  return { verb, given: toCommandArguments(positionals, values, command) }
}

/** Parses words with only the given options. `complete` adds arguments that may be omitted. */
export function parseWords(
  verb: Verb,
  words: readonly string[],
  options: readonly Option[],
  complete: (positionals: readonly string[]) => readonly string[],
): CommandArguments {
  const { positionals: said, values } = readOptions(words, options, `winnow ${verb.name}`)
  const positionals = complete(said)
  requireArguments(verb, positionals, options)
  return toCommandArguments(positionals, values)
}

/** Everything after the first `--` belongs to the person's command. */
function splitCommand(
  verb: Verb,
  args: readonly string[],
): { own: readonly string[]; command: readonly string[] } {
  const at = verb.command === undefined ? -1 : args.indexOf('--')
  return at === -1 ? { own: args, command: [] } : { own: args.slice(0, at), command: args.slice(at + 1) }
}

function findVerbIndex(argv: readonly string[]): number | null {
  const { tokens } = parseArgs({ args: [...argv], options: toParserOptions(GLOBAL_OPTIONS), ...LENIENT })
  return tokens.find(({ kind }) => kind === 'positional')?.index ?? null
}

function toParserOptions(options: readonly Option[]) {
  return Object.fromEntries(
    options.map(option => [
      option.name,
      {
        type: getValueWord(option) === undefined ? ('boolean' as const) : ('string' as const),
        ...(option.short === undefined ? {} : { short: option.short }),
      },
    ]),
  )
}

function readOptions(args: readonly string[], options: readonly Option[], command: string) {
  const { tokens } = parseArgs({ args: [...args], options: toParserOptions(options), ...LENIENT })
  const known = new Map(options.map(option => [option.name, option]))
  const positionals: string[] = []
  const values = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const option = known.get(token.name) ?? throwUnknownOption(token.rawName, options, command)
    const value = readOptionValue(option, token, command)
    const before = values.get(option.name) ?? []
    if (before.length > 0 && getValueWord(option) !== undefined && option.many !== true) {
      throw new UserError(`${token.rawName} is given twice`, { fix: 'give it once' })
    }
    values.set(option.name, [...before, value])
  }
  return { positionals, values }
}

function readOptionValue(
  option: Option,
  { rawName, value, inlineValue }: OptionToken,
  command: string,
): string {
  const word = getValueWord(option)
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
  const near = findNearestWord(value, values)
  const listed = values.length === 1 ? values.join() : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
  throw new UserError(`${what} cannot be ${JSON.stringify(value)}`, {
    fix: near === undefined ? `give ${listed}` : `did you mean ${near}? It can be ${listed}`,
  })
}

function throwUnknownOption(rawName: string, options: readonly Option[], command: string): never {
  const word = rawName.replace(/^-+/, '')
  const names = options.map(({ name }) => name)
  const alias = OPTION_ALIASES[word]
  const near =
    alias !== undefined && names.includes(alias)
      ? alias
      : word.length < 2
        ? undefined
        : (findNearestWord(word, names) ?? findContainingWord(word, names))
  throw new UserError(`${command} has no option ${rawName}`, {
    fix: near === undefined ? `${command} --help lists them` : `did you mean --${near}?`,
  })
}

function requireArguments(verb: Verb, positionals: readonly string[], options: readonly Option[]): void {
  const missing = verb.arguments.find(({ required }, index) => required && (positionals[index] ?? '') === '')
  if (missing !== undefined) {
    throw new UserError(`winnow ${verb.name} needs <${missing.name}>: ${describeArgument(missing)}`, {
      fix: renderUsage(verb),
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
      : renderUsage(verb),
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
      words.length > 1
        ? `did you mean winnow ${verb.name} ${first} -- ${words.join(' ')}?`
        : renderUsage(verb),
  })
}

function toCommandArguments(
  positionals: readonly string[],
  values: OptionValues,
  command: readonly string[] = [],
): CommandArguments {
  return {
    positionals,
    command,
    flag: name => values.has(name),
    text: name => values.get(name)?.[0],
    texts: name => values.get(name) ?? [],
  }
}
