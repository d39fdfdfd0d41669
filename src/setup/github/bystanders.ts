import { z } from 'zod'
import { parse } from 'yaml'

/** A workflow of the repository's own, as far as its triggers tell when it runs. */
interface Bystander {
  path: string
  /** Triggers that would start it for winnow's branches. */
  triggers: ('push' | 'pull_request' | 'pull_request_target')[]
}

const patterns = z.union([z.string().transform(one => [one]), z.array(z.string())])
const filters = z
  .looseObject({
    branches: patterns.optional(),
    'branches-ignore': patterns.optional(),
    tags: patterns.optional(),
    'tags-ignore': patterns.optional(),
  })
  .nullable()
const trigger = z.union([
  z.string().transform(name => new Map([[name, null]])),
  z.array(z.string()).transform(names => new Map(names.map(name => [name, null] as const))),
  z.record(z.string(), z.unknown()).transform(each => new Map(Object.entries(each))),
])
const workflow = z.looseObject({ on: trigger })

/** Aliases of a file that anybody may write are not followed without end. */
const MOST_ALIASES = 50

/** Which workflows would run on a campaign's own branches; null for a file that cannot be read as one. */
export function bystander(path: string, text: string, prefix: string): Bystander | null {
  const triggers = triggersOf(text)
  if (triggers === null) return null
  const pushed = [`${prefix}/x`, `${prefix}-exp/x/exp-001`, `${prefix}-campaign/x`]
  return {
    path,
    triggers: [
      ...runs(triggers, 'push', pushed),
      ...runs(triggers, 'pull_request', [`${prefix}/x`]),
      ...runs(triggers, 'pull_request_target', [`${prefix}/x`]),
    ],
  }
}

function triggersOf(text: string): ReadonlyMap<string, unknown> | null {
  try {
    const read = workflow.safeParse(parse(text, { maxAliasCount: MOST_ALIASES, logLevel: 'error' }))
    return read.success ? read.data.on : null
  } catch (error) {
    if (error instanceof Error) return null
    throw error
  }
}

function runs<T extends Bystander['triggers'][number]>(
  triggers: ReadonlyMap<string, unknown>,
  name: T,
  branches: readonly string[],
): T[] {
  if (!triggers.has(name)) return []
  const read = filters.safeParse(triggers.get(name) ?? null)
  const filter = read.success ? read.data : null
  return branches.some(branch => starts(filter, branch)) ? [name] : []
}

/** As GitHub reads filters: only tags named, no branch starts it. */
function starts(filter: z.infer<typeof filters>, branch: string): boolean {
  if (filter === null) return true
  const { branches, 'branches-ignore': ignored, tags, 'tags-ignore': noTags } = filter
  if (branches !== undefined) return isNamed(branches, branch)
  if (ignored !== undefined) return !isNamed(ignored, branch)
  return tags === undefined && noTags === undefined
}

/** The last pattern that fits decides, and one with an exclamation mark takes back. */
function isNamed(globs: readonly string[], branch: string): boolean {
  const last = globs.findLast(glob => expression(glob.replace(/^!/, '')).test(branch))
  return last !== undefined && !last.startsWith('!')
}

function expression(glob: string): RegExp {
  const parts = glob.split(/(\*\*|\*)/).map(part => {
    if (part === '**') return '.*'
    return part === '*' ? '[^/]*' : part.replace(/[.+^${}()|\\]/g, '\\$&')
  })
  try {
    return new RegExp(`^${parts.join('')}$`)
  } catch (error) {
    // A pattern that is none fits nothing.
    if (error instanceof SyntaxError) return /(?!)/
    throw error
  }
}
