/** In a harness that `winnow init` wrote: until a person deletes this line, it measures a stand-in. */
export const STAND_IN = 'WINNOW-TODO'

/** The line, from 1, that says so; null where the harness is somebody's own. */
export function standInLine(text: string): number | null {
  const index = text.split('\n').findIndex(line => line.includes(`${STAND_IN}:`))
  return index === -1 ? null : index + 1
}
