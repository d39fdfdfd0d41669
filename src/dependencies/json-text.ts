import { isTree, type Tree } from './fields.ts'
import { Unreadable } from './format.ts'

/** In valid JSON, a string before a colon is the name of a member, and nothing else is. */
const STRINGS = /"(?:[^"\\]|\\.)*"(\s*:)?/g

/** JSON as every reader reads it: with two members of one name, some take the first and some the last. */
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

/** What stands in strings stays as it is. */
export function stripTrailingCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])/g, (_, string: string | undefined) => string ?? '')
}

/** Such a member is a name to one reader and the object's prototype to another. */
export function refusePrototypes(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, '__proto__')) throw new Unreadable('has a member named __proto__')
  for (const member of Object.values(value)) refusePrototypes(member)
}
