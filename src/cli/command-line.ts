import { UserError } from '../errors.ts'
import { formatTable } from '../report/terminal.ts'
import { findNearestWord } from '../spec/nearest-word.ts'
import {
  type Argument,
  type CommandArguments,
  COMMON_EXITS,
  getValueWord,
  GLOBAL_OPTIONS,
  listOptions,
  type Option,
  type Verb,
  type VerbGroup,
} from './verb.ts'
import {
  Argument as DeclaredArgument,
  Command,
  CommanderError,
  InvalidArgumentError,
  Option as DeclaredOption,
} from 'commander'

export const EVERYTHING = 'all'

export const GROUPS: Readonly<Record<VerbGroup, string>> = {
  start: 'Start',
  see: 'See',
  steer: 'Steer',
  more: 'More',
}

const DESCRIPTION =
  'Searches for a better version of a code base. Every idea is a branch, every gain is proven.'

const FIRST_STEPS = `
Begin with:
  winnow demo   run a complete campaign in a few seconds, in its own repository
  winnow init   write a spec for this repository
  winnow run    search for something better

winnow help <command>  shows arguments, options, examples and exit codes
winnow help all        lists every command`

/** Words that people type for a command. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  init: ['setup', 'new', 'create', 'install'],
  check: ['validate', 'lint', 'verify', 'test'],
  compare: ['diff', 'bench', 'benchmark', 'versus'],
  try: ['attempt', 'eval', 'evaluate', 'submit'],
  run: ['start', 'go', 'optimize', 'optimise', 'continue', 'exec', 'watch'],
  demo: ['example', 'tutorial'],
  status: ['list', 'ls', 'st', 'info', 'state', 'experiments', 'summary'],
  show: ['view', 'describe', 'explain', 'cat', 'get', 'inspect'],
  log: ['logs', 'history', 'events'],
  approve: ['accept', 'allow', 'ok'],
  pause: ['hold', 'suspend', 'freeze'],
  stop: ['end', 'abort', 'cancel', 'kill', 'quit', 'finish'],
  resume: ['unpause'],
  revert: ['undo', 'rollback', 'reject'],
  amend: ['edit', 'config', 'change'],
  archive: ['reset', 'clean', 'clear'],
  uninstall: ['remove', 'delete', 'rm', 'purge'],
  propose: ['add', 'offer', 'suggest'],
  note: ['comment', 'remember'],
  doctor: ['diagnose', 'health', 'troubleshoot'],
  audit: ['prove', 'proof'],
  version: ['about'],
}

/** Output goes through the terminal, which wraps lines itself. */
const UNWRAPPED = 10_000

export interface ParsedCommand {
  verb: Verb
  given: CommandArguments
}

interface ProgramOptions {
  print: (text: string) => void
  /** Lists the commands of the group `more` too. */
  all?: boolean
  onCommand?: (verb: Verb, command: Command) => void
}

/** The command line and its help, derived from the registry. */
export function createProgram(
  verbs: readonly Verb[],
  { print, all = false, onCommand }: ProgramOptions,
): Command {
  const program = new Command('winnow')
    .usage('<command> [arguments] [options]')
    .description(DESCRIPTION)
    .helpCommand(false)
    .configureHelp({
      helpWidth: UNWRAPPED,
      showGlobalOptions: true,
      subcommandTerm: command => command.name(),
      optionDescription: option => option.description,
    })
    .configureOutput({ writeOut: print, writeErr: print, outputError: () => undefined })
    .option('--version', 'print the version')
    .addHelpText('after', all ? '' : FIRST_STEPS)
  addOptions(program, GLOBAL_OPTIONS)
  exitWithUserError(program, 'winnow')
  program.on('command:*', ([name = '']: string[]) => {
    throw createUnknownVerbError(name, verbs)
  })
  for (const verb of Object.keys(GROUPS).flatMap(group => verbs.filter(each => each.group === group))) {
    const command = program.command(verb.name, { hidden: verb.group === 'more' && !all })
    command.helpGroup(`${GROUPS[verb.group]}:`)
    describeVerb(
      command,
      verb,
      listOptions(verb).filter(option => !GLOBAL_OPTIONS.includes(option)),
    )
    command.action(() => onCommand?.(verb, command))
  }
  return program
}

