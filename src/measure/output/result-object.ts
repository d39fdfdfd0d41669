import { z } from 'zod'
import type { MetricValue } from '../../model/report.ts'
import { findDuplicateKey } from './duplicate-key.ts'
import { parseItems } from './items.ts'
import { parseObject } from './object-in-text.ts'
import { toOutputError, MetricCollector, type HarnessOutput } from './printed.ts'

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
type ResultSection = keyof typeof SECTIONS

export const JSON_EXAMPLE = '{"latency_ms": 12.5, "tests_passed": true}'

/** Null when the text is no JSON object at all; an object that breaks the contract is an error. */
export function parseResultObject(text: string, { judged = false } = {}): HarnessOutput | null {
  const object = parseObject(text)
  if (object === null) return null
  const twice = findDuplicateKey(text)
  if (twice !== null)
    throw toOutputError(`"${twice}" is given twice`, findNamingLine(text, twice), JSON_EXAMPLE)
  const metrics = new MetricCollector()
  for (const [name, member] of Object.entries(object)) {
    if (isSection(name)) checkSection(name, member, text)
    else metrics.add(name, checkMetricValue(name, member, text), findNamingLine(text, name), JSON_EXAMPLE)
  }
  addAll(metrics, object['metrics'], text)
  const tasks = values.safeParse(object['tasks']).data
  const artifacts = SECTIONS.artifacts.safeParse(object['artifacts']).data
  return {
    metrics: metrics.all(),
    ...(tasks === undefined ? {} : { tasks: checkScores(tasks, text) }),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(judged && Object.hasOwn(object, 'items') ? { items: parseItems(object['items']) } : {}),
  }
}

function addAll(metrics: MetricCollector, section: unknown, text: string): void {
  for (const [name, member] of Object.entries(values.safeParse(section).data ?? {})) {
    metrics.add(name, checkMetricValue(name, member, text), findNamingLine(text, name), JSON_EXAMPLE)
  }
}

function isSection(name: string): name is ResultSection {
  return Object.hasOwn(SECTIONS, name)
}

function checkSection(name: ResultSection, member: unknown, text: string): void {
  const checked = SECTIONS[name].safeParse(member)
  if (checked.success) return
  const issue = checked.error.issues[0]
  const where = [name, ...(issue?.path ?? []).map(String)].join('.')
  throw toOutputError(
    `"${where}": ${issue?.message ?? 'not understood'}`,
    findNamingLine(text, name),
    JSON_EXAMPLE,
  )
}

/** null is what a JSON writer makes of NaN: printed, and not a number. */
function checkMetricValue(name: string, member: unknown, text: string): MetricValue {
  const parsed = value.safeParse(member)
  if (parsed.success) return parsed.data
  throw toOutputError(`"${name}" is neither a number nor a boolean`, findNamingLine(text, name), JSON_EXAMPLE)
}

/** Invariant 5: a score is a number, so whether true is the better one is the harness's to say. */
function checkScores(
  tasks: Record<string, number | boolean | null>,
  text: string,
): Record<string, number | null> {
  return Object.fromEntries(Object.entries(tasks).map(([id, score]) => [id, checkScore(id, score, text)]))
}

function checkScore(id: string, score: number | boolean | null, text: string): number | null {
  if (typeof score === 'boolean') {
    const example = JSON.stringify({ tasks: { [id]: 1 } })
    throw toOutputError(
      `"tasks.${id}" is ${score}: the score of a task is a number, print 0 or 1`,
      findNamingLine(text, id),
      example,
    )
  }
  return score !== null && Number.isFinite(score) ? score : null
}

/** For people: the last line that names it. */
export function findNamingLine(text: string, name: string): string {
  const quoted = JSON.stringify(name)
  return (
    text
      .split('\n')
      .findLast(line => line.includes(quoted))
      ?.trim() ?? text.trim()
  )
}
