import type { FileChange } from './entry.ts'

/** A patch file of an idea: front matter, then one diff for each file, as anyone could write it by hand. */
export function writePatch(
  idea: { hypothesis: string; packages: readonly string[] },
  changes: readonly { path: string; before: string | null; after: FileChange }[],
): string {
  const front = [
    `hypothesis: ${JSON.stringify(idea.hypothesis)}`,
    ...(idea.packages.length === 0 ? [] : [`required_deps: ${JSON.stringify(idea.packages)}`]),
  ]
  return `---\n${front.join('\n')}\n---\n${changes.map(writeDiff).join('')}`
}

function writeDiff(change: { path: string; before: string | null; after: FileChange }): string {
  const { path, before, after } = change
  const { mode, text } =
    typeof after === 'string' ? { mode: '100644', text: after } : (after ?? { mode: '100644', text: null })
  const heads = [
    `diff --git a/${path} b/${path}`,
    ...(before === null ? [`new file mode ${mode}`] : text === null ? [`deleted file mode ${mode}`] : []),
  ]
  const [old, now] = [toLines(before, '-'), toLines(text, '+')]
  if (old.length + now.length === 0) return `${heads.join('\n')}\n`
  const names = [
    `--- ${before === null ? '/dev/null' : `a/${path}`}`,
    `+++ ${text === null ? '/dev/null' : `b/${path}`}`,
  ]
  return `${[...heads, ...names, `@@ -${range(old)} +${range(now)} @@`, ...old, ...now].join('\n')}\n`
}

function range(lines: readonly string[]): string {
  const count = lines.filter(line => !line.startsWith('\\')).length
  return `${count === 0 ? 0 : 1},${count}`
}

function toLines(text: string | null, sign: '+' | '-'): string[] {
  if (text === null || text === '') return []
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .map(line => sign + line)
  return text.endsWith('\n') ? lines : [...lines, '\\ No newline at end of file']
}
