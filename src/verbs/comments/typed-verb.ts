import { UserError } from '../../errors.ts'
import type { ExperimentId } from '../../model/ids.ts'
import { findNearestWord } from '../../spec/suggest.ts'
import type { CommandArguments } from '../call.ts'
import { parseWords } from '../parse.ts'
import { listOptions, type Verb } from '../verb.ts'
import { COMMAND } from './comment-line.ts'

export interface TypedCommand {
  verb: Verb
  given: CommandArguments
}

/** A command in a comment against the registry: the same verbs, arguments and mistakes as on the command line. */
export function parseTypedCommand(
  [name = '', ...words]: readonly string[],
  verbs: readonly Verb[],
  subject: ExperimentId | null,
): TypedCommand {
  const verb = requireCommentVerb(name, verbs)
  const options = listOptions(verb).filter(option => verb.comment?.options.includes(option.name))
  return { verb, given: parseWords(verb, words, options, said => addSubject(verb, said, subject)) }
}

/** What somebody means to do, before it is known whether they may. */
export function findCommentVerb(name: string, verbs: readonly Verb[]): Verb | undefined {
  return verbs.find(verb => verb.comment && (verb.name === name || verb.comment.alias === name))
}

function requireCommentVerb(name: string, verbs: readonly Verb[]): Verb {
  const typable = verbs.filter(({ comment }) => comment !== undefined)
  const found = findCommentVerb(name, verbs)
  if (found !== undefined) return found
  const names = typable.map(verb => verb.name)
  const near = findNearestWord(name, [...names, ...typable.flatMap(({ comment }) => comment?.alias ?? [])])
  throw new UserError(name === '' ? 'no command was given' : `${JSON.stringify(name)} is not a command`, {
    fix: near === undefined ? `${COMMAND} ${names.join(', ')}` : `did you mean ${COMMAND} ${near}?`,
  })
}

/** An experiment, an idea of the backlog, or the set of packages that an experiment waits for. */
const NAME = /^(?:(?:exp|idea)-\d+|\d+|[0-9a-f]{8,64})$/

/** On an experiment's own pull request it need not be named: what is no name leaves it to the pull request. */
function addSubject(
  { arguments: all }: Verb,
  said: readonly string[],
  subject: ExperimentId | null,
): readonly string[] {
  if (all[0]?.subject !== true || subject === null || NAME.test(said[0] ?? '')) return said
  const hasRoom = said.length < all.length || all.at(-1)?.many === true
  return hasRoom ? [subject, ...said] : said
}
