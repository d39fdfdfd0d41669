/** Ends nothing on the screen, and a name that begins behind it is none. */
const APART = '\u200b'

/**
 * Text from branches on its way to where a forge reads it (messages of commits, titles, comments): it mentions
 * nobody, refers to no issue, closes none, links nowhere and keeps no workflow from running, and still reads the same.
 */
export function unlinked(text: string): string {
  return mentionless(text).replace(SKIPS, found => `${found}${APART}`)
}

/** In the message of a head commit these keep every check of a pull request from running. */
const SKIPS = /\[(?=(?:skip (?:ci|actions)|(?:ci|actions) skip|no ci)\])/gi

export function mentionless(text: string): string {
  return text
    .replace(/[@#](?=[\p{L}\p{N}_])/gu, character => `${character}${APART}`)
    .replace(/\bGH-(?=\d)/gi, found => `${found}${APART}`)
    .replace(/:(?=\/\/)/g, `:${APART}`)
    .replace(/\bwww(?=\.)/gi, found => `${found}${APART}`)
}
