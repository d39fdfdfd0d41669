import { toUSVString } from 'node:util'
import { z } from 'zod'
import { listDecisiveMetrics } from '../../decide/metrics.ts'
import { HarnessError } from '../../errors.ts'
import { toCanonicalJson } from '../../model/canonical-json.ts'
import { type MetricValue, type MetricValues, MOST_TEXT } from '../../model/report.ts'
import type { TaskFacts, TaskScores } from '../../model/tasks.ts'
import { BUILT_IN_METRICS, parseGateCheck } from '../../spec/schema-values.ts'
import type { Spec } from '../../spec/schema.ts'

export interface HarnessOutput {
  metrics: MetricValues
  tasks?: TaskScores
  tasks_meta?: TaskFacts
  artifacts?: Record<string, string>
  /** What went wrong, by task. Epochs read it. */
  feedback?: Record<string, string>
  /** Present if a judge scores them. */
  items?: Item[]
}

export const NO_OUTPUT: HarnessOutput = { metrics: {} }
const LINE_CHARACTERS = 200
const MAX_METRICS = 10_000

export function toOutputError(what: string, line: string, example: string): HarnessError {
  return new HarnessError(what, { line: line.slice(0, LINE_CHARACTERS), example })
}

/** Refuses a second value for a name, and names of metrics that winnow measures itself. */
export class MetricCollector {
  readonly #values = new Map<string, MetricValue>()

