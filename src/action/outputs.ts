import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { type ErrorPlace, getExitCode, UserError } from '../errors.ts'
import { escapeMarkdown, neutralizeWorkflowCommands, toPlainText } from '../report/markdown.ts'
import type { ActionEnv } from './inputs.ts'

/**
 * Output names of action.yml. Every command sets all of them, also after a failure, so workflows need no
 * existence checks.
 */
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
 * Overwrites the file, because code other than ours may have written to it. Redacts only result-json: paths
 * and names are ours, and a password may equal a word of one.
 */
export function setOutputs(env: ActionEnv, outputs: Outputs): void {
  clearStepFiles(env)
  const { GITHUB_OUTPUT: file = '' } = env
  if (file === '') return
  const values = { ...outputs, 'result-json': fitJson(redactJson(outputs['result-json'] ?? '')) }
  const lines = OUTPUTS.map(name => {
    const end = `winnow-${randomUUID()}`
    return `${name}<<${end}\n${values[name] ?? ''}\n${end}\n`
  })
  writeFileSync(file, lines.join(''))
}

/**
 * Our steps set no variables, paths or state. Experiment code that ran as this user may have set some, and
 * the runner would pass them to the next step, which holds tokens.
 */
function clearStepFiles(env: ActionEnv): void {
  for (const name of ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STATE']) {
    const file = env[name] ?? ''
    if (file !== '') writeFileSync(file, '')
  }
}

// Summary

/** GitHub drops the whole summary of a step above this size. */
const MOST_SUMMARY_BYTES = 1024 * 1024
const CUT = '\n… (cut here: GitHub takes no more in a summary)\n'

export function appendSummary({ GITHUB_STEP_SUMMARY: file = '' }: ActionEnv, markdown: string): void {
  if (file === '') return
  const used = existsSync(file) ? statSync(file).size : 0
  const remaining = MOST_SUMMARY_BYTES - used - Buffer.byteLength(CUT)
  const text = `${redactText(markdown)}\n`
  if (Buffer.byteLength(text) <= remaining) return appendFileSync(file, text)
  if (remaining > 0) appendFileSync(file, `${takeWholeLines(text, remaining)}${CUT}`)
}

function takeWholeLines(text: string, bytes: number): string {
  const held = Buffer.from(text).subarray(0, bytes).toString('utf8')
  return held.slice(0, Math.max(0, held.lastIndexOf('\n')))
}

// Log lines and secrets

/** Redacts secrets and neutralizes workflow commands, because the runner parses the log. */
export function toLogLine(text: string): string {
  return redactText(neutralizeWorkflowCommands(toPlainText(text)))
}

const secrets = new Set<string>()

/** For a process whose parent has already masked these values at the runner. */
export function addSecrets(values: readonly string[]): void {
  for (const value of values) if (value !== '') secrets.add(value)
}

/**
 * Also masks the values at the runner: other steps of the job may print them, and the runner knows only one
 * form of the job's token.
 */
export function hideSecrets(values: readonly string[]): void {
  for (const value of new Set(values.filter(each => each !== '' && !secrets.has(each)))) {
    secrets.add(value)
    console.log(`::add-mask::${escapeCommandText(value)}`)
  }
}

/** Also redacts secrets in the Markdown-escaped form that summaries use. */
export function redactText(text: string): string {
  return redactValues(text, [...secrets])
}

function redactValues(text: string, values: readonly string[]): string {
  const known = values.flatMap(secret => [secret, escapeMarkdown(secret, secret.length)])
  // Longest first: a secret may contain another one.
  const inOrder = known.toSorted((a, b) => b.length - a.length)
  return inOrder.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}

/** Redacts texts only and keeps the structure, because programs read it. */
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

/** Text with spaces, or a URL. Other strings are names, ids or paths. */
function isSentence(text: string): boolean {
  return /\s|:\/\//.test(text)
}

/** Every token is at least this long. Shorter passwords occur in names and ids by chance. */
const TOKEN_LENGTH = 12

function listLongSecrets(): string[] {
  return [...secrets].filter(({ length }) => length >= TOKEN_LENGTH)
}

// Workflow commands

/** GitHub folds the lines that `work` prints under this name. */
export async function logGroup<T>(name: string, work: () => Promise<T>): Promise<T> {
  console.log(`::group::${escapeCommandText(toLogLine(name))}`)
  try {
    return await work()
  } finally {
    console.log('::endgroup::')
  }
}

/** Escapes the message, so that it cannot contain another workflow command. */
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

/** Prints an annotation, adds the error to the summary, sets the outputs and returns the exit code. */
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

// Size of outputs

/** GitHub allows 1 MB of outputs per job at two bytes a character. The other outputs are short. */
export const MOST_CHARACTERS = 480_000

interface TruncationStage {
  text: number
  /** Entries of a list, or of an object below the first level. */
  entries: number
}

/** Each stage keeps less. The first one whose result fits is used. */
const STAGES: readonly TruncationStage[] = [
  { text: 2_000, entries: 10_000 },
  { text: 1_000, entries: 1_000 },
  { text: 300, entries: 100 },
  { text: 100, entries: 10 },
]
const LAST: TruncationStage = { text: 100, entries: 100 }

/** Shortens JSON to the size of an output. The member `cut` says what was left out. */
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

/** Undefined: not JSON. */
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

/** A list or a text cannot hold the member `cut`. */
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
  // Do not cut a surrogate pair in half.
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
