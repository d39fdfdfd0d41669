import { stringify } from 'yaml'

type SpecScalar = string | number | boolean
type SpecValue = SpecScalar | readonly SpecValue[] | { readonly [key: string]: SpecValue | undefined }
export type SpecValues = Readonly<Record<string, SpecValue | undefined>>

/** Works once the package is published under its name; an editor that is offline only misses completion. */
export const SCHEMA_URL = 'https://unpkg.com/git-winnow/schema/spec.schema.json'
export const REFERENCE_URL = 'https://unpkg.com/git-winnow/docs/spec.md'

/** One line for each section, as short as a spec can be; what is not said has its default. */
export function renderSpec(values: SpecValues): string {
  const lines = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${renderFlow(value)}`],
  )
  return [
    `# yaml-language-server: $schema=${SCHEMA_URL}`,
    `# Every key and its default: ${REFERENCE_URL}`,
    ...lines,
    '',
  ].join('\n')
}

function renderFlow(value: SpecValue): string {
  if (typeof value !== 'object') return renderScalar(value)
  if (isList(value)) return `[${value.map(renderFlow).join(', ')}]`
  const pairs = Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : [`${key}: ${renderFlow(inner)}`],
  )
  return `{ ${pairs.join(', ')} }`
}

function isList(value: SpecValue): value is readonly SpecValue[] {
  return Array.isArray(value)
}

/** Quoted as the inside of a list needs it, which is enough everywhere. */
function renderScalar(value: SpecScalar): string {
  return stringify([value], { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 })
    .trim()
    .slice(1, -1)
}
