import { z } from 'zod'
import type { HarnessError } from '../../errors.ts'
import { type MetricValue, MOST_FEEDBACK, toFinite } from '../../model/report.ts'
import { MAX_TASK_ID, MAX_TASKS } from '../../model/tasks.ts'
import { toSafeLine } from '../../model/text.ts'
import { isMapping } from '../../spec/rule-context.ts'
import {
  checkText,
  type HarnessOutput,
  MetricCollector,
  NO_TEXTS,
  parseJudgedOutput,
  toOutputError,
} from './harness-output.ts'

/** Includes Infinity: JSON.parse reads 1e999 as Infinity. */
const number = z.custom<number>(member => typeof member === 'number')
const value = z.union([number, z.boolean(), z.null()])
const values = z.record(z.string(), value)
/** No schema reads a member of that name, and a task that is left out would count as good. */
const tasksMember = z
  .unknown()
  .refine(tasks => !isMapping(tasks) || !Object.hasOwn(tasks, '__proto__'), 'no task can be called __proto__')
  .pipe(values)
/** Text is checked for each name: few may be one. */
const printed = z.record(z.string(), z.union([value, z.string()]))
const item = z.looseObject({ id: z.string(), bucket: z.string().optional(), content: z.unknown() })

const directions = {
  max: 'maximize',
  maximize: 'maximize',
  min: 'minimize',
  minimize: 'minimize',
} as const
const taskFacts = z.record(
  z.string(),
  z.looseObject({ direction: z.enum(['max', 'maximize', 'min', 'minimize']).optional() }),
)

/** Members that are not metrics. evo's times are accepted and ignored. */
const SECTIONS = {
  metrics: printed,
  tasks: tasksMember,
  items: z.array(item),
  singletons: z.array(item),
  artifacts: z.record(z.string(), z.string()),
  tasks_meta: taskFacts,
  started_at: z.unknown(),
  ended_at: z.unknown(),
} as const
type ResultSection = keyof typeof SECTIONS

const FEEDBACK = 'feedback'
const MOST_TEXTS = 30

/** A text about the whole run has no name. A number of that name is a metric. */
const feedbackMember = z
  .union([z.string().transform(text => ({ '': text })), z.record(z.string(), z.string())])
  .transform(texts =>
    Object.fromEntries(
      Object.entries(texts)
        .slice(0, MOST_TEXTS)
        .map(([name, text]) => [name, toSafeLine(text, MOST_FEEDBACK)]),
    ),
  )

export const JSON_EXAMPLE = '{"latency_ms": 12.5, "tests_passed": true}'

