import { z } from 'zod'
import { type Attempt, type RetryLimits, retryLostRaces } from '../ledger/retry.ts'
import { MODEL_KEY } from '../measure/environment.ts'
import { tryParseJson } from '../model/canonical-json.ts'
import { toSafeLine } from '../model/text.ts'
import type { Clock, Fetch, ModelAnswer, ModelQuestion, Models, RandomSource } from '../ports.ts'
import { VERSION } from '../version.ts'
import type { Budget, Tokens } from './budget.ts'
import type { Endpoint, Maker } from './endpoint.ts'
import { readLimitedBody } from './model-access.ts'

export interface ChatAccess {
  endpoint: Endpoint
  key: string
  budget: Budget
  clock: Clock
  random: RandomSource
  /** Defaults to the global `fetch`. */
  web?: Fetch
  /** For one request, until the last byte of its answer. */
  timeoutMs?: number
}

const TIMEOUT_MS = 120_000
const MOST_BYTES = 4 * 1024 * 1024
/** Long enough to wait for a rate limit per minute. */
const PATIENCE: RetryLimits = { forMs: 300_000, firstWaitMs: 1_000, longestWaitMs: 30_000 }

/** Models behind an OpenAI-compatible API. With a budget cap, requests run one after the other. */
export function createChatModels(access: ChatAccess): Models {
  let last: Promise<unknown> = Promise.resolve()
  return {
    ask(question, signal) {
      if (!access.budget.capped) return askModel(access, question, signal)
      const mine = last.then(() => askModel(access, question, signal))
      // The caller gets the error; the next request only waits.
      last = mine.catch(() => {})
      return mine
    },
    usage: () => access.budget.usage(),
  }
}

async function askModel(
  access: ChatAccess,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const { clock, random } = access
  const pacing = {
    monotonic: () => clock.monotonic(),
    sleep: (milliseconds: number) => clock.sleep(milliseconds, signal),
    random: () => random.fraction(),
  }
  const result = await retryLostRaces(pacing, () => tryQuestion(access, question, signal), PATIENCE)
  return result.done ? result.value : { is: 'unreachable', reason: result.why }
}

async function tryQuestion(
  access: ChatAccess,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<Attempt<ModelAnswer>> {
  signal.throwIfAborted()
  const { budget } = access
  const spent = budget.exhausted()
  if (spent !== null) return { done: true, value: { is: 'over-budget', reason: spent } }
  const most = computeMaxTokens(question)
  const got = await sendQuestion(access, question, signal).catch((error: unknown) => {
    budget.unanswered(most)
    throw error
  })
  if ('broken' in got) {
    budget.unanswered(most)
    return { done: false, why: got.broken }
  }
  return got.status === 200 ? readAnswer(access, got, most) : refuseAnswer(access, question, got)
}

interface ChatResponse {
  status: number
  headers: Headers
  body: string
}

/** Returns a broken connection as a value. Throws only when the caller aborts. */
async function sendQuestion(
  { endpoint, key, web = fetch, timeoutMs = TIMEOUT_MS }: ChatAccess,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<ChatResponse | { broken: string }> {
  const timely = AbortSignal.timeout(timeoutMs)
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': `winnow/${VERSION} (git-winnow on npm)`,
    ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
  }
  try {
    const response = await web(`${endpoint.url}/chat/completions`, {
      method: 'POST',
      headers,
      body: buildChatBody(question, endpoint.maker),
      // A redirect must not carry the key to another host.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timely]),
    })
    return {
      status: response.status,
      headers: response.headers,
      body: await readLimitedBody(response, MOST_BYTES),
    }
  } catch (error) {
    signal.throwIfAborted()
    if (timely.aborted) return { broken: `${endpoint.host} gave no answer within ${timeoutMs / 1000} s` }
    return { broken: `${endpoint.host} gave no answer: ${describeCause(error)}` }
  }
}

/** `fetch failed` explains nothing; its cause does. */
function describeCause(error: unknown): string {
  const under = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return under instanceof Error ? under.message : String(under)
}

function readAnswer({ endpoint, budget }: ChatAccess, { body }: ChatResponse, most: Tokens) {
  const answer = readChatAnswer(body)
  if (answer?.tokens) budget.paid(answer.tokens)
  else budget.unanswered(most)
  if (answer === null) return { done: false, why: `${endpoint.host} answered with no completion` } as const
  const { text, complete } = answer
  return { done: true, value: { is: 'answered', text, complete } } as const
}

function refuseAnswer(
  { endpoint, key, budget, clock }: ChatAccess,
  question: ModelQuestion,
  got: ChatResponse,
) {
  const { status, body, headers } = got
  const refused = { status, body, host: endpoint.host, model: question.model, key }
  const { canRetry, mayBeQuestion, isBilled, reason } = describeChatRefusal(refused)
  if (isBilled) budget.unanswered(computeMaxTokens(question))
  if (!canRetry)
    return { done: true, value: { is: mayBeQuestion ? 'not-taken' : 'refused', reason } } as const
  const waitMs = parseRetryDelay(headers, clock.now())
  if (waitMs === null) return { done: false, why: reason } as const
  return { done: false, why: `${reason}; it asks to wait ${Math.ceil(waitMs / 1000)} s`, waitMs } as const
}

// Request body

/** JSON mode, and temperature 0 where the model allows it. */
export function buildChatBody({ model, system, user, maxTokens }: ModelQuestion, maker: Maker): string {
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    response_format: { type: 'json_object' },
    [maker.limit]: maxTokens,
    ...(maker.ownTemperature?.test(model) === true ? {} : { temperature: 0 }),
  })
}

