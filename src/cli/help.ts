import { UserError } from '../errors.ts'
import { formatTable } from '../report/terminal.ts'
import { findNearestWord } from '../spec/nearest-word.ts'
import {
  type Argument,
  type Call,
  COMMON_EXITS,
  getValueWord,
  listOptions,
  type Option,
  type Verb,
  type VerbGroup,
} from './verb.ts'

export const EVERYTHING = 'all'

export const GROUPS: Readonly<Record<VerbGroup, string>> = {
  start: 'Start',
  see: 'See',
  steer: 'Steer',
  more: 'More',
}

const INTRODUCTION = [
  'winnow searches for a better version of a code base.',
  'Every idea is a branch, every gain is proven.',
  '',
  'usage: winnow <command> [arguments] [options]',
]

/** Suggested first commands, in order. */
const FIRST_COMMANDS: Readonly<Record<string, string>> = {
  demo: 'a whole campaign in a minute, in a directory of its own',
  init: 'write a spec for this repository',
  run: 'search for something better',
  check: 'say what a campaign would cost, and what it could show',
}

const FIRST_SHOWN = 3

const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  init: ['setup', 'new', 'create', 'install'],
  check: ['validate', 'lint', 'verify', 'test'],
  compare: ['diff', 'bench', 'benchmark', 'versus'],
  try: ['attempt', 'eval', 'evaluate', 'submit'],
  run: ['start', 'go', 'optimize', 'optimise', 'continue', 'exec', 'watch'],
  demo: ['example', 'tutorial'],
  status: ['list', 'ls', 'st', 'info', 'state', 'results', 'experiments', 'summary'],
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

export const helpVerb: Verb = {
  name: 'help',
  group: 'more',
  summary: 'list the commands most people need, all of them, or show one in full',
  access: 'apart',
  arguments: [{ name: 'command', summary: 'the command to show, or all', required: false }],
  options: [],
  examples: ['winnow help', 'winnow help run', 'winnow help all'],
  exits: {},
  async run({ given, terminal, verbs }: Call) {
    const [name] = given.positionals
    for (const line of renderHelp(name, verbs)) terminal.out(line)
    return 0
  },
}

export const versionVerb: Verb = {
  name: 'version',
  group: 'more',
  summary: 'print the version',
  access: 'apart',
  arguments: [],
  options: [],
  examples: ['winnow version'],
  exits: {},
  async run({ terminal, around }) {
    terminal.out(around.version)
    return 0
  },
}

function renderHelp(name: string | undefined, verbs: readonly Verb[]): string[] {
  if (name === undefined) return renderOverview(verbs)
  return name === EVERYTHING ? renderAllCommands(verbs) : renderVerbHelp(findVerb(verbs, name))
}

/** Help is derived from the registry, so it always matches the parser. */
export function renderOverview(verbs: readonly Verb[]): string[] {
  return [
    ...INTRODUCTION,
    ...renderGroups(verbs, ['start', 'see', 'steer']),
    '',
    ...renderFirstCommands(verbs),
    '',
    'winnow help <command>  its arguments, options, examples and exit codes',
    'winnow help all        every command',
  ]
}

export function renderAllCommands(verbs: readonly Verb[]): string[] {
  return [
    ...INTRODUCTION,
    ...renderGroups(verbs, ['start', 'see', 'steer', 'more']),
    '',
    'winnow help <command>  its arguments, options, examples and exit codes',
  ]
}

/** Aligns the summaries of all groups in one column. */
function renderGroups(verbs: readonly Verb[], groups: readonly VerbGroup[]): string[] {
  const listed = groups.map(group => verbs.filter(verb => verb.group === group))
  const lines = formatTable(listed.flat().map(({ name, summary }) => [`  ${name}`, summary]))
  return groups.flatMap((group, index) => {
    const own = lines.splice(0, listed[index]?.length ?? 0)
    return own.length === 0 ? [] : ['', GROUPS[group], ...own]
  })
}

function renderFirstCommands(verbs: readonly Verb[]): string[] {
  const known = Object.entries(FIRST_COMMANDS).filter(([first]) => verbs.some(({ name }) => name === first))
  const rows = known.slice(0, FIRST_SHOWN).map(([name, meaning]) => [`  winnow ${name}`, meaning])
  return ['Begin with', ...formatTable(rows)]
}

export function renderVerbHelp(verb: Verb): string[] {
  const options = listOptions(verb)
  const exits = Object.entries({ ...COMMON_EXITS, ...verb.exits })
  return [
    `${renderUsage(verb)}`,
    '',
    `${verb.summary}.`,
    ...renderHelpSection('arguments', [
      ...verb.arguments.map(argument => [`  ${argument.name}`, describeArgument(argument)]),
      ...(verb.command === undefined ? [] : [[`  -- ${verb.command.name}`, verb.command.summary]]),
    ]),
    ...renderHelpSection(
      'options',
      options.map(option => [`  ${renderOption(option)}`, option.summary]),
    ),
    ...renderHelpSection('in a comment on GitHub', renderCommentUsage(verb)),
    ...renderHelpSection(
      'examples',
      verb.examples.map(example => [`  ${example}`]),
    ),
    ...renderHelpSection(
      'exit codes',
      exits.map(([code, meaning]) => [`  ${code}`, meaning]),
    ),
  ]
}

function renderCommentUsage({ name, arguments: words, comment }: Verb): string[][] {
  if (comment === undefined) return []
  const typed = words.map(word => (word.required ? `<${word.name}>` : `[${word.name}]`))
  const options = comment.options.map(option => `[--${option} …]`)
  return [[`  ${['/winnow', name, ...typed, ...options].join(' ')}`, 'as its first line']]
}

function renderHelpSection(title: string, rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, ...formatTable(rows)]
}

export function describeArgument({ summary, values }: Argument): string {
  return values === undefined ? summary : `${summary}: ${values.join(', ')}`
}

export function renderUsage(verb: Verb): string {
  const words = verb.arguments.map(({ name, required, many }) => {
    const word = many === true ? `${name}...` : name
    return required ? `<${word}>` : `[${word}]`
  })
  const command = verb.command === undefined ? [] : [`-- <${verb.command.name}>`]
  return ['usage: winnow', verb.name, ...words, '[options]', ...command].join(' ')
}

export function renderOption(option: Option): string {
  const { name, short, many } = option
  const value = getValueWord(option)
  const long = value === undefined ? `--${name}` : `--${name} <${value}>`
  const repeated = many === true ? `${long} ...` : long
  return short === undefined ? `    ${repeated}` : `-${short}, ${repeated}`
}

// Finding a verb

export function findVerb(verbs: readonly Verb[], name: string): Verb {
  const found = verbs.find(each => each.name === name)
  if (found !== undefined) return found
  throw createUnknownVerbError(name, verbs)
}

function createUnknownVerbError(name: string, verbs: readonly Verb[]): UserError {
  const near = findMeantVerb(name, verbs)
  return new UserError(`there is no command ${JSON.stringify(name)}`, {
    fix: near === undefined ? 'winnow help lists the commands' : `did you mean winnow ${near}?`,
  })
}

function findMeantVerb(word: string, verbs: readonly Verb[]): string | undefined {
  const names = verbs.map(({ name }) => name)
  const same = names.find(name => SYNONYMS[name]?.includes(word.toLowerCase()))
  const begun = word.length < 2 ? undefined : names.find(name => name.startsWith(word.toLowerCase()))
  return same ?? findNearestWord(word, names) ?? begun
}
