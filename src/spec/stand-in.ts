/** In a harness that `winnow init` wrote: until a person deletes this line, it measures a stand-in. */
export const HARNESS_TODO = 'WINNOW-TODO'

/** The line, from 1, that says so; null where the harness is somebody's own. */
export function findTodoLine(text: string): number | null {
  const index = text.split('\n').findIndex(line => line.includes(`${HARNESS_TODO}:`))
  return index === -1 ? null : index + 1
}
