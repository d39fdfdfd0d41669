import { table } from '../report/table.ts'
import { COMMON_EXITS, type Option, optionsOf, type Verb } from './verb.ts'

/** Help is derived from the registry: what it says is what is accepted. */
export function overviewText(verbs: readonly Verb[]): string[] {
  return [
    'winnow searches for a better version of a code base; every idea is a branch, every gain is proven.',
    '',
    'usage: winnow <command> [arguments] [options]',
    '',
    ...table(verbs.map(({ name, summary }) => [`  ${name}`, summary])),
    '',
    'winnow help <command> shows its arguments, options, examples and exit codes.',
  ]
}

export function verbText(verb: Verb): string[] {
  const options = optionsOf(verb)
  const exits = Object.entries({ ...COMMON_EXITS, ...verb.exits })
  return [
    `${usageText(verb)}`,
    '',
    `${verb.summary}.`,
    ...section(
      'arguments',
      verb.arguments.map(({ name, summary }) => [`  ${name}`, summary]),
    ),
    ...section(
      'options',
      options.map(option => [`  ${optionText(option)}`, option.summary]),
    ),
    ...section(
      'examples',
      verb.examples.map(example => [`  ${example}`]),
    ),
    ...section(
      'exit codes',
      exits.map(([code, meaning]) => [`  ${code}`, meaning]),
    ),
  ]
}

function section(title: string, rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, ...table(rows)]
}

export function usageText(verb: Verb): string {
  const words = verb.arguments.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`))
  return ['usage: winnow', verb.name, ...words, '[options]'].join(' ')
}

function optionText({ name, short, value, many }: Option): string {
  const long = value === undefined ? `--${name}` : `--${name} <${value}>`
  const repeated = many === true ? `${long} ...` : long
  return short === undefined ? `    ${repeated}` : `-${short}, ${repeated}`
}
