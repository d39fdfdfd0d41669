import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { description, isJson, type Json, type Operation, resolved, schemaNamed } from './describe.ts'

const KEY = 'github'
const strict = ajv(false)
const lenient = ajv(true)

/** Query strings carry numbers as text. */
function ajv(coerceTypes: boolean): Ajv {
  const made = new Ajv({ strict: false, allErrors: true, coerceTypes, logger: false })
  formats.default(made)
  return made.addSchema(description, KEY)
}

const compiled = new Map<string, ValidateFunction>()

function wrongs(name: string, schema: Json, value: unknown, by: Ajv = strict): string[] {
  const known = compiled.get(name)
  const validate = known ?? by.compile(rooted(schema))
  if (!known) compiled.set(name, validate)
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${name}${instancePath} ${message}`)
}

/** References in the description are to its own root. */
function rooted(value: Json): Json {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/components', `"${KEY}#/components`))
}

export interface Exchange {
  query: Readonly<Record<string, string>>
  body: unknown
}

/** What GitHub would not understand about a request, or would silently ignore. */
export function requestWrongs(operation: Operation, { query, body }: Exchange): string[] {
  const { route, parameters } = operation
  const known = new Map(parameters.filter(each => each.in === 'query').map(each => [each.name, each]))
  const found: string[] = []
  for (const [name, value] of Object.entries(query)) {
    const parameter = known.get(name)
    if (parameter) found.push(...wrongs(`${route} ?${name}`, wrapped(parameter.schema), { value }, lenient))
    else found.push(`${route} has no parameter ${name}`)
  }
  return [...found, ...bodyWrongs(operation, body)]
}

function wrapped(schema: Json): Json {
  return { type: 'object', properties: { value: schema } }
}

function bodyWrongs({ route, body: schema }: Operation, body: unknown): string[] {
  if (schema === null) return body === undefined ? [] : [`${route} takes no body`]
  const unknown = isJson(body) && isJson(schema['properties']) ? unknownKeys(schema['properties'], body) : []
  return [...unknown.map(key => `${route} knows no ${key}`), ...wrongs(`${route} body`, schema, body ?? {})]
}

function unknownKeys(known: Json, body: Json): string[] {
  return Object.keys(body).filter(key => !(key in known))
}

/** What every operation may answer, described or not: a failure in GitHub's common form. */
const COMMON = new Set([401, 403, 404, 409, 422, 429])

export function answerWrongs(operation: Operation, status: number, body: unknown): string[] {
  const { route, answers } = operation
  const schema = answers[status]
  if (schema === undefined) {
    if (!COMMON.has(status)) return [`${route} does not answer ${status}`]
    return wrongs(`${route} ${status}`, schemaNamed('basic-error'), body)
  }
  if (schema === null) return body === undefined ? [] : [`${route} answers ${status} without a body`]
  return wrongs(`${route} ${status}`, schema, body)
}

export function schemaOfAnswer({ answers }: Operation, status: number): Json | null {
  const schema = answers[status] ?? null
  return schema === null ? null : resolved(schema)
}
