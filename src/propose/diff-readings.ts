import { type DiffLine, splitDiffLines, hasDiff } from './diff-lines.ts'
import { withPrefixes } from './diff-prefix.ts'

/** The ways to understand a diff, the likeliest first; null when there is no diff in the text at all. */
export function listDiffReadings(text: string): readonly string[] | null {
  const lines = splitDiffLines(text)
  if (!hasDiff(lines)) return null
  const prefixed = withPrefixes(lines)
  if (!prefixed.some(isHeaderWithReturn)) return [joinDiffLines(prefixed)]
  // An editor gave every line of the file a carriage return: the changed files may have them too, or not.
  const contentKept = prefixed.map(line => (line.kind === 'header' ? removeReturn(line) : line))
  return [joinDiffLines(contentKept), joinDiffLines(prefixed.map(removeReturn))]
}

function isHeaderWithReturn({ kind, text }: DiffLine): boolean {
  return kind === 'header' && /^(?:diff --git |--- |\+\+\+ |@@ ).*\r$/.test(text)
}

function removeReturn(line: DiffLine): DiffLine {
  return { ...line, text: line.text.replace(/\r$/, '') }
}

/** Binary content ends with an empty line, which editors like to take away. */
function joinDiffLines(lines: readonly DiffLine[]): string {
  const end = lines.some(({ text }) => text.startsWith('GIT binary patch')) ? '\n\n' : ''
  return lines.map(({ text }) => text).join('\n') + end
}
