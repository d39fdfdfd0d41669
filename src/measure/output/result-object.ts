import { z } from 'zod'
import type { MetricValue } from '../../model/report.ts'
import { duplicateKey } from './duplicate-key.ts'
import { itemsIn } from './items.ts'
import { parseObject } from './object-in-text.ts'
import { badOutput, Metrics, type Printed } from './printed.ts'

/** Infinity included: JSON has no word for it, but 1e999 reads as it. */
const number = z.custom<number>(member => typeof member === 'number')
const value = z.union([number, z.boolean(), z.null()])
const values = z.record(z.string(), value)
const item = z.looseObject({ id: z.string(), bucket: z.string().optional(), content: z.unknown() })

/** The members that are not metrics. evo's tasks_meta and times are understood, and not needed. */
const SECTIONS = {
  metrics: values,
  tasks: values,
  items: z.array(item),
  singletons: z.array(item),
  artifacts: z.record(z.string(), z.string()),
  tasks_meta: z.record(z.string(), z.unknown()),
  started_at: z.unknown(),
  ended_at: z.unknown(),
} as const
type Section = keyof typeof SECTIONS

export const JSON_EXAMPLE = '{"latency_ms": 12.5, "tests_passed": true}'

/** Null when the text is no JSON object at all; an object that breaks the contract is an error. */
export function parseResultObject(text: string, { judged = false } = {}): Printed | null {
  const object = parseObject(text)
  if (object === null) return null
  const twice = duplicateKey(text)
  if (twice !== null) throw badOutput(`"${twice}" is given twice`, lineWith(text, twice), JSON_EXAMPLE)
  const metrics = new Metrics()
  for (const [name, member] of Object.entries(object)) {
    if (isSection(name)) checkSection(name, member, text)
    else metrics.add(name, metricValueOf(name, member, text), lineWith(text, name), JSON_EXAMPLE)
  }
  addAll(metrics, object['metrics'], text)
  const tasks = values.safeParse(object['tasks']).data
  const artifacts = SECTIONS.artifacts.safeParse(object['artifacts']).data
  return {
    metrics: metrics.all(),
    ...(tasks === undefined ? {} : { tasks: scores(tasks, text) }),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(judged && Object.hasOwn(object, 'items') ? { items: itemsIn(object['items']) } : {}),
  }
}

function addAll(metrics: Metrics, section: unknown, text: string): void {
  for (const [name, member] of Object.entries(values.safeParse(section).data ?? {})) {
    metrics.add(name, metricValueOf(name, member, text), lineWith(text, name), JSON_EXAMPLE)
  }
}

function isSection(name: string): name is Section {
  return Object.hasOwn(SECTIONS, name)
}

function checkSection(name: Section, member: unknown, text: string): void {
  const checked = SECTIONS[name].safeParse(member)
  if (checked.success) return
  const issue = checked.error.issues[0]
  const where = [name, ...(issue?.path ?? []).map(String)].join('.')
  throw badOutput(`"${where}": ${issue?.message ?? 'not understood'}`, lineWith(text, name), JSON_EXAMPLE)
}

/** null is what a JSON writer makes of NaN: printed, and not a number. */
function metricValueOf(name: string, member: unknown, text: string): MetricValue {
  const parsed = value.safeParse(member)
  if (parsed.success) return parsed.data
  throw badOutput(`"${name}" is neither a number nor a boolean`, lineWith(text, name), JSON_EXAMPLE)
}

/** Invariant 5: a score is a number, so whether true is the better one is the harness's to say. */
function scores(tasks: Record<string, number | boolean | null>, text: string): Record<string, number | null> {
  return Object.fromEntries(Object.entries(tasks).map(([id, score]) => [id, scoreOf(id, score, text)]))
}

function scoreOf(id: string, score: number | boolean | null, text: string): number | null {
  if (typeof score === 'boolean') {
    const example = JSON.stringify({ tasks: { [id]: 1 } })
    throw badOutput(
      `"tasks.${id}" is ${score}: the score of a task is a number, print 0 or 1`,
      lineWith(text, id),
      example,
    )
  }
  return score !== null && Number.isFinite(score) ? score : null
}

/** For people: the last line that names it. */
export function lineWith(text: string, name: string): string {
  const quoted = JSON.stringify(name)
  return (
    text
      .split('\n')
      .findLast(line => line.includes(quoted))
      ?.trim() ?? text.trim()
  )
}
