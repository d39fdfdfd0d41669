import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { type Field, splitFields, formatJson } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'
import { parseRequirement, toPythonRequest } from './requirement.ts'
import { parsePoetryPackages } from './poetry-request.ts'

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

export const pyproject: ManifestFormat = {
  ecosystem: 'pypi',
  kind: 'manifest',
  holds: matchNames('pyproject.toml'),
  read: readPyproject,
}

function readPyproject(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseTomlTree(text), [...LISTS, ...POETRY, SOURCES], 2)
  const python = fields.flatMap(getPythonVersion)
  return { packages: fields.flatMap(parsePyprojectField), rest: new Map([...rest, ...python]) }
}

/** Poetry keeps the version of Python itself among the dependencies. */
function getPythonVersion({ path, value }: Field): [string, string][] {
  const place = path.join('.')
  if (place !== 'tool.poetry.dependencies') return []
  const { python } = z.record(z.string(), z.unknown()).parse(value)
  return python === undefined ? [] : [[`${place}.python`, formatJson(python)]]
}

function parsePyprojectField({ path, value }: Field): PackageEntry[] {
  if (path[1] === 'poetry') return parsePoetryPackages(value).filter(({ name }) => name !== 'python')
  if (path.join('.') === SOURCES) return listSourcePackages(z.record(z.string(), z.unknown()).parse(value))
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

function listSourcePackages(sources: Readonly<Record<string, unknown>>): PackageEntry[] {
  return Object.entries(sources).map(([name, source]) => toPythonRequest(name, '*', formatJson(source)))
}
