import { createProgram, GROUPS, toDeclaredOption } from '../../src/cli/command-line.ts'
import {
  type Argument,
  COMMON_EXITS,
  GLOBAL_OPTIONS,
  listOptions,
  type Option,
  type Verb,
} from '../../src/cli/verb.ts'

/** The reference of all commands, from the registry that the command line itself is made of. */
export function commandsPage(verbs: readonly Verb[]): string {
  const groups = Object.entries(GROUPS).flatMap(([group, title]) => {
    const own = verbs.filter(verb => verb.group === group)
    return own.length === 0 ? [] : [`## ${title}`, '', ...own.flatMap(verb => verbSection(verb, verbs))]
  })
  return `${[...HEAD, ...groups, ...everywhere(verbs)].join('\n').trimEnd()}\n`
}

const HEAD = [
  '# Commands',
  '',
  '<!-- Written by `npm run docs` from the registry of verbs: change src/cli, not this page. -->',
  '',
  'What `winnow help <command>` prints, on one page. Options that [every command](#every-command) takes are at its end.',
  '',
]

const ACCESS: Readonly<Record<Verb['access'], string>> = {
  read: 'Does not change the repository; takes `--json`.',
  write: 'Writes; `--dry-run` says what it would do.',
  apart: 'Needs no campaign.',
}

function verbSection(verb: Verb, verbs: readonly Verb[]): string[] {
  const { name, summary, arguments: words = [], options = [], examples, exits = {}, access } = verb
  return [
    `### winnow ${name}`,
    '',
    `${sentence(summary)} ${ACCESS[access]}`,
    '',
    ...code('text', [usage(verb, verbs)]),
    ...rows('argument', [...words.map(argumentRow), ...commandRow(verb)]),
    ...rows('option', options.map(optionRow)),
    ...code('sh', examples),
    ...rows('exit code', exitRows(exits)),
  ]
}

function everywhere(verbs: readonly Verb[]): string[] {
  const only = (access: Verb['access']) => {
    const verb = verbs.find(each => each.access === access)
    return verb === undefined ? [] : listOptions({ ...verb, options: [] })
  }
  const common = new Set(GLOBAL_OPTIONS.map(({ name }) => name))
  const beside = (options: readonly Option[]) => options.filter(({ name }) => !common.has(name))
  return [
    '## Every command',
    '',
    ...rows('option', GLOBAL_OPTIONS.map(optionRow)),
    'Commands that do not change the repository also take',
    '',
    ...rows('option', beside(only('read')).map(optionRow)),
    'Commands that write also take',
    '',
    ...rows('option', beside(only('write')).map(optionRow)),
    ...rows('exit code', exitRows(COMMON_EXITS)),
  ]
}

type Row = readonly [string, string]

function argumentRow({ name, summary, required, values }: Argument): Row {
  const listed = values === undefined ? '' : `: ${values.map(value => `\`${value}\``).join(', ')}`
  return [name, `${summary}${listed}${required ? '' : ' (may be left out)'}`]
}

function commandRow({ command }: Verb): Row[] {
  return command === undefined ? [] : [[`-- ${command.name}`, command.summary]]
}

function optionRow(option: Option): Row {
  const { flags, description } = toDeclaredOption(option, [])
  return [flags, description]
}

function usage({ name }: Verb, verbs: readonly Verb[]): string {
  const found = createProgram(verbs, { print: () => undefined }).commands.find(each => each.name() === name)
  return `winnow ${name} ${found?.usage()}`
}

function exitRows(exits: Readonly<Record<number, string>>): Row[] {
  return Object.entries(exits).map(([exit, meaning]) => [exit, meaning])
}

function rows(title: string, found: readonly Row[]): string[] {
  if (found.length === 0) return []
  const body = found.map(
    ([name, meaning]) => `| \`${piped(name)}\` | ${piped(meaning).replaceAll('<', '&lt;')} |`,
  )
  return [`| ${title} | |`, '|---|---|', ...body, '']
}

function piped(text: string): string {
  return text.replaceAll('|', '\\|')
}

function code(language: 'sh' | 'text', lines: readonly string[]): string[] {
  return [`\`\`\`${language}`, ...lines, '```', '']
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
