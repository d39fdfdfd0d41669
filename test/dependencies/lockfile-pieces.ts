import { parse } from 'yaml'
import { fixture } from './fixture.ts'

/** A lockfile of which any entries, in any order, are a lockfile again. */
export interface Pieces {
  path: string
  file: string
  entries: readonly string[]
  write: (entries: readonly string[]) => string
}

function lines(path: string, file: string): Pieces {
  const entries = fixture(file)
    .split('\n')
    .filter(line => line !== '')
  return { path, file, entries, write: some => some.map(line => `${line}\n`).join('') }
}

/** What stands before the first and after the last block stays. */
function blocks(path: string, file: string, block: RegExp): Pieces {
  const text = fixture(file)
  const entries = [...text.matchAll(block)].map(([found]) => found)
  const first = text.indexOf(entries[0] ?? '')
  const last = entries.at(-1) ?? ''
  const head = text.slice(0, first)
  const tail = text.slice(text.lastIndexOf(last) + last.length)
  return { path, file, entries, write: some => `${head}${some.join('')}${tail}` }
}

type Json = { [key: string]: Json }

/** JSON in which the members of one object, at `place`, are the entries; YAML is read and written as JSON. */
function members(
  path: string,
  file: string,
  place: readonly string[],
  isEntry: (key: string) => boolean = () => true,
): Pieces {
  const tree: Json = parse(fixture(file), { schema: path.endsWith('.yaml') ? 'failsafe' : 'core' })
  const at = (root: Json) => place.reduce((inner, key) => inner[key] ?? {}, root)
  return {
    path,
    file,
    entries: Object.keys(at(tree)).filter(isEntry),
    write: some => {
      const copy = structuredClone(tree)
      const object = at(copy)
      const chosen = some.map(key => [key, object[key] ?? {}] as const)
      for (const key of Object.keys(object).filter(isEntry)) delete object[key]
      for (const [key, value] of chosen) object[key] = value
      delete copy['snapshots']
      return JSON.stringify(copy)
    },
  }
}

const TOML = /\[\[package\]\]\n(?:(?!\[\[package\]\]|\[metadata\]).*\n?)+/g
const YARN = /^(?![ #_\n]).+:\n(?: .+\n)+\n?/gm
const isInstalled = (key: string) => key.includes('node_modules/')

export const PIECES: readonly Pieces[] = [
  members('package.json', 'npm/package.json', ['dependencies']),
  members('package-lock.json', 'npm/package-lock-v1.json', ['dependencies']),
  members('package-lock.json', 'npm/package-lock-v3.json', ['packages'], isInstalled),
  members('pnpm-lock.yaml', 'pnpm/pnpm-lock-v6.yaml', ['packages']),
  members('pnpm-lock.yaml', 'pnpm/pnpm-lock-v9.yaml', ['packages']),
  blocks('yarn.lock', 'yarn/classic.lock', YARN),
  blocks('yarn.lock', 'yarn/berry.lock', /^"(?!fixture)(?:.+\n)+\n?/gm),
  members('bun.lock', 'bun/bun.lock', ['packages']),
  blocks('Cargo.lock', 'cargo/Cargo.lock', TOML),
  blocks('poetry.lock', 'pypi/poetry.lock', TOML),
  blocks('uv.lock', 'pypi/uv.lock', /\[\[package\]\]\n(?!name = "fixture")(?:(?!\[\[package\]\]).*\n?)+/g),
  members('Pipfile.lock', 'pypi/Pipfile.lock', ['default']),
  lines('go.sum', 'go/go.sum'),
  blocks('Gemfile.lock', 'rubygems/Gemfile.lock', /^ {4}(?!local)\S.*\n(?: {6}.*\n)*/gm),
  members(
    'packages.lock.json',
    'nuget/packages.lock.json',
    ['dependencies', 'net8.0'],
    key => key !== 'local',
  ),
]
