import { EVERYTHING } from '../help.ts'
import { type Argument, GLOBAL_OPTIONS, type Option, listOptions, getValueWord, type Verb } from '../verb.ts'

/** What a shell offers in one place: words of a closed list, or what it finds where the person is. */
export type CompletionSource =
  | readonly string[]
  | 'campaigns'
  | 'files'
  | 'directories'
  | 'revisions'
  | 'nothing'

/** The word for a value is the same everywhere, so it says what can stand there. */
const BY_WORD: Readonly<Record<string, CompletionSource>> = {
  campaign: 'campaigns',
  spec: 'campaigns',
  file: 'files',
  payload: 'files',
  dir: 'directories',
  commit: 'revisions',
  base: 'revisions',
  head: 'revisions',
}

export function getValueCompletion(option: Option): CompletionSource {
  return option.values ?? BY_WORD[getValueWord(option) ?? ''] ?? 'nothing'
}

export function getArgumentCompletion(
  { name, values }: Argument,
  verb: Verb,
  verbs: readonly Verb[],
): CompletionSource {
  if (verb.name === 'help') return [...verbs.map(each => each.name), EVERYTHING]
  return values ?? BY_WORD[name] ?? 'nothing'
}

/** An option as it is typed: --message and -m. */
export function listSpellings({ name, short }: Option): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}

export function listValuedOptions(options: readonly Option[]): Option[] {
  return options.filter(option => getValueWord(option) !== undefined)
}

/** What a verb adds to the options that all of them have. */
export function listOwnOptions(verb: Verb): Option[] {
  const known = new Set(GLOBAL_OPTIONS.map(({ name }) => name))
  return listOptions(verb).filter(({ name }) => !known.has(name))
}

export function listOwnValuedOptions(verbs: readonly Verb[]): { verb: string; option: Option }[] {
  return verbs.flatMap(verb =>
    listValuedOptions(listOwnOptions(verb)).map(option => ({ verb: verb.name, option })),
  )
}
