import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { type ErrorPlace, getExitCode, UserError } from '../errors.ts'
import { escapeMarkdown, neutralizeWorkflowCommands, toPlainText } from '../report/markdown.ts'
import type { ActionEnv } from './inputs.ts'

/** The outputs of action.yml. All are always set, also after a failure: a workflow need not ask which there are. */
export const OUTPUTS = [
  'result-json',
  'report',
  'artifact',
  'partial',
  'campaign',
  'orders',
  'propose',
  'judge',
  'items',
] as const
export type Outputs = Readonly<Partial<Record<(typeof OUTPUTS)[number], string>>>

/**
 * Written anew and not appended: whatever else stands in the file, no code of ours has put there. Paths and names are
 * ours, for the steps that follow: a password that is a word of one of them is no reason to change it.
 */
export function setOutputs(env: ActionEnv, outputs: Outputs): void {
  clearStepFiles(env)
  const { GITHUB_OUTPUT: file = '' } = env
  if (file === '') return
  const told = { ...outputs, 'result-json': fitJson(redactJson(outputs['result-json'] ?? '')) }
  const lines = OUTPUTS.map(name => {
    const end = `winnow-${randomUUID()}`
    return `${name}<<${end}\n${told[name] ?? ''}\n${end}\n`
  })
  writeFileSync(file, lines.join(''))
}

/**
 * A step of ours sets no variable, no path and no state. Whoever ran as this user may have: the runner would hand that
 * to the next step, which holds tokens.
 */
function clearStepFiles(env: ActionEnv): void {
  for (const name of ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STATE']) {
    const file = env[name] ?? ''
    if (file !== '') writeFileSync(file, '')
  }
}

/** Above this GitHub drops the whole summary of a step. */
const MOST_SUMMARY_BYTES = 1024 * 1024
const CUT = '\n… (cut here: GitHub takes no more in a summary)\n'

export function appendSummary({ GITHUB_STEP_SUMMARY: file = '' }: ActionEnv, markdown: string): void {
  if (file === '') return
  const used = existsSync(file) ? statSync(file).size : 0
  const room = MOST_SUMMARY_BYTES - used - Buffer.byteLength(CUT)
  const text = `${redactText(markdown)}\n`
  if (Buffer.byteLength(text) <= room) return appendFileSync(file, text)
  if (room > 0) appendFileSync(file, `${takeWholeLines(text, room)}${CUT}`)
}

/** As many as these bytes hold; at least none. */
function takeWholeLines(text: string, bytes: number): string {
  const held = Buffer.from(text).subarray(0, bytes).toString('utf8')
  return held.slice(0, Math.max(0, held.lastIndexOf('\n')))
}

/** For a log that a runner reads along: text stays text. */
export function toLogLine(text: string): string {
  return redactText(neutralizeWorkflowCommands(toPlainText(text)))
}

const secrets = new Set<string>()

/** Whatever this process prints from here on, these are not in it. Whoever started it has told the runner. */
export function addSecrets(values: readonly string[]): void {
  for (const value of values) if (value !== '') secrets.add(value)
}

/**
 * Whatever is printed from here on, these are not in it. The runner is told as well: what other steps of the job
 * print is theirs, and it knows the job's own token by one of its forms alone.
 */
export function hideSecrets(values: readonly string[]): void {
  for (const value of new Set(values.filter(each => each !== '' && !secrets.has(each)))) {
    secrets.add(value)
    console.log(`::add-mask::${escapeCommandText(value)}`)
  }
}

/** Also as a summary has them, whose marks are taken apart. */
export function redactText(text: string): string {
  return redactValues(text, [...secrets])
}

function redactValues(text: string, values: readonly string[]): string {
  const known = values.flatMap(secret => [secret, escapeMarkdown(secret, secret.length)])
  // The longest first: one may lie in another.
  const inOrder = known.toSorted((a, b) => b.length - a.length)
  return inOrder.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}

/** What programs read stays what it is: texts alone are changed, and never its form. */
export function redactJson(json: string, indent?: number): string {
  const value = parseJsonText(json)
  return value === undefined ? redactText(json) : JSON.stringify(redactNested(value), null, indent)
}

function redactNested(value: unknown): unknown {
  if (typeof value === 'string')
    return isSentence(value) ? redactText(value) : redactValues(value, listLongSecrets())
  if (Array.isArray(value)) return value.map(redactNested)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redactNested(each)]))
}

/** Of several words, or an address; anything else is a name, an id or a path. */
function isSentence(text: string): boolean {
  return /\s|:\/\//.test(text)
}

