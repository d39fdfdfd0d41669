import { isJson } from '../contract/describe.ts'

interface Filtered {
  event: string
  action?: string
  filtered: string | null
  workflow?: string
}

/** The kinds of an event that start a workflow which names none. */
const USUAL_TYPES: Readonly<Record<string, readonly string[]>> = {
  pull_request: ['opened', 'synchronize', 'reopened'],
  pull_request_target: ['opened', 'synchronize', 'reopened'],
}
const KNOWN = new Set(['types', 'branches', 'branches-ignore', 'workflows', 'inputs'])

/** Whether a trigger of a workflow file takes an event. */
export function matchesFilters(trigger: unknown, { event, action, filtered, workflow }: Filtered): boolean {
  const settings = isJson(trigger) ? trigger : {}
  const unknown = Object.keys(settings).filter(key => !KNOWN.has(key))
  if (unknown.length > 0) throw new Error(`this GitHub does not filter ${event} by ${unknown.join(', ')} yet`)
  const types = settings['types'] === undefined ? USUAL_TYPES[event] : toList(settings['types'])
  if (action !== undefined && types !== undefined && !types.includes(action)) return false
  if (workflow !== undefined && !toList(settings['workflows'] ?? []).includes(workflow)) return false
  if (filtered === null) return true
  if (settings['branches'] !== undefined) return isSelected(toList(settings['branches']), filtered)
  return !isSelected(toList(settings['branches-ignore'] ?? []), filtered)
}

function toList(value: unknown): string[] {
  return [value].flat().map(String)
}

/** Patterns hold in their order; one with `!` takes back. */
function isSelected(patterns: readonly string[], name: string): boolean {
  let selected = false
  for (const pattern of patterns) {
    const isNegative = pattern.startsWith('!')
    if (toRegExp(isNegative ? pattern.slice(1) : pattern).test(name)) selected = !isNegative
  }
  return selected
}

function toRegExp(pattern: string): RegExp {
  const source = pattern.replaceAll(/\*\*|\*|\\.|[.^${}()|/]/g, token => {
    if (token === '**') return '.*'
    if (token === '*') return '[^/]*'
    return token.startsWith('\\') ? token : `\\${token}`
  })
  return new RegExp(`^${source}$`)
}
