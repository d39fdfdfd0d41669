import { stringify } from 'yaml'

type Scalar = string | number | boolean
type Value = Scalar | readonly Value[] | { readonly [key: string]: Value | undefined }
export type SpecValues = Readonly<Record<string, Value | undefined>>

/** Works once the package is published under its name; an editor that is offline only misses completion. */
export const SCHEMA_URL = 'https://unpkg.com/git-winnow/schema/spec.schema.json'
export const REFERENCE_URL = 'https://unpkg.com/git-winnow/docs/spec.md'

/** One line for each section, as short as a spec can be; what is not said has its default. */
export function specText(values: SpecValues): string {
  const lines = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${flow(value)}`],
  )
  return [
    `# yaml-language-server: $schema=${SCHEMA_URL}`,
    `# Every key and its default: ${REFERENCE_URL}`,
    ...lines,
    '',
  ].join('\n')
}

function flow(value: Value): string {
  if (typeof value !== 'object') return scalar(value)
  if (isList(value)) return `[${value.map(flow).join(', ')}]`
  const pairs = Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : [`${key}: ${flow(inner)}`],
  )
  return `{ ${pairs.join(', ')} }`
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

/** Quoted as the inside of a list needs it, which is enough everywhere. */
function scalar(value: Scalar): string {
  return stringify([value], { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 })
    .trim()
    .slice(1, -1)
}
