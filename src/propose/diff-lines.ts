/** A line of a diff, without its line feed: its content, or what says where content belongs. */
export interface DiffLine {
  kind: 'header' | 'content'
  text: string
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/**
 * A removed line `-- x` reads `--- x`, just like the name of a file. Only counting the lines that a hunk
 * announces tells them apart.
 */
export function splitDiffLines(diff: string): DiffLine[] {
  let [oldLeft, newLeft] = [0, 0]
  return diff.split('\n').map(text => {
    const mark = text.replace(/\r$/, '').charAt(0)
    if ((oldLeft > 0 || newLeft > 0) && /^[ +\-\\]?$/.test(mark)) {
      if (mark === ' ' || mark === '' || mark === '-') oldLeft -= 1
      if (mark === ' ' || mark === '' || mark === '+') newLeft -= 1
      return { kind: 'content', text }
    }
    const hunk = HUNK.exec(text)
    oldLeft = hunk ? Number(hunk[1] ?? 1) : 0
    newLeft = hunk ? Number(hunk[2] ?? 1) : 0
    return { kind: 'header', text }
  })
}

/** Without one there is nothing to apply, whatever else (mail headers, prose) is there. */
export function hasDiff(lines: readonly DiffLine[]): boolean {
  return lines.some(({ kind, text }, index) => {
    if (kind !== 'header') return false
    if (/^diff --(?:git|cc|combined) /.test(text)) return true
    return text.startsWith('--- ') && lines[index + 1]?.text.startsWith('+++ ') === true
  })
}
