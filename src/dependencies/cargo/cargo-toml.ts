import { z } from 'zod'
import { buildRequestedPackage, type PackageEntry } from '../addition.ts'
import { type Field, splitFields, formatJson, formatValue } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'

const KINDS = ['dependencies', 'dev-dependencies', 'build-dependencies']
const PLACES = [
  ...KINDS,
  ...KINDS.map(kind => `target.*.${kind}`),
  'workspace.dependencies',
  'patch.*',
  'replace',
]

const request = z.union([z.string(), z.record(z.string(), z.unknown())])
const requests = z.record(z.string(), request)

export const cargoToml: ManifestFormat = {
  ecosystem: 'cargo',
  kind: 'manifest',
  holds: matchNames('cargo.toml'),
  read: readCargoToml,
}

function readCargoToml(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseTomlTree(text), PLACES, 2)
  return { packages: fields.flatMap(parseCargoField), rest }
}

/** Where it is asked for counts: a patch decides for every crate, a target for some machines. */
function parseCargoField({ path, value }: Field): PackageEntry[] {
  const [head = '', inner] = path
  const place = head === 'patch' ? `patches ${inner ?? ''}` : head === 'replace' ? 'replaces' : null
  return Object.entries(requests.parse(value)).map(([key, wanted]) => toCargoRequest(key, wanted, place))
}

function toCargoRequest(key: string, wanted: z.infer<typeof request>, place: string | null): PackageEntry {
  const table = typeof wanted === 'string' ? { version: wanted } : wanted
  const { version = '*', package: actual, git, path, registry, 'registry-index': index, ...others } = table
  const { branch, tag, rev, ...options } = others
  const name = typeof actual === 'string' ? actual : key.replace(/:.*$/, '')
  const chosen = [branch, tag, rev].filter(each => each !== undefined)
  const sources = [
    ...(path === undefined ? [] : [`path ${formatValue(path)}`]),
    ...(git === undefined ? [] : [`git ${[git, ...chosen].map(formatValue).join('#')}`]),
    ...[registry, index].filter(each => each !== undefined).map(formatValue),
  ]
  const notes = [place, key === name ? null : `as ${key}`, formatCargoOptions(options)].filter(
    each => each !== null,
  )
  const source = sources.length === 0 ? 'registry' : sources.join(', ')
  return buildRequestedPackage({ name, version: formatValue(version), source, notes })
}

function formatCargoOptions(options: Readonly<Record<string, unknown>>): string | null {
  const entries = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.length === 0 ? null : entries.map(([key, value]) => `${key} ${formatJson(value)}`).join(', ')
}
