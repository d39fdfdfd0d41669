/** What every command in a comment begins with. */
export const COMMAND = '/winnow'

/** Longer first lines are no commands. */
const LONGEST = 1_000

/**
 * The words of a command, if the first line of a comment is one; else null. Quotes keep words together, and that
 * is all there is of a shell.
 */
export function parseCommentCommand(body: string): string[] | null {
  const [line = ''] = body.split(/\r?\n/, 1)
  if (line !== COMMAND && !line.startsWith(`${COMMAND} `)) return null
  return line.length > LONGEST ? [] : splitWords(line.slice(COMMAND.length))
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
