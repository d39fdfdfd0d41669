import { z } from 'zod'
import type { Package } from '../addition.ts'
import { type Field, splitFields, textOf } from '../fields.ts'
import { type Format, named, type Reading } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'
import { parseRequirement, asked } from './requirement.ts'
import { poetryPackages } from './poetry-request.ts'

const LISTS = [
  'project.dependencies',
  'project.optional-dependencies.*',
  'dependency-groups.*',
  'build-system.requires',
  'tool.uv.dev-dependencies',
  'tool.uv.constraint-dependencies',
  'tool.uv.override-dependencies',
  'tool.uv.build-constraint-dependencies',
  'tool.pdm.dev-dependencies.*',
]
const POETRY = [
  'tool.poetry.dependencies',
  'tool.poetry.dev-dependencies',
  'tool.poetry.group.*.dependencies',
]
const SOURCES = 'tool.uv.sources'

/** Members of a group are requirements, or other groups by name, which ask for nothing new. */
const list = z.array(z.union([z.string(), z.object({ 'include-group': z.string() })]))

export const pyproject: Format = {
  ecosystem: 'pypi',
  kind: 'manifest',
  holds: named('pyproject.toml'),
  read: readPyproject,
}

function readPyproject(text: string): Reading {
  const { fields, rest } = splitFields(parseTomlTree(text), [...LISTS, ...POETRY, SOURCES], 2)
  const python = fields.flatMap(pythonOf)
  return { packages: fields.flatMap(packagesOf), rest: new Map([...rest, ...python]) }
}

/** Poetry keeps the version of Python itself among the dependencies. */
function pythonOf({ path, value }: Field): [string, string][] {
  const place = path.join('.')
  if (place !== 'tool.poetry.dependencies') return []
  const { python } = z.record(z.string(), z.unknown()).parse(value)
  return python === undefined ? [] : [[`${place}.python`, textOf(python)]]
}

function packagesOf({ path, value }: Field): Package[] {
  if (path[1] === 'poetry') return poetryPackages(value).filter(({ name }) => name !== 'python')
  if (path.join('.') === SOURCES) return sourcesOf(z.record(z.string(), z.unknown()).parse(value))
  const wanted = list
    .parse(value)
    .filter(each => typeof each === 'string')
    .map(parseRequirement)
  if (path.join('.') === 'build-system.requires')
    return wanted.map(each => ({ ...each, version: `${each.version} (build)` }))
  return path[1] === 'uv'
    ? wanted.map(each => ({ ...each, version: `${each.version} (${path[2] ?? ''})` }))
    : wanted
}

function sourcesOf(sources: Readonly<Record<string, unknown>>): Package[] {
  return Object.entries(sources).map(([name, source]) => asked(name, '*', textOf(source)))
}
