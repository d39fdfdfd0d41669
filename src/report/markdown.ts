import { oneLine } from '../model/landing.ts'

const CELL_LENGTH = 160

/** Text from branches as Markdown that stays text: no markup, no mentions, no issue links, one line. */
export function cell(text: string): string {
  return oneLine(text, CELL_LENGTH)
    .replace(/[\\`*_{}[\]<>|~]/g, character => `\\${character}`)
    .replace(/[@#](?=\w)/g, character => `${character}\u200b`)
}
