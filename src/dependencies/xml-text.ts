import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { z } from 'zod'
import { Unreadable } from './format.ts'

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

/** One element without what could bring in other text: document types, entities, instructions. */
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

/** The elements at `places` (as in `project/dependencies/dependency`), and the text of all others by name. */
export function splitElements(root: XmlElement, places: readonly string[]) {
  const taken: XmlElement[] = []
  const paths = places.map(place => place.split('/'))
  const kept = extractElements(root, paths, taken) ?? { ...root, children: [] }
  const rest = new Map<string, string>([[root.name, JSON.stringify([root.attributes, root.text])]])
  for (const child of kept.children)
    rest.set(child.name, `${rest.get(child.name) ?? ''}${JSON.stringify(child)}`)
  return { taken, rest }
}

/** A list with nothing in it asks for nothing, whether it was written so or its dependencies were taken out. */
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

/** The texts of the children, each of which may be there once. */
export function readChildTexts(element: XmlElement): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { name, text, children, attributes: said } of element.children) {
    if (Object.keys(said).length > 0) throw new Unreadable(`has attributes on ${name} in ${element.name}`)
    if (texts.has(name)) throw new Unreadable(`has two ${name} in one ${element.name}`)
    texts.set(name, children.length === 0 ? text : JSON.stringify(children.map(formatElement)))
  }
  return texts
}

function formatElement({ name, text, children }: XmlElement): string {
  return children.length === 0 ? `${name} ${text}` : `${name} ${children.map(formatElement).join(' ')}`
}
