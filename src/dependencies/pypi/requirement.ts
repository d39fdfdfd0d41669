import { askedFor, type Package } from '../addition.ts'
import { Unreadable } from '../format.ts'

/** PEP 508: `name[extras] (specifiers) ; marker` or `name[extras] @ url ; marker`. */
const NAME = /^(?<name>[A-Za-z\d](?:[\w.-]*[A-Za-z\d])?)\s*(?<extras>\[[^\]]*\])?\s*(?<wanted>.*)$/s
const SPECIFIERS = /^\(?\s*(?:(?:===?|~=|!=|[<>]=?)\s*[\w.*+!-]+\s*(?:,\s*(?=[=~!<>])|(?=\)?$)))*\)?$/

/** PEP 503: one name for `Foo.Bar`, `foo_bar` and `foo-bar`. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

export function asked(name: string, version: string, source: string): Package {
  return askedFor({ name: normalName(name), version, source })
}

export function parseRequirement(text: string): Package {
  const { name, extras, wanted } = NAME.exec(text.trim())?.groups ?? {}
  if (name === undefined || wanted === undefined) throw odd(text)
  return wanted.startsWith('@') ? addressed(name, extras, wanted) : versioned(name, extras, wanted, text)
}

/** A marker is divided from an address by a space and a semicolon, since addresses may hold semicolons. */
function addressed(name: string, extras: string | undefined, wanted: string): Package {
  const [address = '', ...marker] = wanted.slice(1).trim().split(/\s+;/)
  return asked(name, described('*', extras, marker.join(' ;')), address)
}

function versioned(name: string, extras: string | undefined, wanted: string, text: string): Package {
  const at = wanted.indexOf(';')
  const specifiers = (at === -1 ? wanted : wanted.slice(0, at)).trim()
  if (!SPECIFIERS.test(specifiers)) throw odd(text)
  const version = specifiers.replace(/^\(|\)$/g, '').replace(/\s+/g, '')
  return asked(
    name,
    described(version === '' ? '*' : version, extras, at === -1 ? '' : wanted.slice(at + 1)),
    'registry',
  )
}

function described(version: string, extras: string | undefined, marker: string): string {
  const condition = marker.trim() === '' ? '' : ` ; ${marker.trim().replace(/\s+/g, ' ')}`
  return `${extras === undefined ? '' : `${extras.replace(/\s+/g, '')} `}${version}${condition}`
}

function odd(text: string): Unreadable {
  return new Unreadable(`asks for ${JSON.stringify(text)}, which is no requirement`)
}
