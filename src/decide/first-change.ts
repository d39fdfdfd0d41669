/** Where somebody who looks at the new text sees the first of what changed, counted from 1; 1 where nothing is left. */
export function findFirstChangedLine(before: string | null, after: string | null): number {
  if (after === null || after === '') return 1
  const [old, now] = [(before ?? '').split('\n'), after.split('\n')]
  const same = now.findIndex((line, index) => line !== old[index])
  const last = after.endsWith('\n') ? now.length - 1 : now.length
  // Only something at its end was taken away: its last line is what is there.
  return same === -1 ? last : Math.min(same + 1, last)
}

/** Where a manifest or lockfile names a package first, as far as its text shows that. */
export function findPackageLine(name: string, text: string | null): number {
  const found = (text ?? '').split('\n').findIndex(line => isNamedInLine(line, name))
  return found === -1 ? 1 : found + 1
}

const NAME_CHARACTER = /[\w.@-]/

/** As a word of its own: `left-pad` is not named by `left-pad-extra`. */
function isNamedInLine(line: string, name: string): boolean {
  for (let at = line.indexOf(name); at !== -1; at = line.indexOf(name, at + 1)) {
    const [before, after] = [line[at - 1] ?? ' ', line[at + name.length] ?? ' ']
    if (!NAME_CHARACTER.test(before) && (!NAME_CHARACTER.test(after) || after === '@')) return true
  }
  return false
}
