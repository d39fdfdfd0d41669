import { isAlias, isMap, isScalar, type Node, parseAllDocuments, visit } from 'yaml'
import { isTree, type Tree } from './fields.ts'
import { Unreadable } from './format.ts'
import { refusePrototypes } from './json-text.ts'

/**
 * One plain YAML document, every scalar as the text it is written in. What readers disagree about is refused: keys
 * twice, anchors, merges, tags, directives, further documents.
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

/** The parser's own check compares each key with all before it, which takes half a minute for a large lockfile. */
function refuseOddKeys(keys: readonly unknown[]): void {
  const names = new Set(keys.map(key => (isScalar(key) ? key.value : key)))
  if (names.size < keys.length) throw new Unreadable('has the same key twice in one mapping')
  if (names.has('<<')) throw new Unreadable('has a merge key')
}
