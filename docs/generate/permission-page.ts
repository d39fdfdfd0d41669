import { readFileSync } from 'node:fs'

const BEGIN = '<!-- Written by `npm run docs` from src/init/workflows/setup.ts. -->'
const END = '<!-- Up to here. -->'

/** A page as it stands, its one table of permissions as the workflows are written from it. */
export function permissionPage(path: string, table: string): string {
  const text = readFileSync(path, 'utf8')
  const [before, rest] = split(path, text, BEGIN)
  const [, after] = split(path, rest, END)
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`
}

function split(path: string, text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  if (at < 0) throw new Error(`${path} has no line ${mark}`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}