/** Returns null if the words asked for help, which is then printed. */
export function parseCommandLine(
  argv: readonly string[],
  verbs: readonly Verb[],
  print: (text: string) => void,
): ParsedCommand | null {
  let parsed: ParsedCommand | null = null
  const { own, words } = splitCommand(argv, verbs)
  const program = createProgram(verbs, {
    print,
    onCommand(verb, command) {
      if (verb.command !== undefined) requireCommand(verb, verb.command, words)
      parsed = { verb, given: toCommandArguments(command, words) }
    },
  })
  try {
    program.parse(own.includes('--version') ? ['version'] : own, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
  }
  return parsed
}

/** `getDefaults` returns arguments to put before those that were given. */
export function parseWords(
  verb: Verb,
  words: readonly string[],
  options: readonly Option[],
  getDefaults: (positionals: readonly string[]) => readonly string[],
): CommandArguments {
  const build = () => {
    const command = describeVerb(new Command(verb.name).helpOption(false), verb, options)
    exitWithUserError(command, `/winnow ${verb.name}`, `usage: ${renderCommentUsage(verb)}`)
    return command.action(() => undefined)
  }
  const { operands } = build().parseOptions([...words])
  const command = build().parse([...getDefaults(operands), ...words], { from: 'user' })
  return toCommandArguments(command, [])
}

function describeVerb(command: Command, verb: Verb, options: readonly Option[]): Command {
  command
    .description(`${verb.summary.charAt(0).toUpperCase()}${verb.summary.slice(1)}.`)
    .summary(verb.summary)
  command.configureOutput({ outputError: () => undefined }).allowExcessArguments(false)
  const { arguments: words = [] } = verb
  for (const argument of words) command.addArgument(toDeclaredArgument(argument))
  addOptions(command, options)
  if (verb.command !== undefined) {
    command.usage(['[options]', ...words.map(formatArgument), '--', `<${verb.command.name}>`].join(' '))
  }
  exitWithUserError(command, `winnow ${verb.name}`)
  return command.addHelpText('after', renderDetails(verb).join('\n'))
}

function renderDetails(verb: Verb): string[] {
  const exits = Object.entries({ ...COMMON_EXITS, ...verb.exits })
  return [
    ...renderSection('Command', verb.command ? [`-- <${verb.command.name}>  ${verb.command.summary}`] : []),
    ...renderSection('First line of a comment on GitHub', verb.comment ? [renderCommentUsage(verb)] : []),
    ...renderSection('Examples', verb.examples),
    ...renderSection('Exit codes', formatTable(exits)),
  ]
}

function formatArgument({ required, name }: Argument): string {
  return required ? `<${name}>` : `[${name}]`
}

function renderCommentUsage(verb: Verb): string {
  const { name, arguments: words = [], comment } = verb
  const options = listOptions(verb).filter(option => comment?.options.includes(option.name))
  return [
    '/winnow',
    name,
    ...words.map(formatArgument),
    ...options.map(option =>
      getValueWord(option) === undefined ? `[--${option.name}]` : `[--${option.name} …]`,
    ),
  ].join(' ')
}

function renderSection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map(line => `  ${line}`)]
}

// Declarations for commander

function toDeclaredArgument({ name, summary, required, many, values }: Argument): DeclaredArgument {
  const word = many === true ? `${name}...` : name
  const declared = new DeclaredArgument(required ? `<${word}>` : `[${word}]`, summary)
  if (values !== undefined) declared.choices(values)
  return declared.argParser((value: string) => parseValue(value, values))
}

function addOptions(command: Command, options: readonly Option[]): void {
  const flags = options.flatMap(({ name, short }) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ])
  for (const option of options) {
    if (option.name === 'help') command.helpOption(`-${option.short}, --${option.name}`, option.summary)
    else command.addOption(toDeclaredOption(option, flags))
  }
}

export function toDeclaredOption(option: Option, flags: readonly string[]): DeclaredOption {
  const { name, short, many, values, summary } = option
  const word = getValueWord(option)
  const long = word === undefined ? `--${name}` : `--${name} <${word}>`
  const description = many === true ? `${summary} (repeatable)` : summary
  const declared = new DeclaredOption(short === undefined ? long : `-${short}, ${long}`, description)
  if (word === undefined) return declared
  return declared.argParser((value: string, before: readonly string[] | undefined) => {
    const earlier = before ?? []
    if (flags.includes(value)) throw new InvalidArgumentError('That is another option.')
    if (many !== true && earlier.length > 0)
      throw new UserError(`--${name} is given twice`, { fix: `give one --${name}` })
    return [...earlier, parseValue(value, values)]
  })
}

