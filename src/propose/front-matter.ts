import type { YamlBlock } from './idea-block.ts'

export interface FrontMatter {
  block: YamlBlock
  rest: string
  /** Lines of the file before `rest`: what git says about line 5 of a diff is true of another line here. */
  linesBefore: number
}

const FENCE = /^---[ \t]*\r?$/

/** What stands between two `---` lines at the top of a file; null where there is none. */
export function splitFrontMatter(text: string, file: string): FrontMatter | null {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  if (!FENCE.test(lines[0] ?? '')) return null
  const end = lines.findIndex((line, index) => index > 0 && FENCE.test(line))
  if (end === -1) return null
  const yaml = lines.slice(1, end).join('\n')
  return {
    block: { yaml, file, linesBefore: 1 },
    rest: lines.slice(end + 1).join('\n'),
    linesBefore: end + 1,
  }
}
