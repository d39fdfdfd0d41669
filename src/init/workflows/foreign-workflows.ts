import { Document, isSeq, parse, visit } from 'yaml'
import { z } from 'zod'

/** A workflow that does not belong to winnow, and the changes that keep it off winnow's branches. */
export interface ForeignWorkflow {
  path: string
  triggers: Trigger[]
  /** Changed lines of its `on:`, as YAML. Empty: no trigger has a filter to change. */
  on: string
  /** Condition for each job, for triggers without filters. Null: there are no such triggers. */
  condition: string | null
}

type Filtered = 'push' | 'pull_request' | 'pull_request_target'
type Trigger = Filtered | 'create' | 'delete'

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
  patterns.transform(names => new Map<string, unknown>(names.map(name => [name, null]))),
  z.record(z.string(), z.unknown()).transform(each => new Map(Object.entries(each))),
])
const jobs = z.record(z.string(), z.looseObject({ if: z.unknown().optional() }))
const workflow = z.looseObject({ on: trigger, jobs: jobs.catch({}) })

/** Limits the aliases in a file, because they can expand exponentially. */
const MOST_ALIASES = 50

const FILTERED = ['push', 'pull_request', 'pull_request_target'] as const satisfies Filtered[]

/** Null: the file is not a valid workflow. */
export function analyzeWorkflow(path: string, text: string, prefix: string): ForeignWorkflow | null {
  const parsed = parseWorkflowYaml(text)
  const read = workflow.safeParse(parsed).data
  if (read === undefined) return null
  const pushed = [`${prefix}/x`, `${prefix}-exp/x/exp-001`, `${prefix}-campaign/x`]
  const incoming = { branches: [`${prefix}/x`], glob: `${prefix}/**` }
  const targets = {
    push: { branches: pushed, glob: `${prefix}*/**` },
    pull_request: incoming,
    pull_request_target: incoming,
  } as const
  const filtered = FILTERED.filter(name => isTriggered(read.on, name, targets[name].branches))
  const unfiltered = (['create', 'delete'] as const).filter(name => isAlwaysTriggered(read, name, prefix))
  const changed = filtered.map(
    name => [name, addIgnoredBranches(read.on.get(name), targets[name].glob)] as const,
  )
  return {
    path,
    triggers: [...filtered, ...unfiltered],
    on: changed.length === 0 ? '' : renderTriggerLines(parsed, new Map(changed), read.on),
    condition: unfiltered.length === 0 ? null : renderBranchCondition(prefix),
  }
}

/**
 * GitHub does not allow `branches-ignore` next to `branches`. Among `branches`, the last matching pattern
 * decides.
 */
function addIgnoredBranches(trigger: unknown, glob: string): Record<string, unknown> {
  const { branches, 'branches-ignore': ignored = [], ...rest } = filters.safeParse(trigger).data ?? {}
  return branches === undefined
    ? { ...rest, 'branches-ignore': [...ignored, glob] }
    : { ...rest, branches: [...branches, `!${glob}`] }
}

/** If `on:` is a name or a list, it becomes a map that names every trigger. */
function renderTriggerLines(
  parsed: unknown,
  changed: ReadonlyMap<string, unknown>,
  triggers: ReadonlyMap<string, unknown>,
): string {
  const isMap = z.looseObject({ on: z.record(z.string(), z.unknown()) }).safeParse(parsed).success
  const named = isMap ? [...changed.keys()] : [...triggers.keys()]
  const document = new Document({
    on: Object.fromEntries(named.map(name => [name, changed.get(name) ?? null])),
  })
  visit(document, {
    Seq: (_, sequence) => {
      sequence.flow = true
    },
    Scalar: (_, scalar, path) => {
      if (isSeq(path.at(-1)) && !/^[\w.-]+$/.test(String(scalar.value))) scalar.type = 'QUOTE_SINGLE'
    },
  })
  const options = { flowCollectionPadding: false, nullStr: '', lineWidth: 0 }
  return document.toString(options).replace(/ +$/gm, '').trimEnd()
}

/** Null if the text does not parse. */
function parseWorkflowYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: MOST_ALIASES, logLevel: 'error' })
  } catch {
    return null
  }
}

/** For triggers without filters, such as `create`. */
function renderBranchCondition(prefix: string): string {
  return [`${prefix}/`, `${prefix}-`].map(start => `!startsWith(github.event.ref, '${start}')`).join(' && ')
}

