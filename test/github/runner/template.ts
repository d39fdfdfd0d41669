import { isJson, type Json } from '../contract/describe.ts'
import { type Contexts, evaluateExpression, type Status } from './expressions.ts'

const SEQUENCE = 1
const MAPPING = 2
const EXPRESSION = 3

/** A value of a workflow file as GitHub's parser gives it, its expressions not evaluated yet. */
export type Template = string | number | boolean | null | Expression | readonly Template[] | Mapping

export interface Expression {
  expression: string
}

export interface Mapping {
  entries: readonly (readonly [key: Template, value: Template])[]
}

/** Reads what a token of the parser says of itself. */
export function toTemplate(token: unknown): Template {
  if (token === null || token === undefined) return null
  if (typeof token === 'string' || typeof token === 'number' || typeof token === 'boolean') return token
  if (!isJson(token)) throw new Error(`the parser has another kind of token: ${JSON.stringify(token)}`)
  const { type } = token
  if (type === SEQUENCE) return listIn(token['seq']).map(toTemplate)
  if (type === EXPRESSION) return { expression: String(token['expr']) }
  if (type !== MAPPING) throw new Error(`the parser has another kind of token: ${JSON.stringify(token)}`)
  const entries = listIn(token['map']).map(each => {
    if (!isJson(each)) throw new Error('an entry of a mapping has a key and a value')
    return [toTemplate(each['Key']), toTemplate(each['Value'])] as const
  })
  return { entries }
}

function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function isExpression(template: Template | undefined): template is Expression {
  return isJson(template) && 'expression' in template
}

export function isMapping(template: Template | undefined): template is Mapping {
  return isJson(template) && 'entries' in template
}

/** The value of a key, not evaluated; undefined where there is none. */
export function member(template: Template | undefined, key: string): Template | undefined {
  if (!isMapping(template)) return undefined
  return template.entries.find(([name]) => name === key)?.[1]
}

/** The evaluated value of a template: plain JSON. */
export function evaluateTemplate(
  template: Template | undefined,
  contexts: Contexts,
  status?: Status,
): unknown {
  if (template === undefined || template === null) return null
  if (isExpression(template)) return evaluateExpression(template.expression, contexts, status)
  if (isMapping(template))
    return Object.fromEntries(
      template.entries.map(([key, value]) => [
        String(evaluateTemplate(key, contexts, status)),
        evaluateTemplate(value, contexts, status),
      ]),
    )
  if (typeof template === 'object') return template.map(each => evaluateTemplate(each, contexts, status))
  return template
}

export function evaluateMapping(template: Template | undefined, contexts: Contexts): Json {
  const value = evaluateTemplate(template, contexts)
  return isJson(value) ? value : {}
}
