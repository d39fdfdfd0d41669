import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import type { ExperimentId } from '../model/ids.ts'
import { allowMeasure } from '../plan/permissions.ts'
import { toShortId } from '../report/event-log.ts'
import { suggestWord } from '../spec/nearest-word.ts'
import { withCampaign } from './context.ts'
import { parseWords } from './command-line.ts'
import { type Call, type CommandArguments, listOptions, type Verb } from './verb.ts'

export const COMMAND = '/winnow'

const MAX_LENGTH = 1_000

/** Null if the first line is no command; no words if it is too long. Supports quotes, but no other shell syntax. */
export function parseCommentCommand(body: string): string[] | null {
  const [line = ''] = body.split(/\r?\n/, 1)
  if (line !== COMMAND && !line.startsWith(`${COMMAND} `)) return null
  return line.length > MAX_LENGTH ? [] : splitWords(line.slice(COMMAND.length))
}

const WORD = /(?:"[^"]*"|'[^']*'|“[^”]*”|\S)+/g
const QUOTED = /"([^"]*)"|'([^']*)'|“([^”]*)”/g

function splitWords(text: string): string[] {
  return (text.match(WORD) ?? []).map(word =>
    word.replace(
      QUOTED,
      (_all, ...[double, single, curly]: (string | undefined)[]) => double ?? single ?? curly ?? '',
    ),
  )
}

interface TypedCommand {
  verb: Verb
  given: CommandArguments
}

export function parseTypedCommand(
  [name = '', ...words]: readonly string[],
  verbs: readonly Verb[],
  subject: ExperimentId | null,
): TypedCommand {
  const verb = requireCommentVerb(name, verbs)
  const options = listOptions(verb).filter(option => verb.comment?.options.includes(option.name))
  return { verb, given: parseWords(verb, words, options, given => listDefaults(verb, given, subject)) }
}

/** Finds the verb without validating its arguments, so that permissions can be checked first. */
export function findCommentVerb(name: string, verbs: readonly Verb[]): Verb | undefined {
  return verbs.find(verb => verb.comment && (verb.name === name || verb.comment.alias === name))
}

function requireCommentVerb(name: string, verbs: readonly Verb[]): Verb {
  const typable = verbs.filter(({ comment }) => comment !== undefined)
  const found = findCommentVerb(name, verbs)
  if (found !== undefined) return found
  const names = typable.map(verb => verb.name)
  const known = [...names, ...typable.flatMap(({ comment }) => comment?.alias ?? [])]
  const none = `no command was given, or its line is longer than ${MAX_LENGTH} characters`
  throw new UserError(name === '' ? none : `${JSON.stringify(name)} is not a command`, {
    fix: suggestWord(name, known, `${COMMAND} ${names.join(', ')}`, `${COMMAND} `),
  })
}

/** Matches an experiment, a backlog idea, or the digest of a package set. */
const NAME = /^(?:(?:exp|idea)-\d+|\d+|[0-9a-f]{8,64})$/

/** On an experiment's own pull request, that experiment is the default subject. */
function listDefaults(
  { arguments: all = [] }: Verb,
  words: readonly string[],
  subject: ExperimentId | null,
): readonly string[] {
  if (all[0]?.subject !== true || subject === null || NAME.test(words[0] ?? '')) return []
  return words.length < all.length || all.at(-1)?.many === true ? [subject] : []
}

/** `/winnow measure <sha>`: a person with write access has reviewed this head and allows winnow to run it. */
export async function allowMeasuring(call: Call): Promise<number> {
  const [sha = ''] = call.given.positionals
  return withCampaign(call, { access: 'write', startedOnly: true }, async ({ campaignContext }) => {
    const { campaign } = (await requireCampaign(campaignContext)).loaded
    const allowed = allowMeasure(campaign, sha.toLowerCase())
    if ('refused' in allowed) throw new UserError(allowed.refused, { fix: allowed.fix })
    await recordEvents(campaignContext, [
      { kind: 'permission-granted', ...allowed, login: campaignContext.by.actor },
    ])
    call.terminal.out(
      `${allowed.experiment} is measured at ${toShortId(allowed.head)}. A later commit needs a new permission.`,
    )
    return 0
  })
}
