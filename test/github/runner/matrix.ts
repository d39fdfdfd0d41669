import { isDeepStrictEqual } from 'node:util'
import { isJson, type Json } from '../contract/describe.ts'
import { toText } from './expressions.ts'

export interface Strategy {
  /** One entry for each job; `{}` for the only job of a definition without a matrix. */
  legs: Json[]
  failFast: boolean
  mostAtOnce: number
}

const MOST_LEGS = 256

/** The jobs of a `strategy`, as GitHub multiplies, excludes and includes. */
export function expandStrategy(strategy: Json | null): Strategy {
  const failFast = strategy?.['fail-fast'] !== false
  const most = strategy?.['max-parallel']
  const mostAtOnce = typeof most === 'number' ? most : Number.POSITIVE_INFINITY
  const matrix = strategy?.['matrix']
  if (matrix === undefined || matrix === null) return { legs: [{}], failFast, mostAtOnce }
  if (!isJson(matrix)) throw new Error('Matrix must be a mapping')
  const { include, exclude, ...vectors } = matrix
  const product = multiply(vectors).filter(leg => !entriesOf(exclude).some(each => isPartOf(each, leg)))
  const legs = withIncludes(product, Object.keys(vectors), entriesOf(include))
  if (legs.length === 0) throw new Error('Matrix must define at least one vector')
  if (legs.length > MOST_LEGS) throw new Error(`Strategy expansion exceeded ${MOST_LEGS} results for job`)
  return { legs, failFast, mostAtOnce }
}

function multiply(vectors: Json): Json[] {
  const named = Object.entries(vectors)
  if (named.length === 0) return []
  let legs: Json[] = [{}]
  for (const [name, values] of named) {
    if (!Array.isArray(values) || values.length === 0)
      throw new Error(`Matrix vector '${name}' does not contain any values`)
    legs = legs.flatMap(leg => values.map((value: unknown) => ({ ...leg, [name]: value })))
  }
  return legs
}

function withIncludes(
  product: readonly Json[],
  vectors: readonly string[],
  includes: readonly Json[],
): Json[] {
  const legs = product.map(leg => ({ ...leg }))
  const added: Json[] = []
  for (const include of includes) {
    const own = Object.fromEntries(Object.entries(include).filter(([key]) => vectors.includes(key)))
    // It changes no value that the vectors gave.
    const fitting = legs.filter((_, index) => isPartOf(own, product[index] ?? {}))
    if (fitting.length === 0) added.push(include)
    for (const leg of fitting) Object.assign(leg, include)
  }
  return [...legs, ...added]
}

function entriesOf(value: unknown): Json[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new Error('include and exclude are lists')
  return value.filter(isJson)
}

function isPartOf(part: Json, whole: Json): boolean {
  return Object.entries(part).every(([key, value]) => isDeepStrictEqual(whole[key], value))
}

/** What GitHub calls a job whose file gives it no name of its own. */
export function nameLeg(id: string, leg: Json): string {
  const values = Object.values(leg)
  return values.length === 0 ? id : `${id} (${values.map(toText).join(', ')})`
}