  add(name: string, value: MetricValue, line: string, example: string): void {
    if (BUILT_IN_METRICS.has(name)) {
      const what = `${name} is measured by winnow and cannot be printed: choose another name`
      throw toOutputError(what, line, example)
    }
    if (this.#values.has(name)) throw toOutputError(`${name} is given twice`, line, example)
    if (this.#values.size >= MAX_METRICS)
      throw toOutputError(`more than ${MAX_METRICS} metrics`, line, example)
    // Infinity and NaN are printed values, but not comparable numbers (invariant 5).
    this.#values.set(name, typeof value === 'number' && !Number.isFinite(value) ? null : value)
  }

  all(): MetricValues {
    return Object.fromEntries(this.#values)
  }
}

// Text

export const NO_TEXTS: ReadonlySet<string> = new Set()

/** Only `== base` compares text, so any other metric has to be a number or a boolean. */
export function listTextMetrics({ metric }: Pick<Spec, 'metric'>): ReadonlySet<string> {
  const gates = metric.degenerate_gates.filter(({ check }) => parseGateCheck(check)?.value === 'base')
  // The status of a run is part of its loss.
  const status = metric.primary.type === 'loss' ? ['status'] : []
  return new Set([...gates.map(({ name }) => name), ...status])
}

export function checkText(name: string, text: string, line: string): string {
  if (text.length <= MOST_TEXT) return text
  const what = `${name} is a text of ${text.length} characters, more than ${MOST_TEXT}: print a digest of it`
  throw toOutputError(what, line, JSON.stringify({ [name]: '9f86d081884c7d65' }))
}

// Items

/** A judge could not weigh a longer item, and the ledger should not store it. */
export const MOST_CONTENT = 50_000
const MOST_ITEMS = 10_000
const MOST_ID = 500

const id = z
  .string()
  .min(1)
  .max(MOST_ID)
  // Scores are stored under the id, and no schema reads a member of that name.
  .refine(given => given !== '__proto__', 'no item can be called that')
const bucket = z.string().max(MOST_ID)

/** An item for a judge. Its content is untrusted, also when another job hands it over. */
export const item = z.strictObject({
  id,
  bucket: bucket.nullable(),
  content: z.string().max(MOST_CONTENT),
  /** singleton: scored by a rubric of its own. summary: shown beside singletons, not scored. Absent: an item. */
  kind: z.enum(['singleton', 'summary']).optional(),
  /** Only for labels: the score that people gave. */
  score: z.number().optional(),
})
export type Item = z.infer<typeof item>

const printed = z.looseObject({
  id,
  bucket: bucket.nullish(),
  content: z.unknown().refine(content => content !== undefined, 'nothing to score'),
})

export const ITEMS_EXAMPLE = '{"items": [{"id": "q1", "bucket": "long", "content": "…"}]}'

/** The items, singletons and summary of one harness output. Undefined if it prints no items. */
export function parseJudgedOutput(object: Readonly<Record<string, unknown>>): Item[] | undefined {
  if (!Object.hasOwn(object, 'items')) return undefined
  const { items, singletons = [], summaries } = object
  return [
    ...parseItems(items),
    ...parseItems(singletons, 'singletons').map((each): Item => ({ ...each, kind: 'singleton' })),
    ...(summaries === undefined ? [] : [toSummary(summaries)]),
  ]
}

function toSummary(summaries: unknown): Item {
  const content = toContent(summaries, 'summaries')
  return { id: 'summaries', bucket: null, content, kind: 'summary' }
}

/** Reads the `items` or `singletons` of a harness. An item that cannot be judged is a harness error. */
export function parseItems(member: unknown, called: 'items' | 'singletons' = 'items'): Item[] {
  if (!Array.isArray(member)) throw toItemError(called, 'has to be an array')
  if (member.length > MOST_ITEMS) throw toItemError(called, `has more than ${MOST_ITEMS} items`)
  const items = member.map((each, index) => parseItem(each, `${called}.${index}`))
  const ids = new Set<string>()
  for (const { id } of items) {
    if (ids.has(id)) throw toItemError(called, `has the id ${JSON.stringify(id)} twice`)
    ids.add(id)
  }
  return items
}

function parseItem(each: unknown, where: string): Item {
  const parsed = printed.safeParse(each)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const path = [where, ...(issue?.path ?? [])].map(String).join('.')
    throw toItemError(path, issue?.message ?? 'is not understood')
  }
  const { id: name, bucket: stratum, content } = parsed.data
  return { id: name, bucket: stratum ?? null, content: toContent(content, where) }
}

function toContent(given: unknown, where: string): string {
  const text = typeof given === 'string' ? given : toCanonicalJson(given)
  if (text.length > MOST_CONTENT)
    throw toItemError(where, `has ${text.length} characters of content, more than ${MOST_CONTENT}`)
  // Endpoints refuse a whole question with a lone surrogate in it.
  return toUSVString(text)
}

function toItemError(where: string, what: string): HarnessError {
  return new HarnessError(`"${where}": ${what}`, { example: ITEMS_EXAMPLE })
}

// Booleans

/**
 * Invariant 5: `false` is not the number 0, so a boolean is legal only for a gate, or for a constraint with a
 * boolean on its right side. Metrics that the spec does not name decide nothing and may be booleans.
 */
export function refuseBooleans(printed: HarnessOutput, spec: Spec): HarnessOutput {
  for (const name of listNumericMetrics(spec)) {
    const value = Object.hasOwn(printed.metrics, name) ? printed.metrics[name] : undefined
    if (typeof value !== 'boolean') continue
    throw toOutputError(
      `${name} is ${value}, but the spec needs a number: only metric.degenerate_gates and constraints such as "== true" take booleans`,
      JSON.stringify({ [name]: value }),
      JSON.stringify({ [name]: 12.5 }),
    )
  }
  return printed
}

/** Pairs of all tasks are compared as one metric, so more has to be better in each of them, or in none. */
export function refuseOtherDirections(
  printed: HarnessOutput,
  { metric: { primary }, measurement: { per_case } }: Pick<Spec, 'metric' | 'measurement'>,
): HarnessOutput {
  if (per_case !== true) return printed
  const facts = Object.entries(printed.tasks_meta ?? {})
  const [other] = facts.find(([, { direction }]) => direction !== primary.direction) ?? []
  if (other === undefined) return printed
  const what = `"tasks_meta.${other}" has another direction than ${primary.name} (${primary.direction}), and measurement.per_case compares all tasks alike: print its score with the opposite sign`
  throw toOutputError(what, '', JSON.stringify({ tasks: { [other]: 0.5 } }))
}

function listNumericMetrics(spec: Spec): Set<string> {
  const { degenerate_gates: gates, constraints, objectives, diagnostics } = spec.metric
  const takesBooleans = new Set([
    ...gates.map(({ name }) => name),
    ...constraints.filter(({ value }) => typeof value === 'boolean').map(({ metric }) => metric),
  ])
  return new Set([
    ...listDecisiveMetrics(spec),
    ...objectives.map(({ name }) => name),
    ...constraints.filter(({ value }) => typeof value === 'number').map(({ metric }) => metric),
    ...gates.filter(({ check }) => isNumberNeeded(check)).map(({ name }) => name),
    ...diagnostics.map(({ name }) => name).filter(name => !takesBooleans.has(name)),
  ])
}

/** `coverage >= 0.95` expects a share: `true` would pass it without any coverage. */
function isNumberNeeded(check: string): boolean {
  const wanted = parseGateCheck(check)
  return typeof wanted?.value === 'number' && ![0, 1].includes(wanted.value)
}
