/** Where a holdout comes from: a ref of the repository, or a directory that the measuring machine names. */
export type NamedSource = { ref: string } | { environment: string }

const VARIABLE = /^[A-Z][A-Z0-9_]*$/
const REF_NAME = /^[A-Za-z0-9_][\w.+@=/-]*$/
const BROKEN_REF = /\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)|[./]$/

/** Capitals name a variable of the environment; anything else a branch, or a ref in full. Null: neither. */
export function parseHoldoutSource(text: string): NamedSource | null {
  if (VARIABLE.test(text)) return { environment: text }
  if (!REF_NAME.test(text) || BROKEN_REF.test(text)) return null
  return { ref: text.startsWith('refs/') ? text : `refs/heads/${text}` }
}
