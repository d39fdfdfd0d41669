/** Ends nothing on the screen, and a name that begins behind it is none. */
const ZERO_WIDTH_SPACE = '\u200b'

/**
 * Text from branches on its way to where a forge reads it (messages of commits, titles, comments): it mentions
 * nobody, refers to no issue, closes none, links nowhere and keeps no workflow from running, and still reads the same.
 */
export function neutralizeMentions(text: string): string {
  return neutralizeReferences(text).replace(SKIP_CI, found => `${found}${ZERO_WIDTH_SPACE}`)
}

/** In the message of a head commit these keep every check of a pull request from running. */
const SKIP_CI = /\[(?=(?:skip (?:ci|actions)|(?:ci|actions) skip|no ci)\])/gi

export function neutralizeReferences(text: string): string {
  return text
    .replace(/[@#](?=[\p{L}\p{N}_])/gu, character => `${character}${ZERO_WIDTH_SPACE}`)
    .replace(/\bGH-(?=\d)/gi, found => `${found}${ZERO_WIDTH_SPACE}`)
    .replace(/:(?=\/\/)/g, `:${ZERO_WIDTH_SPACE}`)
    .replace(/\bwww(?=\.)/gi, found => `${found}${ZERO_WIDTH_SPACE}`)
}
