/** GitHub refuses more than 65,536 characters; whoever writes that much shortens it better than this does. */
const MOST = 60_000
const CUT = '\n\n… (cut here: this is too long for GitHub)'

export function truncateBody(text: string): string {
  if (text.length <= MOST) return text
  const kept = text.slice(0, MOST - CUT.length)
  // Not through the middle of a character of two halves.
  return `${kept.replace(/[\uD800-\uDBFF]$/, '')}${CUT}`
}
