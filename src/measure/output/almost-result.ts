import type { HarnessError } from '../../errors.ts'
import { badOutput } from './printed.ts'

/** What a harness meant to print, and how it went wrong; null where no object can be made out in it. */
export function almostResult(text: string, example: string): HarnessError | null {
  return notNumbers(text, example) ?? amongOthers(text, example)
}

const NOT_JSON = /(?<=[:[,]\s*)-?(?:NaN|Infinity)\b/i

/** What Python and C print for it is no JSON, so that it reads as a log. */
function notNumbers(text: string, example: string): HarnessError | null {
  const [word] = NOT_JSON.exec(text) ?? []
  if (word === undefined || !isObject(text.replaceAll(new RegExp(NOT_JSON, 'gi'), 'null'))) return null
  const line = text.split('\n').find(each => NOT_JSON.test(each)) ?? text
  return badOutput(`${word} is neither JSON nor a number that could be compared`, line.trim(), example)
}

/** Package managers print a banner before what they run, and build tools a line after it. */
function amongOthers(text: string, example: string): HarnessError | null {
  const lines = text.split(/\r?\n/)
  const first = lines.findIndex(line => line.trimStart().startsWith('{'))
  const last = lines.findLastIndex(line => line.trimEnd().endsWith('}'))
  if (first === -1 || !isObject(lines.slice(first, last + 1).join('\n'))) return null
  const before = lines.slice(0, first).find(line => line.trim() !== '')
  const other = before ?? lines.slice(last + 1).find(line => line.trim() !== '')
  if (other === undefined) return null
  const where = before === undefined ? 'after' : 'before'
  const instead = 'print the object alone, or write it to $WINNOW_RESULT_PATH, or print METRIC lines'
  const silent = other.trim().startsWith('> ') ? ' (npm run --silent prints no banner)' : ''
  return badOutput(
    `another line is printed ${where} the JSON object: ${instead}${silent}`,
    other.trim(),
    example,
  )
}

function isObject(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  } catch {
    // Whatever it is, it is not what a harness has to print.
    return false
  }
}
