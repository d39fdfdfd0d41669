import { statSync, writeFileSync } from 'node:fs'
import { error as printError, setOutput, setSecret, summary } from '@actions/core'
import { type ErrorPlace, getExitCode, UserError } from '../errors.ts'
import { toPlainText } from '../model/text.ts'
import { escapeMarkdown, neutralizeWorkflowCommands } from '../report/markdown.ts'

/** Output names of action.yml. Every command sets all of them, also after a failure. */
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
  'ledger',
] as const
export type Outputs = Readonly<Partial<Record<(typeof OUTPUTS)[number], string>>>

/** Redacts only result-json: paths and names are ours, and a password may equal a word of one. */
export function setOutputs(outputs: Outputs): void {
  clearStepFiles()
  // Without this file, the toolkit would print the outputs.
  if (!process.env['GITHUB_OUTPUT']) return
  const values = { ...outputs, 'result-json': fitJson(redactJson(outputs['result-json'] ?? '')) }
  for (const name of OUTPUTS) setOutput(name, values[name] ?? '')
}

/**
 * Our steps set no variables, paths or state. Experiment code that ran as this user may have written to these
 * files, and the runner would pass that to the next step, which holds tokens.
 */
function clearStepFiles(): void {
  for (const name of ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STATE']) {
    const file = process.env[name] ?? ''
    if (file !== '') writeFileSync(file, '')
  }
}

// Summary

/** GitHub drops the whole summary of a step above this size. */
const MOST_SUMMARY_BYTES = 1024 * 1024
const CUT = '\n… (cut here: GitHub takes no more in a summary)\n'

export function appendSummary(markdown: string): void {
  summary.addRaw(`${redactText(markdown)}\n`)
}

/** Every process of a step writes its summary once, at its end. */
export async function writeSummary(): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file = '' } = process.env
  if (file === '' || summary.isEmptyBuffer()) return
  const text = summary.stringify()
  const remaining = MOST_SUMMARY_BYTES - statSync(file).size - Buffer.byteLength(CUT)
  if (Buffer.byteLength(text) > remaining)
    summary.emptyBuffer().addRaw(remaining > 0 ? `${takeWholeLines(text, remaining)}${CUT}` : '')
  await summary.write()
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

/** For a process whose parent has already masked these values in the log. */
export function addSecrets(values: readonly string[]): void {
  for (const value of values) if (value !== '') secrets.add(value)
}

/** Also masks the values at the runner, which knows only one form of the job's token. */
export function hideSecrets(values: readonly string[]): void {
  for (const value of new Set(values.filter(each => each !== '' && !secrets.has(each)))) {
    secrets.add(value)
    setSecret(value)
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
  if (typeof value === 'string') {
    // Text with spaces, or a URL. Other strings are names, ids or paths.
    if (/\s|:\/\//.test(value)) return redactText(value)
    const tokens = [...secrets].filter(({ length }) => length >= TOKEN_LENGTH)
    return redactValues(value, tokens)
  }
  if (Array.isArray(value)) return value.map(redactNested)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redactNested(each)]))
}

/** Every token is at least this long. Shorter passwords occur in names and ids by chance. */
const TOKEN_LENGTH = 12

// Failures

/** The toolkit escapes line breaks, and `toLogLine` neutralizes commands that the runner would find after them. */
export function printAnnotation(message: string, { file, line }: ErrorPlace = {}): void {
  printError(toLogLine(message).slice(0, 4000), {
    title: 'winnow',
    ...(file === undefined ? {} : { file: toLogLine(file) }),
    ...(line === undefined ? {} : { startLine: line }),
  })
}

/** Prints an annotation, adds the error to the summary, sets the outputs and returns the exit code. */
export function reportFailure(error: unknown, others: Outputs = {}): number {
  const message = redactText(error instanceof Error ? error.message : String(error))
  const fix = error instanceof UserError && error.fix !== undefined ? `\nfix: ${error.fix}` : ''
  printAnnotation(`${message}${fix}`, error instanceof UserError ? error.place : {})
  const lines = `${message}${fix}`.split('\n').map(text => escapeMarkdown(text))
  appendSummary(`**error** ${lines.join(' ')}`)
  setOutputs({ ...others, 'result-json': JSON.stringify({ error: toPlainText(message) }) })
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
    const cut = `texts after ${stage.text} characters, lists and lower objects after ${stage.entries} entries`
    const shorter = JSON.stringify({ ...toObject(truncateValue(value, stage, true)), cut })
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

/** A list or a text cannot hold the member `cut`. */
function toObject(value: unknown): object {
  return isObject(value) ? value : { result: value }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function truncateValue(value: unknown, stage: TruncationStage, first = false): unknown {
  if (typeof value === 'string') {
    // Do not cut a surrogate pair in half.
    const kept = value.slice(0, stage.text).replace(/[\u{D800}-\u{DBFF}]$/u, '')
    return value.length <= stage.text ? value : `${kept}…`
  }
  if (Array.isArray(value)) return value.slice(0, stage.entries).map(each => truncateValue(each, stage))
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  const kept = first ? entries : entries.slice(0, stage.entries)
  return Object.fromEntries(kept.map(([key, each]) => [key, truncateValue(each, stage)]))
}

function keepPlainValues(value: unknown): object {
  const entries = Object.entries(toObject(value)).filter(
    ([key, each]) => key.length <= LAST.text && (typeof each !== 'object' || each === null),
  )
  return Object.fromEntries(
    entries.slice(0, LAST.entries).map(([key, each]) => [key, truncateValue(each, LAST)]),
  )
}
