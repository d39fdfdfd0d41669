/** Invariant 12, narrow hands: the only refs winnow ever writes, matched as whole path components. */
const SPEC = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const NAME = /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/
const TIMESTAMP = /^[0-9]+(?:[-T.]?[0-9]+)*Z?$/
const ARCHIVED = /^(?:optimize|state|closed)$/

const FAMILIES: Readonly<Record<string, readonly RegExp[]>> = {
  '': [SPEC],
  '-exp': [SPEC, NAME],
  '-campaign': [SPEC],
  '-state': [SPEC],
  '-closed': [SPEC],
  '-archive': [SPEC, TIMESTAMP, ARCHIVED],
  '-forge': [SPEC],
}

export function isAllowedRef(prefix: string, ref: string): boolean {
  const head = `refs/heads/${prefix}`
  if (!isPrefix(prefix) || !ref.startsWith(head)) return false
  const [suffix = '', ...rest] = ref.slice(head.length).split('/')
  const family = Object.hasOwn(FAMILIES, suffix) ? FAMILIES[suffix] : undefined
  if (family === undefined || rest.length !== family.length) return false
  return family.every((pattern, index) => isComponent(rest[index] ?? '', pattern))
}

export function isPrefix(prefix: string): boolean {
  return prefix !== '' && prefix.split('/').every(part => isComponent(part, NAME))
}

function isComponent(part: string, pattern: RegExp): boolean {
  return part.length <= 200 && pattern.test(part) && !part.toLowerCase().endsWith('.lock')
}

/** The branch of the pull request that sets winnow up. A number follows where an earlier one is still there. */
export const SETUP_BRANCH = 'winnow-setup'
export const MOST_SETUP_BRANCHES = 9
const SETUP_REF = /^refs\/heads\/winnow-setup(?:-[2-9])?$/

/** Only ever made, and never moved: what a person pushed there stays. */
export function isSetupRef(ref: string): boolean {
  return SETUP_REF.test(ref)
}
