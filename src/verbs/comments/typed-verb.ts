import { UserError } from '../../errors.ts'
import type { ExperimentId } from '../../model/ids.ts'
import { nearest } from '../../spec/suggest.ts'
import type { Given } from '../call.ts'
import { parseWords } from '../parse.ts'
import { optionsOf, type Verb } from '../verb.ts'
import { COMMAND } from './comment-line.ts'

export interface Typed {
  verb: Verb
  given: Given
}

/** A command in a comment against the registry: the same verbs, arguments and mistakes as on the command line. */
export function typedVerb(
  [name = '', ...words]: readonly string[],
  verbs: readonly Verb[],
  subject: ExperimentId | null,
): Typed {
  const verb = verbTyped(name, verbs)
  const options = optionsOf(verb).filter(option => verb.comment?.options.includes(option.name))
  return { verb, given: parseWords(verb, meant(verb, words, subject), options) }
}

function verbTyped(name: string, verbs: readonly Verb[]): Verb {
  const typable = verbs.filter(({ comment }) => comment !== undefined)
  const found = typable.find(verb => verb.name === name || verb.comment?.alias === name)
  if (found !== undefined) return found
  const names = typable.map(verb => verb.name)
  const near = nearest(name, [...names, ...typable.flatMap(({ comment }) => comment?.alias ?? [])])
  throw new UserError(name === '' ? 'no command was given' : `${JSON.stringify(name)} is no command here`, {
    fix: near === undefined ? `${COMMAND} ${names.join(', ')}` : `did you mean ${COMMAND} ${near}?`,
  })
}

/** On an experiment's own pull request it need not be named. */
function meant({ arguments: [first] }: Verb, words: readonly string[], subject: ExperimentId | null) {
  const isNamed = words.some(word => !word.startsWith('-'))
  return first?.name !== 'exp' || isNamed || subject === null ? words : [subject, ...words]
}
