import type { PackageEntry } from '../addition.ts'

const ALIAS = /^npm:(?<name>@?[^@]+)(?:@(?<range>.*))?$/
const TARBALL_FILE = /\.(?:tgz|tar|tar\.gz)$/i

type NpmOrigin = Pick<PackageEntry, 'name' | 'version' | 'source'>

/** What `"<key>": "<spec>"` asks for: a range of a registry's versions, or whatever an address or path holds. */
export function parseNpmRange(key: string, spec: string): NpmOrigin {
  const alias = ALIAS.exec(spec)?.groups
  if (alias?.['name'] !== undefined) {
    const { name, range } = { name: alias['name'], range: alias['range'] }
    const source = name === key ? 'registry' : `registry, installed as ${key}`
    return { name, version: range === undefined || range === '' ? '*' : range, source }
  }
  if (spec.startsWith('catalog:')) return { name: key, version: spec, source: 'registry' }
  if (isAddress(spec)) return { name: key, version: '*', source: spec }
  return { name: key, version: spec.trim() === '' ? '*' : spec.trim(), source: 'registry' }
}

/** npm takes `..` and `a.tgz` for paths, and `user/repo` for GitHub. */
function isAddress(spec: string): boolean {
  return /[:/\\]/.test(spec) || spec.startsWith('.') || TARBALL_FILE.test(spec)
}

/** `https://host/` where the address is the one registries use for this package; otherwise all of it. */
export function getRegistryAddress(name: string, version: string, resolved: string): string {
  const file = `${name.slice(name.indexOf('/') + 1)}-${version}.tgz`
  const usual = `/${name}/-/${file}`
  return resolved.endsWith(usual) ? resolved.slice(0, resolved.length - usual.length + 1) : resolved
}
