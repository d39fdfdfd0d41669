import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = new URL('..', import.meta.url).pathname

/** A command as a page shows it, and what the page says it prints. */
export interface ShownCommand {
  command: string
  /** What it ends with: `# exit 14` behind it, else 0. */
  exit: number
  /** Lines shown below it; none where the page only says what to type. */
  output: readonly string[]
}

/** Every page that people read, from the root of the repository. */
export function pages(): string[] {
  const below = (dir: string) =>
    readdirSync(join(ROOT, dir))
      .filter(name => name.endsWith('.md'))
      .map(name => `${dir}/${name}`)
  return [
    'README.md',
    'CONTRIBUTING.md',
    'AGENTS.md',
    'skills/winnow/SKILL.md',
    ...below('docs'),
    ...below('docs/decisions'),
  ]
}

export function pageText(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

/** Every command that can be copied from a page: all of its `sh` blocks, and what follows `$ ` in any other. */
export function commandsOn(page: string): ShownCommand[] {
  const fences = pageText(page).matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)
  return [...fences].flatMap(([, language = '', block = '']) =>
    language === 'sh'
      ? statements(block).map(line => shown(line, []))
      : block
          .split(/^\$ /m)
          .slice(1)
          .map(part => part.split('\n'))
          .map(([line = '', ...output]) => shown(line, output.filter(Boolean))),
  )
}

/** A quoted word may hold line breaks, so a statement ends where its quotes are closed. */
function statements(block: string): string[] {
  const found: string[] = []
  let open = ''
  for (const line of block.trimEnd().split('\n')) {
    open += open === '' ? line : `\n${line}`
    if (/^[^'"]*(?:'[^']*'[^'"]*|"[^"]*"[^'"]*)*$/.test(open)) {
      if (open.trim() !== '') found.push(open)
      open = ''
    }
  }
  return found
}

function shown(line: string, output: readonly string[]): ShownCommand {
  const [, exit = '0'] = / # exit (\d+)/.exec(line) ?? []
  return { command: line.replace(/ +# .*$/, ''), exit: Number(exit), output }
}
