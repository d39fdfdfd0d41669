/** Characters that take no column, or two; what is not known here takes one. */
const NONE = /[\p{Mn}\p{Me}\p{Cf}]/u
const TWO =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u

/** How many columns of a terminal a line takes. */
export function countColumns(line: string): number {
  let width = 0
  for (const character of line) width += countCharacterColumns(character)
  return width
}

/** The line, or as much of its beginning as fits, and a sign that there was more. */
export function truncateToWidth(line: string, columns: number): string {
  if (countColumns(line) <= columns) return line
  let room = columns - 1
  let kept = ''
  for (const character of line) {
    room -= countCharacterColumns(character)
    if (room < 0) break
    kept += character
  }
  return columns < 1 ? '' : `${kept.trimEnd()}…`
}

function countCharacterColumns(character: string): number {
  if (NONE.test(character)) return 0
  return TWO.test(character) ? 2 : 1
}