function parseValue(value: string, values: readonly string[] | undefined): string {
  if (value.trim() === '') throw new InvalidArgumentError('It is empty.')
  if (values === undefined || values.includes(value)) return value
  const near = findNearestWord(value, values)
  const meant = near === undefined ? '' : `\n(Did you mean ${near}?)`
  throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.${meant}`)
}

function toCommandArguments(command: Command, words: readonly string[]): CommandArguments {
  const all: Readonly<Record<string, unknown>> = command.optsWithGlobals()
  const given = new Map<string, readonly string[]>()
  for (const option of [...command.options, ...(command.parent?.options ?? [])]) {
    const key = option.attributeName()
    if (command.getOptionValueSourceWithGlobals(key) !== 'cli') continue
    given.set(
      option.name(),
      [all[key]].flat().filter(value => typeof value === 'string'),
    )
  }
  return {
    positionals: command.args,
    command: words,
    flag: name => given.has(name),
    text: name => given.get(name)?.[0],
    texts: name => given.get(name) ?? [],
  }
}

// The person's own command after `--`

function splitCommand(argv: readonly string[], verbs: readonly Verb[]) {
  // The directory of -C may have the name of a command.
  const name = argv.find(
    (word, at) => verbs.some(verb => verb.name === word) && !isValuedOption(argv[at - 1] ?? ''),
  )
  const at = verbs.some(verb => verb.name === name && verb.command !== undefined) ? argv.indexOf('--') : -1
  return at === -1 ? { own: argv, words: [] } : { own: argv.slice(0, at), words: argv.slice(at + 1) }
}

function isValuedOption(word: string): boolean {
  return GLOBAL_OPTIONS.some(
    option =>
      getValueWord(option) !== undefined && (word === `--${option.name}` || word === `-${option.short}`),
  )
}

function requireCommand(
  verb: Verb,
  { name, summary }: NonNullable<Verb['command']>,
  words: readonly string[],
): void {
  if (words.some(word => word.trim() !== '')) return
  throw new UserError(`winnow ${verb.name}: missing -- <${name}>, ${summary}`, {
    fix: `for example: ${verb.examples[0]}`,
  })
}

// Errors

function exitWithUserError(
  command: Command,
  name: string,
  usage = `${name} --help shows its arguments and options`,
): void {
  command.exitOverride(error => {
    if (error.exitCode === 0 || error.code === 'commander.help') throw error
    const [, what = error.message, meant] =
      /^error: (.*?)(?:\n\(Did you mean (.*)\?\))?$/s.exec(error.message) ?? []
    const hint = error.code === 'commander.excessArguments' ? describeExcess(command) : ''
    throw new UserError(`${name}: ${what}`, {
      fix: meant === undefined ? `${hint}${usage}` : `did you mean ${meant}?`,
    })
  })
}

function describeExcess(command: Command): string {
  if (command.usage().includes(' -- ')) return 'write the command after --; '
  const takesCampaign = command.options.some(option => option.name() === 'campaign')
  return takesCampaign ? 'give the campaign as --campaign <campaign>; ' : ''
}

export function createUnknownVerbError(name: string, verbs: readonly Verb[]): UserError {
  const names = verbs.map(verb => verb.name)
  const word = name.toLowerCase()
  const same = names.find(each => SYNONYMS[each]?.includes(word))
  const begun = word.length < 2 ? undefined : names.find(each => each.startsWith(word))
  const meant = same ?? findNearestWord(word, names) ?? begun
  return new UserError(`there is no command ${JSON.stringify(name)}`, {
    fix: meant === undefined ? 'winnow help lists the commands' : `did you mean winnow ${meant}?`,
  })
}

export const helpVerb: Verb = {
  name: 'help',
  group: 'more',
  summary: 'list the common commands or all of them, or show one',
  access: 'apart',
  arguments: [{ name: 'command', summary: 'the command to show, or all' }],
  examples: ['winnow help', 'winnow help run', 'winnow help all'],
  async run({ given, terminal, verbs }) {
    const [name] = given.positionals
    terminal.out(renderHelp(verbs, name))
    return 0
  },
}

export const versionVerb: Verb = {
  name: 'version',
  group: 'more',
  summary: 'print the version',
  access: 'apart',
  examples: ['winnow version'],
  async run({ terminal, environment }) {
    terminal.out(environment.version)
    return 0
  },
}

export function renderHelp(verbs: readonly Verb[], name?: string): string {
  let text = ''
  const program = createProgram(verbs, { print: part => (text += part), all: name === EVERYTHING })
  const command = program.commands.find(each => each.name() === name)
  if (command === undefined && name !== undefined && name !== EVERYTHING)
    throw createUnknownVerbError(name, verbs)
  ;(command ?? program).outputHelp()
  return text.trimEnd()
}
