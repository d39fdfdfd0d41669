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
  for (const section of sectionsOf(lines)) {
    const names = unprefixedNames(lines, section)
    if (names === null) continue
    const { from, to } = names
    rewrite(section.git, text => `${GIT}${prefix(from, 'a/')} ${prefix(to, 'b/')}${carriageReturn(text)}`)
    rewrite(section.before, text => `--- ${prefix(text.slice(4), 'a/')}`)
    rewrite(section.after, text => `+++ ${prefix(text.slice(4), 'b/')}`)
  }
  return prefixed
}

function sectionsOf(lines: readonly DiffLine[]): FileSection[] {
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
    } else if (section !== null) noteRename(section, bare(text))
  }
  return sections
}

function noteRename({ renamed }: FileSection, text: string): void {
  const [, end, name = ''] = /^(?:rename|copy) (from|to) (.*)$/.exec(text) ?? []
  if (end === 'from') renamed.from = name
  if (end === 'to') renamed.to = name
}

/** null when the names have prefixes already, or cannot be told. */
function unprefixedNames(
  lines: readonly DiffLine[],
  section: FileSection,
): { from: string; to: string } | null {
  if (section.git !== null) {
    const names = bare(lines[section.git]?.text ?? '').slice(GIT.length)
    const half = names.slice(0, (names.length - 1) / 2)
    if (names === `${half} ${half}`) return { from: half, to: half }
    const { from, to } = section.renamed
    return from !== '' && names === `${from} ${to}` ? { from, to } : null
  }
  const from = nameIn(lines, section.before)
  const to = nameIn(lines, section.after)
  return isUnprefixed(from, to) ? { from, to } : null
}

function isUnprefixed(from: string, to: string): boolean {
  if (from === NOWHERE) return !/^"?b\//.test(to)
  if (to === NOWHERE) return !/^"?a\//.test(from)
  return from === to || withoutFirst(from) !== withoutFirst(to)
}

function withoutFirst(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}

function nameIn(lines: readonly DiffLine[], index: number | null): string {
  const text = index === null ? '' : (lines[index]?.text ?? '')
  return bare(text).slice(4).replace(/\t.*$/, '')
}

function prefix(name: string, added: 'a/' | 'b/'): string {
  if (name.startsWith(NOWHERE)) return name
  return name.startsWith('"') ? `"${added}${name.slice(1)}` : `${added}${name}`
}

function bare(text: string): string {
  return text.replace(/\r$/, '')
}

function carriageReturn(text: string): string {
  return text.endsWith('\r') ? '\r' : ''
}
