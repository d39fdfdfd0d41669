import { z } from 'zod'
import {
  type Field,
  formatJson,
  formatValue,
  type ManifestReading,
  splitFields,
  Unreadable,
} from './manifest-format.ts'
import { buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseTomlTree } from './text-formats.ts'

// Tables of Poetry and Pipenv

const table = z.record(z.string(), z.unknown())
const request = z.union([z.string(), table, z.array(table)])

/**
 * Parses `name = "^1.0"`, `name = { version = "^1.0", extras = […] }`, or a list of such tables. pipenv uses
 * the same format.
 */
function parsePoetryPackages(value: unknown): PackageEntry[] {
  const wanted = Object.entries(z.record(z.string(), request).parse(value))
  return wanted.flatMap(([name, each]) => {
    if (typeof each === 'string') return toPythonRequest(name, each, 'registry')
    return [each].flat().map(one => fromPoetryTable(name, one))
  })
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
  const origin = sources.join(', ') || 'registry'
  return toPythonRequest(name, `${formatValue(version)}${option}`, origin)
}

// Requirements

/** PEP 508: `name[extras] (specifiers) ; marker` or `name[extras] @ url ; marker`. */
const NAME = /^(?<name>[A-Za-z\d](?:[\w.-]*[A-Za-z\d])?)\s*(?<extras>\[[^\]]*\])?\s*(?<wanted>.*)$/s
const SPECIFIERS = /^\(?\s*(?:(?:===?|~=|!=|[<>]=?)\s*[\w.*+!-]+\s*(?:,\s*(?=[=~!<>])|(?=\)?$)))*\)?$/

/** PEP 503: `Foo.Bar`, `foo_bar` and `foo-bar` are the same name. */
export function normalizePythonName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

function toPythonRequest(name: string, version: string, source: string): PackageEntry {
  return buildRequestedPackage({ name: normalizePythonName(name), version, source })
}

function parseRequirement(text: string): PackageEntry {
  const { name, extras, wanted } = NAME.exec(text.trim())?.groups ?? {}
  if (name === undefined || wanted === undefined) throw toRequirementError(text)
  return wanted.startsWith('@')
    ? parseAddressRequirement(name, extras, wanted)
    : parseVersionRequirement(name, extras, wanted, text)
}

/** Addresses may contain semicolons, so a marker starts after a space and a semicolon. */
function parseAddressRequirement(name: string, extras: string | undefined, wanted: string): PackageEntry {
  const [address = '', ...marker] = wanted.slice(1).trim().split(/\s+;/)
  return toPythonRequest(name, formatRequirement('*', extras, marker.join(' ;')), address)
}

function parseVersionRequirement(
  name: string,
  extras: string | undefined,
  wanted: string,
  text: string,
): PackageEntry {
  const at = wanted.indexOf(';')
  const specifiers = (at === -1 ? wanted : wanted.slice(0, at)).trim()
  if (!SPECIFIERS.test(specifiers)) throw toRequirementError(text)
  const version = specifiers.replace(/^\(|\)$/g, '').replace(/\s+/g, '') || '*'
  const marker = at === -1 ? '' : wanted.slice(at + 1)
  return toPythonRequest(name, formatRequirement(version, extras, marker), 'registry')
}

function formatRequirement(version: string, extras: string | undefined, marker: string): string {
  const condition = marker.trim() === '' ? '' : ` ; ${marker.trim().replace(/\s+/g, ' ')}`
  return `${extras === undefined ? '' : `${extras.replace(/\s+/g, '')} `}${version}${condition}`
}

function toRequirementError(text: string): Unreadable {
  return new Unreadable(`asks for ${JSON.stringify(text)}, which is no requirement`)
}

// pyproject.toml

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

/** Members of a group are requirements or names of other groups. Other groups add no new requirement. */
const list = z.array(z.union([z.string(), z.object({ 'include-group': z.string() })]))

export function readPyproject(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseTomlTree(text), [...LISTS, ...POETRY, SOURCES], 2)
  const python = fields.flatMap(getPythonVersion)
  return { packages: fields.flatMap(parsePyprojectField), rest: new Map([...rest, ...python]) }
}

/** Poetry lists the version of Python itself as a dependency. */
function getPythonVersion({ path, value }: Field): [string, string][] {
  const place = path.join('.')
  if (place !== 'tool.poetry.dependencies') return []
  const { python } = table.parse(value)
  return python === undefined ? [] : [[`${place}.python`, formatJson(python)]]
}

