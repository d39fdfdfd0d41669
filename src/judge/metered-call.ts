import { z } from 'zod'
import { hashSha256, tryParseJson } from '../model/canonical-json.ts'
import { toSafeLine } from '../model/text.ts'
import type { Tokens } from './budget.ts'

/** What the harness gets instead of an answer of the endpoint. */
export interface RefusedCall {
  status: number
  code: string
  message: string
}

/** A call of a harness as winnow forwards it. */
export interface CallBody {
  /** Below the address of the endpoint. */
  path: string
  body: string
  model: string
  /** The same for a repeated call. */
  digest: string
  /** Bounds what it can use. */
  most: Tokens
  /** winnow asked for the usage in a stream, and the harness did not. */
  hidesUsage: boolean
}

/** Longer than the longest answer of any model. */
const MOST_ANSWER_TOKENS = 131_072
/** Tokens of the message framing. */
const FRAMING_TOKENS = 100

const naturalSchema = z.number().int().nonnegative()
const callSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: naturalSchema.nullish(),
  best_of: naturalSchema.nullish(),
  prompt: z.unknown().optional(),
  max_tokens: naturalSchema.nullish(),
  max_completion_tokens: naturalSchema.nullish(),
  max_output_tokens: naturalSchema.nullish(),
})

export function parseCall(
  url: string,
  text: string | null,
  models: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>,
): CallBody | RefusedCall {
  if (text === null) return { status: 413, code: 'winnow_too_large', message: 'the request is too large' }
  const { data: call } = callSchema.safeParse(tryParseJson(text))
  if (call === undefined)
    return { status: 400, code: 'winnow_bad_request', message: 'the request is no JSON with a model' }
  const { model } = call
  if (!models.has(model)) {
    const message = `the model ${toSafeLine(model, 100)} is not in models of the spec: ${[...models.keys()].join(', ')}`
    return { status: 404, code: 'model_not_found', message }
  }
  const path = url.replace(/^\/v1/, '')
  const isUsageSent = path === '/responses' || call.stream_options?.include_usage === true
  const hidesUsage = call.stream === true && !isUsageSent
  const options = { stream_options: { ...call.stream_options, include_usage: true } }
  return {
    path,
    model,
    body: hidesUsage ? JSON.stringify({ ...call, ...options }) : text,
    digest: hashSha256(`${path}\n${text}`),
    most: computeMostTokens(path, text, call),
    hidesUsage,
  }
}

/** A token has at least one byte, so bytes bound the input tokens. Endpoints differ in which limit they read. */
function computeMostTokens(path: string, text: string, call: z.output<typeof callSchema>): Tokens {
  const { max_completion_tokens, max_output_tokens, max_tokens, n, best_of } = call
  const limits = [max_completion_tokens, max_output_tokens, max_tokens].flatMap(limit => limit ?? [])
  const limit = limits.length === 0 ? MOST_ANSWER_TOKENS : Math.max(...limits)
  const answers = Math.max(1, n ?? 1, best_of ?? 1) * countPrompts(call.prompt)
  const output = path === '/embeddings' ? 0 : limit * answers
  return { input: Buffer.byteLength(text) + FRAMING_TOKENS, output }
}

/** A list of numbers is one prompt, written as tokens. */
function countPrompts(prompt: unknown): number {
  const isList = Array.isArray(prompt) && prompt.some(each => typeof each !== 'number')
  return isList ? prompt.length : 1
}

// Usage

const chatUsage = z
  .object({ prompt_tokens: naturalSchema, completion_tokens: naturalSchema.default(0) })
  .transform(({ prompt_tokens: input, completion_tokens: output }): Tokens => ({ input, output }))
const responseUsage = z
  .object({ input_tokens: naturalSchema, output_tokens: naturalSchema })
  .transform(({ input_tokens: input, output_tokens: output }): Tokens => ({ input, output }))
const answerSchema = z.looseObject({
  usage: z.union([chatUsage, responseUsage]).nullish().catch(null),
  response: z
    .looseObject({ usage: responseUsage.nullish().catch(null) })
    .nullish()
    .catch(null),
  choices: z.array(z.unknown()).optional().catch(undefined),
})

/** Null where the answer does not tell. */
export function readUsage(value: unknown): Tokens | null {
  const { data } = answerSchema.safeParse(value)
  return data?.usage ?? data?.response?.usage ?? null
}

/** Reads the usage out of server-sent events while they pass. */
export class UsageReader {
  tokens: Tokens | null = null
  /** The stream has said that it ends. */
  isWhole = false
  readonly #hidesUsage: boolean
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(hidesUsage: boolean) {
    this.#hidesUsage = hidesUsage
  }

  /** Returns the events that are complete, without one that only tells a usage that the harness did not ask for. */
  read(chunk: Uint8Array): string {
    const events = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split(/(?<=\r?\n\r?\n)/)
    const last = events.at(-1) ?? ''
    this.#rest = /\r?\n\r?\n$/.test(last) ? '' : (events.pop() ?? '')
    return events.filter(event => this.#shows(event)).join('')
  }

  finish(): string {
    const rest = this.#rest + this.#decoder.decode()
    return this.#shows(rest) ? rest : ''
  }

  #shows(event: string): boolean {
    const data = [...event.matchAll(/^data: ?(.*)$/gm)].map(([, line = '']) => line.trim()).join('\n')
    if (data === '[DONE]') this.isWhole = true
    const value = tryParseJson(data)
    const { data: answer } = answerSchema.safeParse(value)
    if (answer === undefined) return true
    if (answer['type'] === 'response.completed' || answer['type'] === 'response.incomplete')
      this.isWhole = true
    const tokens = readUsage(value)
    if (tokens === null) return true
    this.tokens = tokens
    return !(this.#hidesUsage && answer.choices?.length === 0)
  }
}
