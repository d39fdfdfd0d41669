import type { FailedOutput } from '../model/failed-output.ts'
import type { FailedPart } from '../model/failed-part.ts'
import { neutralizeReferences } from '../model/unlinked.ts'
import { toPlainText } from './plain-text.ts'
import { toSentenceCase } from './sentence.ts'

const MOST = 20

interface OutputSection {
  title: string
  lines: string[]
}

/** Renders the output of a failed command: the failing tests first, then the rest of the end of both streams. */
function buildOutputSections(output: FailedOutput | null | undefined, most: number): OutputSection[] {
  if (output == null) return []
  const shown = new Set(output.failing.map(line => line.trim()).filter(line => line !== ''))
  return [
    { title: 'what failed', lines: output.failing },
    { title: 'last lines of stdout', lines: selectLastLines(output.stdout, most, shown) },
    { title: 'last lines of stderr', lines: selectLastLines(output.stderr, most, shown) },
  ].filter(({ lines }) => lines.length > 0)
}

/** Without the lines that stand above already. */
function selectLastLines(text: string, most: number, shown: ReadonlySet<string>): string[] {
  const rest = text.split('\n').filter(line => !shown.has(line.trim()))
  if (rest.every(line => line.trim() === '')) return []
  const lines = rest.join('\n').trimEnd().split('\n')
  return lines.length > most ? ['…', ...lines.slice(-most)] : lines
}

/** For a terminal; one that printed nothing has that said as well, so that no one looks for it elsewhere. */
export function renderFailedPart(failed: FailedPart | null): string[] {
  if (failed === null) return []
  const what = toSentenceCase(failed.what)
  const lines = renderFailedOutput(failed.output)
  return lines.length === 0 ? [`${what} failed and printed nothing.`, ''] : [`${what} failed.`, ...lines, '']
}

/** Below the line that says what failed. */
export function renderFailedOutput(output: FailedOutput | null | undefined, most = MOST): string[] {
  return buildOutputSections(output, most).flatMap(({ title, lines }) => [
    `  ${title}:`,
    ...lines.map(line => `    ${line}`),
  ])
}

const MOST_OF_PULL = 12

/** For GitHub: text from a candidate's own programs, hence inside a fence that it cannot close. */
export function renderFailedPartMarkdown(failed: FailedPart | null): string[] {
  const sections = buildOutputSections(failed?.output, MOST_OF_PULL)
  if (failed === null || sections.length === 0) return []
  const lines = sections.flatMap(({ title, lines: printed }) => [
    `${title}:`,
    ...printed.map(line => `  ${line}`),
  ])
  // Our own marks are HTML comments: what a candidate prints is none of them.
  const text = neutralizeReferences(toPlainText(lines.join('\n'))).replaceAll('<!--', '<! --')
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(ticks => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}text`, text, fence]
}
