import { buildRequestedPackage, type PackageEntry } from '../addition.ts'
import { Unreadable } from '../format.ts'

/** PEP 508: `name[extras] (specifiers) ; marker` or `name[extras] @ url ; marker`. */
const NAME = /^(?<name>[A-Za-z\d](?:[\w.-]*[A-Za-z\d])?)\s*(?<extras>\[[^\]]*\])?\s*(?<wanted>.*)$/s
const SPECIFIERS = /^\(?\s*(?:(?:===?|~=|!=|[<>]=?)\s*[\w.*+!-]+\s*(?:,\s*(?=[=~!<>])|(?=\)?$)))*\)?$/

/** PEP 503: one name for `Foo.Bar`, `foo_bar` and `foo-bar`. */
export function normalizePythonName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

export function toPythonRequest(name: string, version: string, source: string): PackageEntry {
  return buildRequestedPackage({ name: normalizePythonName(name), version, source })
}

export function parseRequirement(text: string): PackageEntry {
  const { name, extras, wanted } = NAME.exec(text.trim())?.groups ?? {}
  if (name === undefined || wanted === undefined) throw toRequirementError(text)
  return wanted.startsWith('@')
    ? parseAddressRequirement(name, extras, wanted)
    : parseVersionRequirement(name, extras, wanted, text)
}

/** A marker is divided from an address by a space and a semicolon, since addresses may hold semicolons. */
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
  const version = specifiers.replace(/^\(|\)$/g, '').replace(/\s+/g, '')
  return toPythonRequest(
    name,
    formatRequirement(version === '' ? '*' : version, extras, at === -1 ? '' : wanted.slice(at + 1)),
    'registry',
  )
}

function formatRequirement(version: string, extras: string | undefined, marker: string): string {
  const condition = marker.trim() === '' ? '' : ` ; ${marker.trim().replace(/\s+/g, ' ')}`
  return `${extras === undefined ? '' : `${extras.replace(/\s+/g, '')} `}${version}${condition}`
}

function toRequirementError(text: string): Unreadable {
  return new Unreadable(`asks for ${JSON.stringify(text)}, which is no requirement`)
}
