/** Possible readings of a diff, likeliest first. Null if the text has no diff. */
export function listDiffReadings(text: string): readonly string[] | null {
  const lines = splitDiffLines(text)
  if (!hasDiff(lines)) return null
  const prefixed = withPrefixes(lines)
  const header = /^(?:diff --git |--- |\+\+\+ |@@ ).*\r$/
  if (!prefixed.some(({ kind, text: line }) => kind === 'header' && header.test(line)))
    return [joinDiffLines(prefixed)]
  // An editor added a carriage return to every line. The changed files may have them too, or not.
  const contentKept = prefixed.map(line => (line.kind === 'header' ? removeReturn(line) : line))
  return [joinDiffLines(contentKept), joinDiffLines(prefixed.map(removeReturn))]
}

function removeReturn(line: DiffLine): DiffLine {
  return { ...line, text: trimReturn(line.text) }
}

/** Binary content ends with an empty line, which editors often remove. */
function joinDiffLines(lines: readonly DiffLine[]): string {
  const end = lines.some(({ text }) => text.startsWith('GIT binary patch')) ? '\n\n' : ''
  return lines.map(({ text }) => text).join('\n') + end
}

/** Indexes of the header lines that name one file of a diff. */
interface FileSection {
  git: number | null
  before: number | null
  after: number | null
  renamed: { from: string; to: string }
}

const NOWHERE = '/dev/null'
const GIT = 'diff --git '

/** `git apply` strips `a/` and `b/` from every name. Adds them to a diff made with --no-prefix. */
export function withPrefixes(lines: readonly DiffLine[]): DiffLine[] {
  const prefixed = [...lines]
  const rewrite = (index: number | null, change: (text: string) => string): void => {
    const line = index === null ? undefined : lines[index]
    if (index !== null && line) prefixed[index] = { ...line, text: change(line.text) }
  }
  for (const section of splitFileSections(lines)) {
    const names = findUnprefixedNames(lines, section)
    if (names === null) continue
    const { from, to } = names
    rewrite(
      section.git,
      text => `${GIT}${addPrefix(from, 'a/')} ${addPrefix(to, 'b/')}${text.endsWith('\r') ? '\r' : ''}`,
    )
    rewrite(section.before, text => `--- ${addPrefix(text.slice(4), 'a/')}`)
    rewrite(section.after, text => `+++ ${addPrefix(text.slice(4), 'b/')}`)
  }
  return prefixed
}

function splitFileSections(lines: readonly DiffLine[]): FileSection[] {
  const sections: FileSection[] = []
  const begin = (): FileSection => {
    const section = { git: null, before: null, after: null, renamed: { from: '', to: '' } }
    sections.push(section)
    return section
  }
  let section: FileSection | null = null
  for (const [index, { kind, text }] of lines.entries()) {
    if (kind !== 'header') continue
    if (text.startsWith(GIT)) {
      section = begin()
      section.git = index
    } else if (text.startsWith('--- ') && lines[index + 1]?.text.startsWith('+++ ') === true) {
      if (section === null || section.before !== null) section = begin()
      section.before = index
      section.after = index + 1
    } else if (section !== null) {
      const [, end, name = ''] = /^(?:rename|copy) (from|to) (.*)$/.exec(trimReturn(text)) ?? []
      if (end === 'from' || end === 'to') section.renamed[end] = name
    }
  }
  return sections
}

/** Null if the names already have prefixes, or are ambiguous. */
function findUnprefixedNames(
  lines: readonly DiffLine[],
  section: FileSection,
): { from: string; to: string } | null {
  if (section.git !== null) {
    const names = trimReturn(lines[section.git]?.text ?? '').slice(GIT.length)
    const half = names.slice(0, (names.length - 1) / 2)
    if (names === `${half} ${half}`) return { from: half, to: half }
    const { from, to } = section.renamed
    return from !== '' && names === `${from} ${to}` ? { from, to } : null
  }
  const from = readHeaderName(lines, section.before)
  const to = readHeaderName(lines, section.after)
  return isUnprefixed(from, to) ? { from, to } : null
}

function isUnprefixed(from: string, to: string): boolean {
  if (from === NOWHERE) return !/^"?b\//.test(to)
  if (to === NOWHERE) return !/^"?a\//.test(from)
  const dropFirstFolder = (name: string) => name.slice(name.indexOf('/') + 1)
  return from === to || dropFirstFolder(from) !== dropFirstFolder(to)
}

function readHeaderName(lines: readonly DiffLine[], index: number | null): string {
  const text = index === null ? '' : (lines[index]?.text ?? '')
  return trimReturn(text).slice(4).replace(/\t.*$/, '')
}

function addPrefix(name: string, added: 'a/' | 'b/'): string {
  if (name.startsWith(NOWHERE)) return name
  return name.startsWith('"') ? `"${added}${name.slice(1)}` : `${added}${name}`
}

function trimReturn(text: string): string {
  return text.replace(/\r$/, '')
}

// Lines

/** A line of a diff without its line feed. */
interface DiffLine {
  kind: 'header' | 'content'
  text: string
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/**
 * A removed line `-- x` reads `--- x`, like a file name. Only counting the lines that a hunk announces tells
 * them apart.
 */
export function splitDiffLines(diff: string): DiffLine[] {
  let [oldLeft, newLeft] = [0, 0]
  return diff.split('\n').map(text => {
    const mark = trimReturn(text).charAt(0)
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

/** Ignores other text such as mail headers and prose. */
export function hasDiff(lines: readonly DiffLine[]): boolean {
  return lines.some(({ kind, text }, index) => {
    if (kind !== 'header') return false
    if (/^diff --(?:git|cc|combined) /.test(text)) return true
    return text.startsWith('--- ') && lines[index + 1]?.text.startsWith('+++ ') === true
  })
}
