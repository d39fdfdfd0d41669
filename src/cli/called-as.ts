import { basename, dirname } from 'node:path'
import { quoteShellWord } from '../report/demo-text.ts'

const NAMES: ReadonlySet<string> = new Set(['winnow', 'git-winnow'])

/** What a person types to start this program again, from any directory. */
export function getProgramCommand(script: string, env: Readonly<Record<string, string>>): string {
  if (env['npm_command'] === 'exec') return 'npx git-winnow'
  const name = basename(script)
  const onPath = (env['PATH'] ?? '').split(':').includes(dirname(script))
  return NAMES.has(name) && onPath ? name : `node ${quoteShellWord(script)}`
}
