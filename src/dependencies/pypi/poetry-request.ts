import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { formatJson, formatValue } from '../fields.ts'
import { toPythonRequest } from './requirement.ts'

const table = z.record(z.string(), z.unknown())
const request = z.union([z.string(), table, z.array(table)])

/** `name = "^1.0"`, `name = { version = "^1.0", extras = […] }`, or a list of such tables; pipenv writes the same. */
export function parsePoetryPackages(value: unknown): PackageEntry[] {
  const wanted = Object.entries(z.record(z.string(), request).parse(value))
  return wanted.flatMap(([name, each]) => parsePoetryRequest(name, each))
}

function parsePoetryRequest(name: string, each: z.infer<typeof request>): PackageEntry[] {
  if (typeof each === 'string') return [toPythonRequest(name, each, 'registry')]
  return Array.isArray(each) ? each.map(one => fromPoetryTable(name, one)) : [fromPoetryTable(name, each)]
}

function fromPoetryTable(name: string, wanted: z.infer<typeof table>): PackageEntry {
  const { version = '*', git, path, file, url, source, index, ...others } = wanted
  const { branch, tag, rev, ref, ...options } = others
  const chosen = [branch, tag, rev, ref].filter(each => each !== undefined).map(formatValue)
  const sources = [
    git === undefined ? null : `git ${[formatValue(git), ...chosen].join('#')}`,
    ...[path, file].map(each => (each === undefined ? null : `path ${formatValue(each)}`)),
    ...[url, source, index].map(each => (each === undefined ? null : formatValue(each))),
  ].filter(each => each !== null)
  const option = Object.keys(options).length === 0 ? '' : ` ${formatJson(options)}`
  return toPythonRequest(
    name,
    `${formatValue(version)}${option}`,
    sources.length === 0 ? 'registry' : sources.join(', '),
  )
}
