import { z } from 'zod'
import type { Package } from '../addition.ts'
import { textOf, wordOf } from '../fields.ts'
import { asked } from './requirement.ts'

const table = z.record(z.string(), z.unknown())
const request = z.union([z.string(), table, z.array(table)])

/** `name = "^1.0"`, `name = { version = "^1.0", extras = […] }`, or a list of such tables; pipenv writes the same. */
export function poetryPackages(value: unknown): Package[] {
  const wanted = Object.entries(z.record(z.string(), request).parse(value))
  return wanted.flatMap(([name, each]) => requested(name, each))
}

function requested(name: string, each: z.infer<typeof request>): Package[] {
  if (typeof each === 'string') return [asked(name, each, 'registry')]
  return Array.isArray(each) ? each.map(one => fromTable(name, one)) : [fromTable(name, each)]
}

function fromTable(name: string, wanted: z.infer<typeof table>): Package {
  const { version = '*', git, path, file, url, source, index, ...others } = wanted
  const { branch, tag, rev, ref, ...options } = others
  const chosen = [branch, tag, rev, ref].filter(each => each !== undefined).map(wordOf)
  const sources = [
    git === undefined ? null : `git ${[wordOf(git), ...chosen].join('#')}`,
    ...[path, file].map(each => (each === undefined ? null : `path ${wordOf(each)}`)),
    ...[url, source, index].map(each => (each === undefined ? null : wordOf(each))),
  ].filter(each => each !== null)
  const option = Object.keys(options).length === 0 ? '' : ` ${textOf(options)}`
  return asked(name, `${wordOf(version)}${option}`, sources.length === 0 ? 'registry' : sources.join(', '))
}
