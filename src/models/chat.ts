import { type Attempt, type RetryLimits, retryLostRaces } from '../ledger/retry.ts'
import type { Clock, Fetch, ModelAnswer, ModelQuestion, Models, RandomSource } from '../ports.ts'
import { VERSION } from '../version.ts'
import type { Budget } from './budget.ts'
import { buildChatBody, computeMaxTokens, readChatAnswer } from './chat-body.ts'
import { describeChatRefusal } from './chat-refusal.ts'
import type { Endpoint } from './endpoint.ts'
import { parseRetryDelay } from './retry-after.ts'

export interface ChatAccess {
  endpoint: Endpoint
  key: string
  budget: Budget
  clock: Clock
  random: RandomSource
  /** How the web is asked; directly unless given. */
  web?: Fetch
  /** Of one request, until the last byte of its answer. */
  timeoutMs?: number
}

const TIMEOUT_MS = 120_000
const MOST_BYTES = 4 * 1024 * 1024
/** Long enough for a limit that is counted by the minute. */
const PATIENCE: RetryLimits = { forMs: 300_000, firstWaitMs: 1_000, longestWaitMs: 30_000 }

/** Models behind an OpenAI-compatible interface. Under a cap they are asked one after the other, and not once more. */
export function createChatModels(access: ChatAccess): Models {
  let last: Promise<unknown> = Promise.resolve()
  return {
    ask(question, signal) {
      if (!access.budget.capped) return askModel(access, question, signal)
      const mine = last.then(() => askModel(access, question, signal))
      // Whoever asked hears of it: who asks next only waits.
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
    clock: () => clock.now(),
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

/** What came back, or how it broke; thrown is only that nobody waits any more. */
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
      // A key is not carried on to wherever an answer points.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timely]),
    })
    return { status: response.status, headers: response.headers, body: await readBody(response) }
  } catch (error) {
    signal.throwIfAborted()
    if (timely.aborted) return { broken: `${endpoint.host} gave no answer within ${timeoutMs / 1000} s` }
    return { broken: `${endpoint.host} gave no answer: ${describeCause(error)}` }
  }
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** `fetch failed` says nothing; what is under it does. */
function describeCause(error: unknown): string {
  const under = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return under instanceof Error ? under.message : String(under)
}

function readAnswer(
  { endpoint, budget }: ChatAccess,
  { body }: ChatResponse,
  most: ReturnType<typeof computeMaxTokens>,
) {
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
  const { model } = question
  const {
    again,
    question: about,
    begun,
    reason,
  } = describeChatRefusal({ status, body, host: endpoint.host, model, key })
  if (begun) budget.unanswered(computeMaxTokens(question))
  if (!again) return { done: true, value: { is: about ? 'not-taken' : 'refused', reason } } as const
  const waitMs = parseRetryDelay(headers, clock.now())
  if (waitMs === null) return { done: false, why: reason } as const
  return { done: false, why: `${reason}; it asks to wait ${Math.ceil(waitMs / 1000)} s`, waitMs } as const
}
