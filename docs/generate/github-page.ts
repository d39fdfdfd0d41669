import { readFileSync } from 'node:fs'
import { permissionTable } from '../../src/setup/github/permissions.ts'

const BEGIN = '<!-- Written by `npm run docs` from src/setup/github/permissions.ts. -->'
const END = '<!-- Up to here. -->'

/** The page as it stands, its one table as the workflows are written from it. */
export function githubPage(path: string): string {
  const text = readFileSync(path, 'utf8')
  const [before, rest] = split(text, BEGIN)
  const [, after] = split(rest, END)
  return `${before}${BEGIN}\n\n${permissionTable()}\n\n${END}${after}`
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  if (at < 0) throw new Error(`the page of GitHub has no line ${mark}`)
  return [text.slice(0, at), text.slice(at + mark.length)]
}
