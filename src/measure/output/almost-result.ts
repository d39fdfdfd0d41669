import type { HarnessError } from '../../errors.ts'
import { findObjectLines, parseObject } from './object-in-text.ts'
import { toOutputError } from './printed.ts'

/** What a harness meant to print, and how it went wrong; null where no object can be made out in it. */
export function explainAlmostResult(text: string, example: string): HarnessError | null {
  return explainNonNumbers(text, example) ?? explainOtherLines(text, example)
}

const NOT_JSON = /(?<=[:[,]\s*)-?(?:NaN|Infinity)\b/i

/** What Python and C print for it is no JSON, so that it reads as a log. */
function explainNonNumbers(text: string, example: string): HarnessError | null {
  const [word] = NOT_JSON.exec(text) ?? []
  if (word === undefined || parseObject(text.replaceAll(new RegExp(NOT_JSON, 'gi'), 'null')) === null)
    return null
  const line = text.split('\n').find(each => NOT_JSON.test(each)) ?? text
  return toOutputError(`${word} is neither JSON nor a number that could be compared`, line.trim(), example)
}

/** Package managers print a banner before what they run, and build tools a line after it. */
function explainOtherLines(text: string, example: string): HarnessError | null {
  const found = findObjectLines(text)
  if (found === null) return null
  const before = found.before.find(line => line.trim() !== '')
  const other = before ?? found.after.find(line => line.trim() !== '')
  if (other === undefined) return null
  const where = before === undefined ? 'after' : 'before'
  const instead = 'print the object alone, or write it to $WINNOW_RESULT_PATH, or print METRIC lines'
  const silent = other.trim().startsWith('> ') ? ' (npm run --silent prints no banner)' : ''
  return toOutputError(
    `another line is printed ${where} the JSON object: ${instead}${silent}`,
    other.trim(),
    example,
  )
}