/** Null if the text is no JSON object. An object that breaks the contract is an error. */
export function parseResultObject(
  text: string,
  { judged = false, texts = NO_TEXTS }: { judged?: boolean; texts?: ReadonlySet<string> } = {},
): HarnessOutput | null {
  const object = parseObject(text)
  if (object === null) return null
  const twice = findDuplicateKey(text)
  if (twice !== null)
    throw toOutputError(`"${twice}" is given twice`, findNamingLine(text, twice), JSON_EXAMPLE)
  const metrics = new MetricCollector()
  const add = (name: string, member: unknown, where = name) => {
    const line = findNamingLine(text, name)
    metrics.add(name, checkMetricValue({ name, where, line }, member, texts), line, JSON_EXAMPLE)
  }
  const feedback = judged ? undefined : feedbackMember.safeParse(object[FEEDBACK]).data
  for (const [name, member] of Object.entries(object)) {
    if (name === FEEDBACK && feedback !== undefined) continue
    if (isSection(name)) checkSection(name, member, text)
    else if (!judged || name !== 'summaries') add(name, member)
  }
  for (const [name, member] of Object.entries(printed.safeParse(object['metrics']).data ?? {}))
    add(name, member, `metrics.${name}`)
  const tasks = values.safeParse(object['tasks']).data
  const artifacts = SECTIONS.artifacts.safeParse(object['artifacts']).data
  const items = judged ? parseJudgedOutput(object) : undefined
  return {
    metrics: metrics.all(),
    ...(tasks === undefined ? {} : { tasks: checkScores(tasks, text) }),
    ...readTaskFacts(object, tasks ?? {}),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(feedback === undefined ? {} : { feedback }),
    ...(items === undefined ? {} : { items }),
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
  const what = `"${where}": ${issue?.message ?? 'not understood'}`
  throw toOutputError(what, findNamingLine(text, name), JSON_EXAMPLE)
}

/** JSON writers print NaN as null, so null is a printed value that is not a number. */
function checkMetricValue(
  { name, where, line }: { name: string; where: string; line: string },
  member: unknown,
  texts: ReadonlySet<string>,
): MetricValue {
  const parsed = value.safeParse(member)
  if (parsed.success) return parsed.data
  if (typeof member === 'string' && texts.has(name)) return checkText(name, member, line)
  const compared = typeof member === 'string' ? '; only a metric gate "== base" compares text' : ''
  throw toOutputError(`"${where}" is neither a number nor a boolean${compared}`, line, JSON_EXAMPLE)
}

/** Directions of tasks that the harness also printed. */
function readTaskFacts(
  object: Record<string, unknown>,
  tasks: z.infer<typeof values>,
): Pick<HarnessOutput, 'tasks_meta'> {
  const printed = Object.entries(taskFacts.safeParse(object['tasks_meta']).data ?? {})
  const facts = printed.flatMap(([id, { direction }]) =>
    direction === undefined || !Object.hasOwn(tasks, id) ? [] : [[id, { direction: directions[direction] }]],
  )
  return facts.length === 0 ? {} : { tasks_meta: Object.fromEntries(facts) }
}

/** Invariant 5: a score is a number. Only the harness knows whether true is better. */
function checkScores(tasks: z.infer<typeof values>, text: string): Record<string, number | null> {
  const ids = Object.keys(tasks)
  const long = ids.find(id => id.length > MAX_TASK_ID)
  if (ids.length > MAX_TASKS || long !== undefined) {
    const what =
      long === undefined
        ? `"tasks" has ${ids.length} tasks, more than ${MAX_TASKS}`
        : `a task has an id of ${long.length} characters, more than ${MAX_TASK_ID}`
    throw toOutputError(what, '', JSON.stringify({ tasks: { t1: 0.5 } }))
  }
  const check = (id: string, score: MetricValue): number | null => {
    if (typeof score !== 'boolean') return toFinite(score)
    const what = `"tasks.${id}" is ${score}: the score of a task is a number, print 0 or 1`
    throw toOutputError(what, findNamingLine(text, id), JSON.stringify({ tasks: { [id]: 1 } }))
  }
  return Object.fromEntries(Object.entries(tasks).map(([id, score]) => [id, check(id, score)]))
}

/** The last line that contains the name, for error messages. */
export function findNamingLine(text: string, name: string): string {
  const quoted = JSON.stringify(name)
  const line = text.split('\n').findLast(each => each.includes(quoted))
  return (line ?? text).trim()
}

/** The JSON object in a text, with or without other lines before and after it. Null if there is none. */
export function findJsonObject(text: string): Record<string, unknown> | null {
  return findObjectLines(text)?.object ?? null
}

interface ObjectLines {
  object: Record<string, unknown>
  before: string[]
  after: string[]
}

function findObjectLines(text: string): ObjectLines | null {
  const lines = text.split(/\r?\n/)
  const first = lines.findIndex(line => line.trimStart().startsWith('{'))
  const last = lines.findLastIndex(line => line.trimEnd().endsWith('}'))
  if (first === -1) return null
  const object = parseObject(lines.slice(first, last + 1).join('\n'))
  return object === null ? null : { object, before: lines.slice(0, first), after: lines.slice(last + 1) }
}

/** Parses without a schema: zod drops a member called __proto__, and every printed member must be seen. */
function parseObject(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return isMapping(parsed) ? parsed : null
  } catch {
    // Not JSON, so the text is a log.
    return null
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** JSON.parse silently keeps the last of two equal keys. A result with a duplicate key is ambiguous. */
export function findDuplicateKey(json: string): string | null {
  const open: (Set<string> | null)[] = []
  let pending: string | null = null
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':' && pending !== null) {
      const keys = open.at(-1)
      if (keys?.has(pending)) return pending
      keys?.add(pending)
    }
    pending = token.startsWith('"') ? String(JSON.parse(token)) : null
  }
  return null
}

// Explanations of invalid results

/** Explains why an attempted result is invalid. Null if no object is recognizable. */
export function explainAlmostResult(text: string, example: string): HarnessError | null {
  return explainNonNumbers(text, example) ?? explainOtherLines(text, example)
}

/** The first group comes first for its speed: looking back from each of a million blanks takes hours. */
const NOT_JSON = /(?=[-ni])(?<=[:[,]\s*)-?(?:NaN|Infinity)\b/i

/** Python and C print NaN and Infinity, which are not JSON. */
function explainNonNumbers(text: string, example: string): HarnessError | null {
  const [word] = NOT_JSON.exec(text) ?? []
  if (word === undefined || parseObject(text.replaceAll(new RegExp(NOT_JSON, 'gi'), 'null')) === null)
    return null
  const line = text.split('\n').find(each => NOT_JSON.test(each)) ?? text
  return toOutputError(`${word} is not valid JSON and cannot be compared`, line.trim(), example)
}

/** Package managers print a banner before the command they run, and build tools a line after it. */
function explainOtherLines(text: string, example: string): HarnessError | null {
  const found = findObjectLines(text)
  if (found === null) return null
  const before = found.before.find(line => line.trim() !== '')
  const other = before ?? found.after.find(line => line.trim() !== '')
  if (other === undefined) return null
  const what = `another line is printed ${before === undefined ? 'after' : 'before'} the JSON object`
  const instead = 'print the object alone, or write it to $WINNOW_RESULT_PATH, or print METRIC lines'
  const silent = other.trim().startsWith('> ') ? ' (npm run --silent prints no banner)' : ''
  return toOutputError(`${what}: ${instead}${silent}`, other.trim(), example)
}
