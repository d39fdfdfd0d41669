import { readFileSync } from 'node:fs'

/** JSON as it comes from a wire or a description: nothing is known of it yet. */
export type Json = { [key: string]: unknown }

interface Parameter {
  name: string
  in: string
  required: boolean
  schema: Json
}

export interface Operation {
  route: string
  parameters: Parameter[]
  body: Json | null
  /** Schema by status; null where GitHub answers with no body, or with one that is no JSON. */
  answers: Record<string, Json | null>
}

interface Description {
  from: string
  operations: Record<string, Omit<Operation, 'route'>>
  components: { schemas: Record<string, Json> }
}

const FIXTURE = new URL('../../../fixtures/github/openapi.json', import.meta.url)

/** The part of GitHub's own description of its REST API that is used here; `extract.mjs` renews it. */
export const description: Description = JSON.parse(readFileSync(FIXTURE, 'utf8'))

interface Match {
  operation: Operation
  params: Record<string, string>
}

const patterns = Object.entries(description.operations).map(([route, found]) => {
  const [method = '', path = ''] = route.split(' ')
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  // Only a ref may have slashes in it.
  const source = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    name === 'ref' || name === 'branch' ? '(.+)' : '([^/]+)',
  )
  return { method, names, pattern: new RegExp(`^${source}$`), operation: { route, ...found } }
})

/** Which of GitHub's operations a request is; null where it is none that we know of. */
export function operationOf(method: string, path: string): Match | null {
  for (const each of patterns) {
    const match = each.method === method ? each.pattern.exec(path) : null
    if (!match) continue
    const values = match.slice(1).map(value => decodeURIComponent(value))
    const params = Object.fromEntries(each.names.map((name, index) => [name, values[index] ?? '']))
    return { operation: each.operation, params }
  }
  return null
}

export function schemaNamed(name: string): Json {
  const found = description.components.schemas[name]
  if (!found) throw new Error(`GitHub's description has no ${name}`)
  return found
}

export function resolved(schema: Json): Json {
  const ref = schema['$ref']
  return typeof ref === 'string' ? resolved(schemaNamed(ref.split('/').at(-1) ?? '')) : schema
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function schemasIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isJson) : []
}
