import { z } from 'zod'
import { parse } from 'yaml'
import { fits } from './filter-pattern.ts'

/** A workflow of the repository's own, as far as its triggers tell when it runs. */
interface Bystander {
  path: string
  /** Triggers that would start it for winnow's branches. */
  triggers: Started[]
}

interface Started {
  name: 'push' | 'pull_request' | 'pull_request_target' | 'create' | 'delete'
  /** What to write there, and where, so that it does not. */
  line: string
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
const jobs = z.record(z.string(), z.looseObject({ if: z.unknown().optional() }))
const workflow = z.looseObject({ on: trigger, jobs: jobs.catch({}) })

/** Aliases of a file that anybody may write are not followed without end. */
const MOST_ALIASES = 50

/** Which workflows would run on a campaign's own branches; null for a file that cannot be read as one. */
export function bystander(path: string, text: string, prefix: string): Bystander | null {
  const read = readWorkflow(text)
  if (read === null) return null
  const pushed = [`${prefix}/x`, `${prefix}-exp/x/exp-001`, `${prefix}-campaign/x`]
  const into = { branches: [`${prefix}/x`], glob: `${prefix}/**` }
  return {
    path,
    triggers: [
      ...runs(read.on, 'push', { branches: pushed, glob: `${prefix}*/**` }),
      ...runs(read.on, 'pull_request', into),
      ...runs(read.on, 'pull_request_target', into),
      ...always(read, 'create', prefix),
      ...always(read, 'delete', prefix),
    ],
  }
}

/** The condition of a job that leaves winnow's branches alone where a trigger has no filter. */
function elsewhere(prefix: string): string {
  return [`${prefix}/`, `${prefix}-`].map(start => `!startsWith(github.event.ref, '${start}')`).join(' && ')
}

function readWorkflow(text: string): z.infer<typeof workflow> | null {
  try {
    const read = workflow.safeParse(parse(text, { maxAliasCount: MOST_ALIASES, logLevel: 'error' }))
    return read.success ? read.data : null
  } catch (error) {
    if (error instanceof Error) return null
    throw error
  }
}

function runs(
  triggers: ReadonlyMap<string, unknown>,
  name: 'push' | 'pull_request' | 'pull_request_target',
  { branches, glob }: { branches: readonly string[]; glob: string },
): Started[] {
  if (!triggers.has(name)) return []
  const read = filters.safeParse(triggers.get(name) ?? null)
  const filter = read.success ? read.data : null
  if (!branches.some(branch => starts(filter, branch))) return []
  // GitHub takes no `branches-ignore` beside `branches`, and of these the last that fits decides.
  const named = filter?.branches !== undefined
  const line = named
    ? `'!${glob}' as the last of on.${name}.branches`
    : `on.${name}.branches-ignore: ['${glob}']`
  return [{ name, line }]
}

/** For every branch there is, unless each job asks for its name. */
function always(
  { on, jobs: all }: z.infer<typeof workflow>,
  name: 'create' | 'delete',
  prefix: string,
): Started[] {
  const each = Object.values(all)
  if (!on.has(name) || (each.length > 0 && each.every(job => asksForName(job.if, prefix)))) return []
  return [{ name, line: `if: \${{ ${elsewhere(prefix)} }} to each job` }]
}

function asksForName(condition: unknown, prefix: string): boolean {
  if (typeof condition !== 'string' || condition.includes('||')) return false
  return plain(condition).includes(plain(elsewhere(prefix)))
}

function plain(condition: string): string {
  return condition.replace(/\s+/g, '')
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
  const last = globs.findLast(glob => fits(glob.replace(/^!/, ''), branch))
  return last !== undefined && !last.startsWith('!')
}
