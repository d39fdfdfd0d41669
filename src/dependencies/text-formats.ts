import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { parse } from 'smol-toml'
import { isAlias, isMap, isScalar, type Node, parseAllDocuments, visit } from 'yaml'
import { z } from 'zod'
import { isTree, type Tree, Unreadable } from './manifest-format.ts'

// JSON

/** In valid JSON a string before a colon is always a member name. */
const STRINGS = /"(?:[^"\\]|\\.)*"(\s*:)?/g

/** Rejects duplicate member names, because some readers take the first and some the last. */
export function parseJsonTree(text: string): Tree {
  const value: unknown = JSON.parse(text)
  if (!isTree(value)) throw new Unreadable('holds no JSON object')
  const written = [...text.matchAll(STRINGS)].filter(([, colon]) => colon !== undefined).length
  if (written !== countMembers(value)) throw new Unreadable('has the same member twice in one object')
  refusePrototypes(value)
  return value
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const member of Object.values(value)) count += countMembers(member)
  return count
}

/** Leaves commas inside strings alone. */
export function stripTrailingCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])/g, (_, string: string | undefined) => string ?? '')
}

/** Some readers take this member as a plain name, others as the object's prototype. */
function refusePrototypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, '__proto__')) throw new Unreadable('has a member named __proto__')
  for (const member of Object.values(value)) refusePrototypes(member)
}

// TOML

/** TOML itself forbids duplicate keys. */
export function parseTomlTree(text: string): Tree {
  const tree: unknown = parse(text)
  if (!isTree(tree)) throw new Unreadable('holds no table')
  refusePrototypes(tree)
  return tree
}

// YAML

/**
 * Parses one plain YAML document with every scalar as text. Rejects what readers interpret differently:
 * duplicate keys, anchors, merges, tags, directives, several documents.
 */
export function parseYamlTree(text: string): Tree {
  if (/^%/m.test(text)) throw new Unreadable('has YAML directives')
  const documents = parseAllDocuments(text, { schema: 'failsafe', uniqueKeys: false, stringKeys: true })
  const [document, second] = documents
  if (document === undefined) return {}
  if (second !== undefined) throw new Unreadable('holds more than one document')
  const problem = document.errors[0] ?? document.warnings[0]
  if (problem !== undefined) throw problem
  visit(document, { Node: (_, node) => refuseOdd(node) })
  const tree: unknown = document.toJS() ?? {}
  if (!isTree(tree)) throw new Unreadable('holds no mapping')
  refusePrototypes(tree)
  return tree
}

function refuseOdd(node: Node): void {
  if (isAlias(node) || ('anchor' in node && node.anchor !== undefined))
    throw new Unreadable('has anchors or aliases')
  if (node.tag !== undefined) throw new Unreadable('has tags')
  if (isMap(node)) refuseOddKeys(node.items.map(({ key }) => key))
}

/**
 * The parser's own check compares each key with all earlier ones, which takes half a minute for a large
 * lockfile.
 */
function refuseOddKeys(keys: readonly unknown[]): void {
  const names = new Set(keys.map(key => (isScalar(key) ? key.value : key)))
  if (names.size < keys.length) throw new Unreadable('has the same key twice in one mapping')
  if (names.has('<<')) throw new Unreadable('has a merge key')
}

// XML

export interface XmlElement {
  name: string
  attributes: Readonly<Record<string, string>>
  children: readonly XmlElement[]
  text: string
}

const ATTRIBUTES = ':@'
const TEXT = '#text'
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
})

const attributes = z.record(z.string(), z.string())
const node = z.record(z.string(), z.unknown())

/** Parses one element. Rejects document types, entities and instructions, which could insert other text. */
export function parseXml(text: string): XmlElement {
  if (/<!(?!--|\[CDATA\[)/.test(text)) throw new Unreadable('has a document type')
  if (/<\?(?!xml\s)/.test(text)) throw new Unreadable('has processing instructions')
  if (/^\s*<\?xml[^>]*encoding\s*=(?!\s*["']utf-?8["'])/i.test(text)) throw new Unreadable('is not in UTF-8')
  const valid = XMLValidator.validate(text)
  if (valid !== true) throw new Unreadable(`is no XML (${valid.err.msg})`)
  const [root, second] = toElements(parser.parse(text))
  if (root === undefined || second !== undefined) throw new Unreadable('holds not one element')
  return root
}

function toElements(parsed: unknown): XmlElement[] {
  return z.array(node).parse(parsed).flatMap(toElement)
}

function toElement(each: z.infer<typeof node>): XmlElement[] {
  const name = Object.keys(each).find(key => key !== ATTRIBUTES)
  if (name === undefined || name === TEXT) return []
  const inner = z.array(node).parse(each[name])
  const texts = inner.map(child => child[TEXT]).filter(text => typeof text === 'string')
  return [
    {
      name,
      attributes: attributes.parse(each[ATTRIBUTES] ?? {}),
      children: toElements(inner),
      text: texts.join('').trim(),
    },
  ]
}

/**
 * Splits off the elements at `places`, for example `project/dependencies/dependency`. Returns the text of all
 * others by name.
 */
export function splitElements(root: XmlElement, places: readonly string[]) {
  const taken: XmlElement[] = []
  const paths = places.map(place => place.split('/'))
  const kept = extractElements(root, paths, taken) ?? { ...root, children: [] }
  const rest = new Map<string, string>([[root.name, JSON.stringify([root.attributes, root.text])]])
  for (const child of kept.children)
    rest.set(child.name, `${rest.get(child.name) ?? ''}${JSON.stringify(child)}`)
  return { taken, rest }
}

/** Drops empty lists: those written empty, and those whose dependencies were extracted. */
function extractElements(
  element: XmlElement,
  paths: readonly (readonly string[])[],
  taken: XmlElement[],
): XmlElement | null {
  const inner = paths.filter(([head]) => head === element.name).map(path => path.slice(1))
  if (inner.some(path => path.length === 0)) {
    taken.push(element)
    return null
  }
  if (inner.length === 0) return element
  const children = element.children
    .map(child => extractElements(child, inner, taken))
    .filter(child => child !== null)
  const isPlain = element.text === '' && Object.keys(element.attributes).length === 0
  const isEmptied = element.children.length > 0 || isPlain
  return children.length === 0 && isEmptied ? null : { ...element, children }
}

/** Each child may occur once. */
export function readChildTexts(element: XmlElement): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { name, text, children, attributes: childAttributes } of element.children) {
    if (Object.keys(childAttributes).length > 0)
      throw new Unreadable(`has attributes on ${name} in ${element.name}`)
    if (texts.has(name)) throw new Unreadable(`has two ${name} in one ${element.name}`)
    texts.set(name, children.length === 0 ? text : JSON.stringify(children.map(formatElement)))
  }
  return texts
}

function formatElement({ name, text, children }: XmlElement): string {
  return children.length === 0 ? `${name} ${text}` : `${name} ${children.map(formatElement).join(' ')}`
}
