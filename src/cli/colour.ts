const COLOURS: Readonly<Record<string, number>> = {
  kept: 32,
  'kept, taken back': 33,
  'no gain': 33,
  worse: 31,
  'not proven': 33,
  refused: 35,
  broken: 31,
  error: 31,
  warning: 33,
}

/** A verdict, or the kind of a message, where such a line has it: first, or after an experiment's number. */
const WORD =
  /^(\s*(?:exp-\d+\s+(?:#\d+\s+)?)?)(Kept, taken back|Kept|No gain|Worse|Not proven|Refused|Broken|error|warning)(?=[\s:.])/

export function highlightLine(line: string, inColour: boolean): string {
  if (!inColour) return line
  return line.replace(WORD, (_all, before: string, word: string) => {
    return `${before}\u001b[${COLOURS[word.toLowerCase()]}m${word}\u001b[0m`
  })
}
