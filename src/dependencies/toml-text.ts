import { parse } from 'smol-toml'
import { isTree, type Tree } from './fields.ts'
import { Unreadable } from './format.ts'
import { refusePrototypes } from './json-text.ts'

/** TOML forbids a key twice by itself. */
export function parseTomlTree(text: string): Tree {
  const tree: unknown = parse(text)
  if (!isTree(tree)) throw new Unreadable('holds no table')
  refusePrototypes(tree)
  return tree
}
