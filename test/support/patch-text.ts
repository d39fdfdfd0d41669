/** A patch file that replaces or makes whole files, with its front matter. */
export function patchOf(
  change: Record<string, [before: string | null, after: string]>,
  idea: { hypothesis: string; category?: string; priority?: string; required_deps?: string[] },
): string {
  const front = Object.entries(idea).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  const diffs = Object.entries(change).map(([path, [before, after]]) => diffOf(path, before, after))
  return `---\n${front.join('\n')}\n---\n${diffs.join('')}`
}

export function diffOf(path: string, before: string | null, after: string): string {
  const old = before === null ? [] : linesOf(before)
  const fresh = linesOf(after)
  const head = before === null ? `new file mode 100644\n--- /dev/null\n` : `--- a/${path}\n`
  const hunk = `@@ -${before === null ? 0 : 1},${old.length} +1,${fresh.length} @@\n`
  const body = [...old.map(line => `-${line}\n`), ...fresh.map(line => `+${line}\n`)].join('')
  return `diff --git a/${path} b/${path}\n${head}+++ b/${path}\n${hunk}${body}`
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}
