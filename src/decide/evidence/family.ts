/** What tells whether two ideas are variants of one; `lines` are the changed lines, each with its file. */
export type IdeaVariant = { family?: string | null; files: readonly string[]; lines: readonly string[] }

const FAMILY_OVERLAP = 0.6

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every(file => b.has(file))
}

/**
 * Whether two ideas are one family (decision 3.4): declared so, or the same files and at least 60 % overlap of
 * the changed lines. Overlap counts from the smaller change, so that padding does not make a new idea.
 */
export function isSameFamily(a: IdeaVariant, b: IdeaVariant): boolean {
  if (typeof a.family === 'string' && a.family === b.family) return true
  if (!isSameSet(new Set(a.files), new Set(b.files))) return false
  const lines = new Set(a.lines)
  const others = new Set(b.lines)
  const smaller = Math.min(lines.size, others.size)
  const shared = [...lines].filter(line => others.has(line)).length
  return smaller > 0 && shared >= FAMILY_OVERLAP * smaller
}
