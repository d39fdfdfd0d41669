import { isRequirements } from '../../decide/manifest.ts'
import type { PackageEntry } from '../addition.ts'
import { type ManifestFormat, type ManifestReading, Unreadable } from '../format.ts'
import { toPythonRequest, parseRequirement } from './requirement.ts'

const EDITABLE = /^(?:-e|--editable)(?:\s+|=)(?<address>\S.*)$/
const HASHES = / --hash[= ] ?(\S+)/g
const ADDRESS = /^(?:[a-z+]+:|\.{0,2}\/|\.\.?$)|\.(?:whl|zip|tar\.gz|tgz)(?:\[|$)/i
const NAMED = /^[A-Za-z\d][\w.-]*\s*(?:\[[^\]]*\]\s*)?@/
const EGG = /[#&]egg=(?<name>[\w.-]+)/

export const requirementsTxt: ManifestFormat = {
  ecosystem: 'pypi',
  kind: 'manifest',
  holds: (_, path) => isRequirements(path),
  read: readRequirements,
}

/** Options (another index, another file, what may be built) decide for all packages, so they are no dependency. */
function readRequirements(text: string): ManifestReading {
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

/** To Python these end a line as well, and an encoding named at the top is how it reads the rest. */
const HIDDEN_LINES = /(?=[\p{Cc}\u2028\u2029])[^\t\n\r]/u
const ENCODING = /^(?:[^\n]*\n)?[ \t\f]*#.*coding[:=]/
const COMMENT = /(?:^|\s)#/

/** A backslash at the end continues a line; whether it continues a comment, readers disagree. */
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

function parseAddressLine(text: string, how: string): PackageEntry {
  return toPythonRequest(EGG.exec(text)?.groups?.['name'] ?? parseAddressName(text), '*', `${how}${text}`)
}

/** `name-1.0-py3-none-any.whl`, `https://host/name.git@commit`, `./name`. */
function parseAddressName(address: string): string {
  const path = address.replace(/[?#].*$/, '').replace(/\/$/, '')
  const last = path.slice(path.lastIndexOf('/') + 1)
  return last
    .replace(/@.*$/, '')
    .replace(/\.git$/, '')
    .replace(/-\d.*$/, '')
    .replace(/\[.*$/, '')
}
