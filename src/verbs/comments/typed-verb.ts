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
  return { verb, given: parseWords(verb, words, options, said => meant(verb, said, subject)) }
}

/** What somebody means to do, before it is known whether they may. */
export function verbNamed(name: string, verbs: readonly Verb[]): Verb | undefined {
  return verbs.find(verb => verb.comment && (verb.name === name || verb.comment.alias === name))
}

function verbTyped(name: string, verbs: readonly Verb[]): Verb {
  const typable = verbs.filter(({ comment }) => comment !== undefined)
  const found = verbNamed(name, verbs)
  if (found !== undefined) return found
  const names = typable.map(verb => verb.name)
  const near = nearest(name, [...names, ...typable.flatMap(({ comment }) => comment?.alias ?? [])])
  throw new UserError(name === '' ? 'no command was given' : `${JSON.stringify(name)} is not a command`, {
    fix: near === undefined ? `${COMMAND} ${names.join(', ')}` : `did you mean ${COMMAND} ${near}?`,
  })
}

/** An experiment, an idea of the backlog, or the set of packages that an experiment waits for. */
const NAME = /^(?:(?:exp|idea)-\d+|\d+|[0-9a-f]{8,64})$/

/** On an experiment's own pull request it need not be named: what is no name leaves it to the pull request. */
function meant(
  { arguments: all }: Verb,
  said: readonly string[],
  subject: ExperimentId | null,
): readonly string[] {
  if (all[0]?.subject !== true || subject === null || NAME.test(said[0] ?? '')) return said
  const hasRoom = said.length < all.length || all.at(-1)?.many === true
  return hasRoom ? [subject, ...said] : said
}