function isTriggered(
  triggers: ReadonlyMap<string, unknown>,
  name: Filtered,
  branches: readonly string[],
): boolean {
  const filter = filters.safeParse(triggers.get(name)).data ?? null
  return triggers.has(name) && branches.some(branch => isFilterMatch(filter, branch))
}

/** True if the trigger fires for every branch, unless each job checks the name. */
function isAlwaysTriggered(
  { on, jobs: all }: z.infer<typeof workflow>,
  name: 'create' | 'delete',
  prefix: string,
): boolean {
  const each = Object.values(all)
  return on.has(name) && (each.length === 0 || !each.every(job => hasNameCondition(job.if, prefix)))
}

function hasNameCondition(condition: unknown, prefix: string): boolean {
  if (typeof condition !== 'string' || condition.includes('||')) return false
  const wanted = renderBranchCondition(prefix).replace(/\s+/g, '')
  return condition.replace(/\s+/g, '').includes(wanted)
}

/** GitHub starts a workflow that filters only tags for no branch. */
function isFilterMatch(filter: z.infer<typeof filters>, branch: string): boolean {
  if (filter === null) return true
  const { branches, 'branches-ignore': ignored, tags, 'tags-ignore': noTags } = filter
  if (branches !== undefined) return isNamed(branches, branch)
  if (ignored !== undefined) return !isNamed(ignored, branch)
  return tags === undefined && noTags === undefined
}

/** The last matching pattern decides. An exclamation mark negates a pattern. */
function isNamed(globs: readonly string[], branch: string): boolean {
  const last = globs.findLast(glob => isBranchMatch(glob.replace(/^!/, ''), branch))
  return last !== undefined && !last.startsWith('!')
}

// Branch patterns

/** One part of a pattern: a set of characters, and how often they may occur. */
interface PatternPart {
  takes: (character: string) => boolean
  optional: boolean
  repeats: boolean
}

/**
 * Matches a branch as GitHub documents filter patterns: `*` and `**`, `?` and `+` for the preceding part,
 * `[]`, and a backslash for a literal character. An invalid pattern matches no branch. Follows all
 * alternatives at once, so the time is bounded for every pattern.
 */
export function isBranchMatch(pattern: string, branch: string): boolean {
  const parts = parsePattern(pattern)
  if (parts === null) return false
  let ends = new Set([0])
  for (const part of parts) ends = matchPart(part, branch, ends)
  return ends.has(branch.length)
}

/** Returns all positions where the part can end if it begins at one of these. */
function matchPart(
  { takes, optional, repeats }: PatternPart,
  branch: string,
  starts: ReadonlySet<number>,
): Set<number> {
  const ends = new Set(optional ? starts : [])
  for (const start of starts) {
    for (let at = start; at < branch.length && takes(branch.charAt(at)); at++) {
      ends.add(at + 1)
      if (!repeats) break
    }
  }
  return ends
}

const TOKEN = /\*\*|\[[^\]]*\]|\\.|[^]/g
const IN_CLASS = /([a-z])-([a-z])|([A-Z])-([A-Z])|(\d)-(\d)|([^])/g

function parsePattern(pattern: string): PatternPart[] | null {
  const parts: PatternPart[] = []
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token === '?' || token === '+') {
      const before = parts.pop()
      if (before === undefined) return null
      parts.push(token === '?' ? { ...before, optional: true } : { ...before, repeats: true })
      continue
    }
    const takes = compileToken(token)
    if (takes === null) return null
    const any = token === '*' || token === '**'
    parts.push({ takes, optional: any, repeats: any })
  }
  return parts
}

function compileToken(token: string): PatternPart['takes'] | null {
  if (token === '**') return () => true
  if (token === '*') return character => character !== '/'
  if (token.startsWith('[')) return compileCharacterClass(token)
  const meant = token.length > 1 && token.startsWith('\\') ? token.slice(1) : token
  return character => character === meant
}

/** Null for an empty class or one without an end. */
function compileCharacterClass(token: string): PatternPart['takes'] | null {
  if (!token.endsWith(']')) return null
  const ranges = [...token.slice(1, -1).matchAll(IN_CLASS)].map(found => {
    const [first = '', last = first] = found.slice(1).filter(end => end !== undefined)
    return { first, last }
  })
  if (ranges.length === 0) return null
  return character => ranges.some(({ first, last }) => first <= character && character <= last)
}
