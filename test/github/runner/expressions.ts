import { data, Evaluator, Lexer, Parser } from '@actions/expressions'

/** Values by the names that expressions use: `github`, `needs`, `steps`. */
export type Contexts = Readonly<Record<string, unknown>>

/** The answers of the status functions, where an expression stands. */
export interface Status {
  success: boolean
  failure: boolean
  cancelled: boolean
}

const SUCCEEDING: Status = { success: true, failure: false, cancelled: false }

/** Evaluates an expression without its braces by GitHub's own evaluator. */
export function evaluateExpression(text: string, contexts: Contexts, status = SUCCEEDING): unknown {
  const functions = [
    statusFunction('success', status.success),
    statusFunction('failure', status.failure),
    statusFunction('cancelled', status.cancelled),
    statusFunction('always', true),
  ]
  const expression = new Parser(new Lexer(text).lex().tokens, Object.keys(contexts), functions).parse()
  const values: unknown = JSON.parse(JSON.stringify(contexts), data.reviver)
  if (!(values instanceof data.Dictionary)) throw new Error('contexts are no dictionary')
  const byName = new Map(functions.map(each => [each.name, each]))
  const result = new Evaluator(expression, values, byName).evaluate()
  return JSON.parse(JSON.stringify(result, data.replacer) ?? 'null')
}

function statusFunction(name: string, holds: boolean) {
  return { name, minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(holds) }
}

/** Replaces every `${{ }}` of a text. */
export function evaluateText(text: string, contexts: Contexts): string {
  return text.replaceAll(/\$\{\{(.*?)\}\}/gs, (_, expression: string) =>
    toText(evaluateExpression(expression, contexts)),
  )
}

/** As GitHub makes a string of a value. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Empty strings, zero and null count as false, as GitHub has it. */
export function isTruthy(value: unknown): boolean {
  return value !== '' && value !== 0 && value !== null && value !== undefined && value !== false
}