function parsePyprojectField({ path, value }: Field): PackageEntry[] {
  if (path[1] === 'poetry') return parsePoetryPackages(value).filter(({ name }) => name !== 'python')
  if (path.join('.') === SOURCES)
    return Object.entries(table.parse(value)).map(([name, source]) =>
      toPythonRequest(name, '*', formatJson(source)),
    )
  const wanted = list
    .parse(value)
    .filter(each => typeof each === 'string')
    .map(parseRequirement)
  const use = path[0] === 'build-system' ? 'build' : path[1] === 'uv' ? path[2] : undefined
  return use === undefined ? wanted : wanted.map(each => ({ ...each, version: `${each.version} (${use})` }))
}

// requirements.txt

const EDITABLE = /^(?:-e|--editable)(?:\s+|=)(?<address>\S.*)$/
const HASHES = / --hash[= ] ?(\S+)/g
const ADDRESS = /^(?:[a-z+]+:|\.{0,2}\/|\.\.?$)|\.(?:whl|zip|tar\.gz|tgz)(?:\[|$)/i
const NAMED = /^[A-Za-z\d][\w.-]*\s*(?:\[[^\]]*\]\s*)?@/
const EGG = /[#&]egg=(?<name>[\w.-]+)/

/** Options such as another index or another file apply to all packages, so they are not dependencies. */
export function readRequirements(text: string): ManifestReading {
  const packages: PackageEntry[] = []
  const rest = new Map<string, string>()
  for (const line of splitRequirementLines(text)) {
    const editable = EDITABLE.exec(line)?.groups?.['address']
    if (editable !== undefined) packages.push(parseAddressLine(editable, 'editable '))
    else if (line.startsWith('-')) rest.set(line, 'set')
    else packages.push(parseRequirementLine(line))
  }
  return { packages, rest }
}

/** Python also ends lines at these characters, and decodes the file with an encoding named at its top. */
const HIDDEN_LINES = /(?=[\p{Cc}\u2028\u2029])[^\t\n\r]/u
const ENCODING = /^(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]/
const COMMENT = /(?:^|\s)#/

/** A backslash at the end of a line continues it. Readers disagree whether it continues a comment. */
function splitRequirementLines(text: string): string[] {
  if (HIDDEN_LINES.test(text))
    throw new Unreadable('has characters that only some readers take for the end of a line')
  if (ENCODING.test(text)) throw new Unreadable('names an encoding')
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  if (lines.split('\n').some(line => line.endsWith('\\') && COMMENT.test(line)))
    throw new Unreadable('continues a comment with a backslash')
  const joined = lines.replaceAll('\\\n', ' ').split('\n')
  return joined.map(stripComment).filter(line => line !== '')
}

function stripComment(line: string): string {
  const words = line.trim().replace(/\s+/g, ' ')
  const at = words.search(COMMENT)
  return at === -1 ? words : words.slice(0, at).trim()
}

function parseRequirementLine(line: string): PackageEntry {
  const hashes = [...line.matchAll(HASHES)].map(([, hash]) => hash ?? '').sort()
  const text = line.replace(HASHES, '').trim()
  if (/\s-/.test(text)) throw new Unreadable(`has an option in ${JSON.stringify(text)}`)
  const isAddress = ADDRESS.test(text) && !NAMED.test(text)
  const found = isAddress ? parseAddressLine(text, '') : parseRequirement(text)
  return { ...found, integrity: hashes.length === 0 ? null : hashes.join(' ') }
}

function parseAddressLine(text: string, prefix: string): PackageEntry {
  return toPythonRequest(EGG.exec(text)?.groups?.['name'] ?? parseAddressName(text), '*', `${prefix}${text}`)
}

/** Handles `name-1.0-py3-none-any.whl`, `https://host/name.git@commit` and `./name`. */
function parseAddressName(address: string): string {
  const path = address.replace(/[?#].*$/, '').replace(/\/$/, '')
  const last = path.slice(path.lastIndexOf('/') + 1)
  return last
    .replace(/@.*$/, '')
    .replace(/\.git$/, '')
    .replace(/-\d.*$/, '')
    .replace(/\[.*$/, '')
}

// Pipfile

export function readPipfile(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseTomlTree(text), ['packages', 'dev-packages'])
  return { packages: fields.flatMap(({ value }) => parsePoetryPackages(value)), rest }
}
