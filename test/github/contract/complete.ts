import { isJson, type Json, resolved, schemasIn } from './describe.ts'

/**
 * What somebody states of an object, with everything else that GitHub always sends filled in by its own
 * description. What the description does not know cannot be stated.
 */
export function complete(schema: Json, stated: unknown): unknown {
  const shape = shapeOf(resolved(schema), stated)
  if (Array.isArray(stated)) return stated.map(each => complete(itemsOf(shape), each))
  if (!isJson(stated)) return stated
  const { known, required } = membersOf(shape)
  const result: Json = {}
  for (const [key, value] of Object.entries(stated)) {
    const member = known.get(key)
    if (!member && known.size > 0 && shape['additionalProperties'] === undefined)
      throw new Error(`GitHub describes no ${key} here: ${[...known.keys()].join(' ')}`)
    if (value !== undefined) result[key] = member ? complete(member, value) : value
  }
  for (const key of required) if (!(key in result)) result[key] = blank(known.get(key) ?? {})
  return result
}

/** Of several shapes the one that has what is stated. */
function shapeOf(schema: Json, stated: unknown): Json {
  const choices = [...schemasIn(schema['oneOf']), ...schemasIn(schema['anyOf'])].map(resolved)
  if (choices.length === 0 || !isJson(stated)) return choices.find(fits(stated)) ?? schema
  const keys = Object.keys(stated)
  return choices.find(choice => keys.every(key => membersOf(choice).known.has(key))) ?? schema
}

function fits(stated: unknown) {
  return ({ type }: Json) => Array.isArray(stated) && type === 'array'
}

function itemsOf(schema: Json): Json {
  return isJson(schema['items']) ? schema['items'] : {}
}

function membersOf(schema: Json): { known: Map<string, Json>; required: string[] } {
  const known = new Map<string, Json>()
  const required: string[] = []
  for (const part of [schema, ...schemasIn(schema['allOf']).map(resolved)]) {
    if (isJson(part['properties']))
      for (const [key, member] of Object.entries(part['properties']))
        if (isJson(member)) known.set(key, member)
    if (Array.isArray(part['required'])) required.push(...part['required'].map(String))
  }
  return { known, required }
}

/** The least that a description allows. */
function blank(reference: Json): unknown {
  const schema = resolved(reference)
  const types = [schema['type']].flat()
  if (types.includes('null')) return null
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  const choices = [...schemasIn(schema['oneOf']), ...schemasIn(schema['anyOf'])]
  const [choice] = choices
  if (choices.some(each => each['type'] === 'null')) return null
  if (choice) return blank(choice)
  if (types.includes('string')) return blankText(schema['format'])
  if (types.includes('integer') || types.includes('number')) return Number(schema['minimum'] ?? 0)
  if (types.includes('boolean')) return false
  if (types.includes('array')) return []
  return complete(schema, {})
}

function blankText(format: unknown): string {
  if (format === 'uri') return 'http://127.0.0.1/nowhere'
  if (format === 'date-time') return '2026-01-01T00:00:00Z'
  return ''
}
