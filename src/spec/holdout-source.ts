/** Where a holdout comes from: a ref of the repository, or a directory that the measuring machine names. */
export type NamedSource = { ref: string } | { environment: string }

const VARIABLE = /^[A-Z][A-Z0-9_]*$/
const NAME = /^[A-Za-z0-9_][\w.+@=/-]*$/
const BROKEN = /\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)|[./]$/

/** Capitals name a variable of the environment; anything else a branch, or a ref in full. Null: neither. */
export function namedSource(text: string): NamedSource | null {
  if (VARIABLE.test(text)) return { environment: text }
  if (!NAME.test(text) || BROKEN.test(text)) return null
  return { ref: text.startsWith('refs/') ? text : `refs/heads/${text}` }
}