/** Tokens of the message framing. An upper bound for all models. */
const FRAMING_TOKENS = 100

/** A token has at least one byte, so bytes bound the input tokens. */
function computeMaxTokens({ system, user, maxTokens }: ModelQuestion): Tokens {
  const bytes = new TextEncoder().encode(system + user).length
  return { input: bytes + FRAMING_TOKENS, output: maxTokens }
}

// Answers

const tokens = z.object({
  prompt_tokens: z.number().int().nonnegative(),
  completion_tokens: z.number().int().nonnegative(),
})
const completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  /** Optional: some servers omit it. */
  usage: tokens.nullish().catch(null),
})

/** Null if the body is not an answer of this API: an error page of a gateway, or a truncated answer. */
function readChatAnswer(body: string) {
  const parsed = completion.safeParse(tryParseJson(body))
  const choice = parsed.data?.choices[0]
  if (choice === undefined) return null
  const { message, finish_reason: ended } = choice
  const said = parsed.data?.usage
  return {
    text: message.content ?? '',
    complete: ended === undefined || ended === null || ended === 'stop',
    tokens: said ? { input: said.prompt_tokens, output: said.completion_tokens } : null,
  }
}

// Refusals

interface RefusedChat {
  status: number
  body: string
  host: string
  model: string
  key: string
}

const said = z.object({
  error: z.union([
    z.string(),
    z.object({ message: z.string(), code: z.unknown().optional(), type: z.unknown().optional() }),
  ]),
})

const BUSY: ReadonlySet<number> = new Set([408, 409, 425, 429, 503, 529])
/** Content filters and length limits answer with these, and some servers do so for a bad key or account. */
const NOT_TAKEN: ReadonlySet<number> = new Set([400, 413, 422])

function describeChatRefusal(refused: RefusedChat) {
  const { status } = refused
  const { words, code } = readErrorWords(refused)
  const reason = `${describeStatus(refused, code)} (${status})${words === '' ? '' : `: ${words}`}`
  const hasCredit = code !== 'insufficient_quota'
  const isBusy = BUSY.has(status)
  // The server failed while it worked on the request.
  const isBilled = hasCredit && status >= 500 && !isBusy
  return {
    canRetry: isBilled || (hasCredit && isBusy),
    mayBeQuestion: hasCredit && NOT_TAKEN.has(status),
    isBilled,
    reason,
  }
}

function describeStatus({ status, host, model }: RefusedChat, code: string): string {
  if (code === 'insufficient_quota') return `the account at ${host} has no credit left for ${model}`
  if (status === 401 || status === 403)
    return `${host} does not accept the key for ${model}: set ${MODEL_KEY} to a key that may ask it`
  if (status === 404) return `${host} has no model ${model}, or answers at another address`
  if (status >= 300 && status < 400) return `${host} redirects to another address: use that one`
  if (BUSY.has(status)) return `${host} is busy`
  return status >= 500 ? `${host} broke` : `${host} rejects this request to ${model}`
}

/** Redacts the key, which a server may echo. */
function readErrorWords({ body, key }: RefusedChat): { words: string; code: string } {
  const { error } = said.safeParse(tryParseJson(body)).data ?? { error: '' }
  const { message, code, type } =
    typeof error === 'string' ? { message: error, code: undefined, type: undefined } : error
  const redacted = key === '' ? message : message.replaceAll(key, '***')
  const codes = [code, type].filter(each => typeof each === 'string')
  const quota = codes.includes('insufficient_quota') ? 'insufficient_quota' : (codes[0] ?? '')
  return { words: toSafeLine(redacted, 300), code: quota }
}

/** The requested wait in milliseconds. Null if the headers name none. */
function parseRetryDelay(headers: Headers, now: number): number | null {
  const exact = parseHeaderNumber(headers.get('retry-after-ms'))
  if (exact !== null) return exact
  const value = headers.get('retry-after')
  const seconds = parseHeaderNumber(value)
  if (seconds !== null) return seconds * 1000
  const date = value === null ? Number.NaN : Date.parse(value)
  return Number.isFinite(date) ? Math.max(0, date - now) : null
}

function parseHeaderNumber(value: string | null): number | null {
  return value !== null && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null
}
