import type { DiffLine } from './diff-lines.ts'

/** Header lines of one file in a diff that name it, by their place. */
interface FileSection {
  git: number | null
  before: number | null
  after: number | null
  renamed: { from: string; to: string }
}

const NOWHERE = '/dev/null'
const GIT = 'diff --git '

/** `git apply` takes `a/` and `b/` off every name; where they were never put on (--no-prefix) they are now. */
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
      text => `${GIT}${addPrefix(from, 'a/')} ${addPrefix(to, 'b/')}${getCarriageReturn(text)}`,
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
    } else if (section !== null) noteRename(section, trimReturn(text))
  }
  return sections
}

function noteRename({ renamed }: FileSection, text: string): void {
  const [, end, name = ''] = /^(?:rename|copy) (from|to) (.*)$/.exec(text) ?? []
  if (end === 'from') renamed.from = name
  if (end === 'to') renamed.to = name
}

/** null when the names have prefixes already, or cannot be told. */
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
  return from === to || dropFirstFolder(from) !== dropFirstFolder(to)
}

function dropFirstFolder(name: string): string {
  return name.slice(name.indexOf('/') + 1)
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

function getCarriageReturn(text: string): string {
  return text.endsWith('\r') ? '\r' : ''
}
