import { EVERYTHING } from '../help.ts'
import { type Argument, GLOBAL_OPTIONS, type Option, optionsOf, valueWord, type Verb } from '../verb.ts'

/** What a shell offers in one place: words of a closed list, or what it finds where the person is. */
export type CompletedBy = readonly string[] | 'campaigns' | 'files' | 'directories' | 'revisions' | 'nothing'

/** The word for a value is the same everywhere, so it says what can stand there. */
const BY_WORD: Readonly<Record<string, CompletedBy>> = {
  campaign: 'campaigns',
  spec: 'campaigns',
  file: 'files',
  payload: 'files',
  dir: 'directories',
  commit: 'revisions',
  base: 'revisions',
  head: 'revisions',
}

export function valueCompletedBy(option: Option): CompletedBy {
  return option.values ?? BY_WORD[valueWord(option) ?? ''] ?? 'nothing'
}

export function argumentCompletedBy(
  { name, values }: Argument,
  verb: Verb,
  verbs: readonly Verb[],
): CompletedBy {
  if (verb.name === 'help') return [...verbs.map(each => each.name), EVERYTHING]
  return values ?? BY_WORD[name] ?? 'nothing'
}

/** An option as it is typed: --message and -m. */
export function spellings({ name, short }: Option): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}

export function valuedOptions(options: readonly Option[]): Option[] {
  return options.filter(option => valueWord(option) !== undefined)
}

/** What a verb adds to the options that all of them have. */
export function ownOptions(verb: Verb): Option[] {
  const known = new Set(GLOBAL_OPTIONS.map(({ name }) => name))
  return optionsOf(verb).filter(({ name }) => !known.has(name))
}

export function ownValued(verbs: readonly Verb[]): { verb: string; option: Option }[] {
  return verbs.flatMap(verb => valuedOptions(ownOptions(verb)).map(option => ({ verb: verb.name, option })))
}