/** No token is shorter than this. A shorter password stands in names and ids by chance. */
const TOKEN_LENGTH = 12

function listLongSecrets(): string[] {
  return [...secrets].filter(({ length }) => length >= TOKEN_LENGTH)
}

/** What is said until the end of it is shown under this name, and folded away. */
export async function logGroup<T>(name: string, work: () => Promise<T>): Promise<T> {
  console.log(`::group::${escapeCommandText(toLogLine(name))}`)
  try {
    return await work()
  } finally {
    console.log('::endgroup::')
  }
}

/** An annotation: whatever is in it, the runner is told nothing else by it. */
export function renderAnnotation(
  level: 'error' | 'notice' | 'warning',
  message: string,
  place: ErrorPlace = {},
): string {
  const properties = [
    ['file', place.file],
    ['line', place.line],
    ['title', 'winnow'],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${escapeProperty(String(value))}`]))
  return `::${level} ${properties.join(',')}::${escapeCommandText(redactText(toPlainText(message)).slice(0, 4000))}`
}

function escapeCommandText(text: string): string {
  return text
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A')
    .replaceAll('##[', '##%5B')
}

function escapeProperty(text: string): string {
  return escapeCommandText(toPlainText(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

/** What went wrong as an annotation and in the summary, and the exit code it has everywhere. */
export function reportFailure(env: ActionEnv, error: unknown, others: Outputs = {}): number {
  const message = redactText(error instanceof Error ? error.message : String(error))
  const fix = error instanceof UserError && error.fix !== undefined ? `\nfix: ${error.fix}` : ''
  console.log(renderAnnotation('error', `${message}${fix}`, error instanceof UserError ? error.place : {}))
  appendSummary(
    env,
    `**error** ${`${message}${fix}`
      .split('\n')
      .map(text => escapeMarkdown(text))
      .join(' ')}`,
  )
  setOutputs(env, { ...others, 'result-json': JSON.stringify({ error: toPlainText(message) }) })
  return getExitCode(error)
}

/** GitHub takes 1 MB of outputs of a job, of two bytes a character; the other outputs are short. */
export const MOST_CHARACTERS = 480_000

interface TruncationStage {
  /** Characters of a text. */
  text: number
  /** Entries of a list, or of an object below the first one. */
  entries: number
}

/** From one to the next more is left out, until the rest fits. */
const STAGES: readonly TruncationStage[] = [
  { text: 2_000, entries: 10_000 },
  { text: 1_000, entries: 1_000 },
  { text: 300, entries: 100 },
  { text: 100, entries: 10 },
]
const LAST: TruncationStage = { text: 100, entries: 100 }

/**
 * The answer of a command as an output can hold it: JSON as before, and where it was too long, less of it, which `cut`
 * says.
 */
export function fitJson(json: string): string {
  if (json.length <= MOST_CHARACTERS) return json
  const value = parseJsonText(json) ?? json
  for (const stage of STAGES) {
    const shorter = JSON.stringify({
      ...toObject(truncateValue(value, stage, true)),
      cut: describeTruncation(stage),
    })
    if (shorter.length <= MOST_CHARACTERS) return shorter
  }
  return JSON.stringify({ ...keepPlainValues(value), cut: 'everything but plain values of the first level' })
}

/** Undefined for what is no JSON: nothing, or words for a person. */
export function parseJsonText(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function describeTruncation({ text, entries }: TruncationStage): string {
  return `texts after ${text} characters, lists and lower objects after ${entries} entries`
}

/** A list, or a text, has no room for a word beside it. */
function toObject(value: unknown): object {
  return isObject(value) ? value : { result: value }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function truncateValue(value: unknown, stage: TruncationStage, first = false): unknown {
  if (typeof value === 'string') return cutText(value, stage.text)
  if (Array.isArray(value)) return value.slice(0, stage.entries).map(each => truncateValue(each, stage))
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  const kept = first ? entries : entries.slice(0, stage.entries)
  return Object.fromEntries(kept.map(([key, each]) => [key, truncateValue(each, stage)]))
}

function cutText(text: string, most: number): string {
  // Half a character is none.
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\u{D800}-\u{DBFF}]$/u, '')}…`
}

function keepPlainValues(value: unknown): object {
  const entries = Object.entries(toObject(value)).filter(
    ([key, each]) => key.length <= LAST.text && (typeof each !== 'object' || each === null),
  )
  return Object.fromEntries(
    entries.slice(0, LAST.entries).map(([key, each]) => [key, truncateValue(each, LAST)]),
  )
}
