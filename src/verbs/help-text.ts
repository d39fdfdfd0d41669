import { formatTable } from '../report/table.ts'
import {
  type Argument,
  COMMON_EXITS,
  type Option,
  listOptions,
  getValueWord,
  type Verb,
  type VerbGroup,
} from './verb.ts'

export const GROUPS: Readonly<Record<VerbGroup, string>> = {
  start: 'Start',
  see: 'See',
  steer: 'Steer',
  more: 'More',
}

/** What a person types first, where this winnow has it. */
const FIRST: Readonly<Record<string, string>> = {
  demo: 'a whole campaign in a minute, in a directory of its own',
  init: 'write a spec for this repository',
  run: 'search for something better',
  check: 'say what a campaign would cost, and what it could show',
}
const FIRST_SHOWN = 3

/** Help is derived from the registry: what it says is what is accepted. */
export function renderOverview(verbs: readonly Verb[]): string[] {
  return [
    ...HEAD,
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
    ...HEAD,
    ...renderGroups(verbs, ['start', 'see', 'steer', 'more']),
    '',
    'winnow help <command>  its arguments, options, examples and exit codes',
  ]
}

const HEAD = [
  'winnow searches for a better version of a code base.',
  'Every idea is a branch, every gain is proven.',
  '',
  'usage: winnow <command> [arguments] [options]',
]

/** One column for all names, so that every summary begins at the same place. */
function renderGroups(verbs: readonly Verb[], groups: readonly VerbGroup[]): string[] {
  const listed = groups.map(group => verbs.filter(verb => verb.group === group))
  const lines = formatTable(listed.flat().map(({ name, summary }) => [`  ${name}`, summary]))
  return groups.flatMap((group, index) => {
    const own = lines.splice(0, listed[index]?.length ?? 0)
    return own.length === 0 ? [] : ['', GROUPS[group], ...own]
  })
}

function renderFirstCommands(verbs: readonly Verb[]): string[] {
  const there = Object.entries(FIRST).filter(([first]) => verbs.some(({ name }) => name === first))
  const rows = there.slice(0, FIRST_SHOWN).map(([name, meaning]) => [`  winnow ${name}`, meaning])
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
