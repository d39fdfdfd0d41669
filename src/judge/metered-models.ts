import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MeteredCalls, MeteredModels } from '../measure/session.ts'
import { tryParseJson } from '../model/canonical-json.ts'
import type { ModelCost } from '../model/report.ts'
import { toSafeLine } from '../model/text.ts'
import type { Fetch, RandomSource } from '../ports.ts'
import type { Spec } from '../spec/schema.ts'
import { computeCost, formatUsd, requireValidPrices, type Tokens } from './budget.ts'
import type { Endpoint } from './endpoint.ts'
import { type CallBody, parseCall, readUsage, type RefusedCall, UsageReader } from './metered-call.ts'
import { type Price, readEndpoint, readLimitedBody, readModelAccess } from './model-access.ts'

export interface MeterTerms {
  endpoint: Endpoint
  /** Stays in this process: a harness holds a token of its execution instead. */
  key: string
  /** The models that a harness may ask. Null: the price is unknown, which no cap allows. */
  prices: ReadonlyMap<string, Price | null>
  capUsd: number | null
  /** Spent under the same cap before, by a run that was interrupted. The sum includes it. */
  before: ModelCost
  executionCapUsd: number | null
  web: Fetch
  random: RandomSource
  /** Called after each call with the sum, so that a killed process loses no cost. */
  record: (cost: ModelCost) => void
  timeoutMs?: number
}

const TIMEOUT_MS = 600_000
/** Of a request, and of an answer. */
const MOST_BYTES = 8 * 1024 * 1024
const MOST_ERROR_BYTES = 64 * 1024
/** What an endpoint answers when it, or the key, is at fault, and not the request. */
const ENDPOINT_FAULTS: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 409, 425, 429])
const BUSY: ReadonlySet<number> = new Set([503, 529])

/** The calls of one execution. */
interface Calls {
  spent: ModelCost
  /** Calls that the endpoint failed and that were not repeated with success, with the reason. */
  failed: Map<string, string>
  capped: string | null
  overrun: string | null
  pending: Set<Promise<void>>
  abort: AbortController
}

export type OpenMeteredModels = MeteredModels & { close(): Promise<void> }

/** For the models of the spec, at the endpoint and with the key of winnow's own environment. */
export async function openHarnessModels(
  { models, measurement }: Pick<Spec, 'models' | 'measurement'>,
  {
    env,
    ...terms
  }: Pick<MeterTerms, 'capUsd' | 'before' | 'web' | 'random' | 'record'> & {
    env: Readonly<Record<string, string>>
  },
): Promise<OpenMeteredModels> {
  const { capUsd, before, web } = terms
  const prices = new Map<string, Price | null>()
  for (const { id: model } of models) {
    const { price } = await readModelAccess({ env, models, web }, model)
    requireValidPrices({ model, capUsd, price, spentUsd: before.usd })
    prices.set(model, price)
  }
  const executionCapUsd = measurement.max_execution_cost_usd
  return openMeteredModels({ ...terms, ...readEndpoint(env), prices, executionCapUsd })
}

/**
 * A server on loopback that forwards calls to the configured endpoint alone, with the key, for the models of the spec.
 * It counts what they cost and refuses calls once a cap is reached.
 */
export async function openMeteredModels(terms: MeterTerms): Promise<OpenMeteredModels> {
  const meter = createMeter(terms)
  const byToken = new Map<string, Calls>()
  const server = createServer((request, response) => {
    void serveCall(request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      refuseCall(response, { status: 502, code: 'winnow_failed', message })
    })
  })
  server.on('connect', (_, socket) => void socket.end(`HTTP/1.1 403 Forbidden\r\n\r\n${OTHER_HOST}\n`))
  server.on('upgrade', (_, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo

  async function serveCall(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = findRefusal(request, port)
    if (refused !== null) return refuseCall(response, refused)
    const calls = byToken.get(readToken(request))
    if (calls === undefined) return refuseCall(response, WRONG_TOKEN)
    if (request.method === 'GET') return sendJson(response, 200, listModels(terms.prices))
    const call = parseCall(request.url ?? '', await readRequest(request), terms.prices)
    if ('status' in call) return refuseCall(response, call)
    const work = spendOnCall({ calls, call }, response)
    calls.pending.add(work)
    await work.finally(() => calls.pending.delete(work))
  }

  async function spendOnCall(sent: SentCall, response: ServerResponse): Promise<void> {
    const refused = await meter.reserve(sent)
    if (refused !== null) return refuseCall(response, refused)
    let tokens: Tokens | 'free' | null = null
    try {
      tokens = await handleCall(terms, sent, response)
    } finally {
      meter.settle(sent, tokens)
    }
  }

  return {
    open: () => {
      const token = `winnow-${terms.random.hex(32)}`
      const spent = { requests: 0, tokens: 0, usd: 0 }
      const state = { failed: new Map<string, string>(), capped: null, overrun: null }
      const calls: Calls = { spent, ...state, pending: new Set(), abort: new AbortController() }
      byToken.set(token, calls)
      return {
        env: buildCallEnvironment(`http://127.0.0.1:${port}/v1`, token),
        end: async () => {
          byToken.delete(token)
          calls.abort.abort()
          await Promise.allSettled(calls.pending)
          return toCallsEnd(calls)
        },
      }
    },
    usage: () => ({ model: [...terms.prices.keys()].join(', '), ...meter.total }),
    async close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Counts what calls cost. They run at the same time while all of them together fit, so at most one exceeds a cap. */
function createMeter({
  prices,
  capUsd,
  executionCapUsd,
  before,
  record,
}: Pick<MeterTerms, 'prices' | 'capUsd' | 'executionCapUsd' | 'before' | 'record'>) {
  const total: ModelCost = { ...before }
  let flying = { calls: 0, usd: 0 }
  let waiting: (() => void)[] = []
  const price = (call: CallBody) => prices.get(call.model) ?? null

  return {
    total,
    /** Waits until the call fits, and reserves the most that it may cost. Returns why it may never begin. */
    async reserve({ calls, call }: SentCall): Promise<RefusedCall | null> {
      const most = computeCost(price(call), call.most)
      for (;;) {
        const own = calls.spent.usd
        if (capUsd !== null && !(total.usd < capUsd)) {
          calls.capped = `${formatUsd(total.usd)} of ${formatUsd(capUsd)} are spent that were set aside for its model calls`
          return { status: 402, code: 'winnow_cap_reached', message: calls.capped }
        }
        if (executionCapUsd !== null && !(own < executionCapUsd)) {
          calls.overrun = `it spent ${formatUsd(own)} on models, and one execution may spend ${formatUsd(executionCapUsd)} (measurement.max_execution_cost_usd)`
          return { status: 402, code: 'winnow_execution_cap_reached', message: calls.overrun }
        }
        const left = Math.min((capUsd ?? Infinity) - total.usd, (executionCapUsd ?? Infinity) - own)
        if (flying.calls === 0 || flying.usd + most <= left) {
          flying = { calls: flying.calls + 1, usd: flying.usd + most }
          return null
        }
        await new Promise<void>(resolve => waiting.push(resolve))
      }
    },
    /** Null: what it used is unknown, so it counts with the most that it may be. */
    settle({ calls, call }: SentCall, tokens: Tokens | 'free' | null): void {
      flying = { calls: flying.calls - 1, usd: flying.usd - computeCost(price(call), call.most) }
      if (tokens !== 'free') {
        const used = tokens ?? call.most
        for (const sum of [total, calls.spent]) {
          sum.requests += 1
          sum.tokens += used.input + used.output
          sum.usd += computeCost(price(call), used)
        }
        record({ ...total })
      }
      const woken = waiting
      waiting = []
      for (const wake of woken) wake()
    },
  }
}

function toCallsEnd({ spent, failed, capped, overrun }: Calls): Awaited<ReturnType<MeteredCalls['end']>> {
  return { cost: { ...spent }, overrun, failed: capped ?? failed.values().next().value ?? null }
}

/** Programs find an OpenAI-compatible API under these names. No proxy may get a call to loopback. */
function buildCallEnvironment(url: string, token: string): Record<string, string> {
  const direct = '127.0.0.1,localhost'
  return {
    OPENAI_BASE_URL: url,
    OPENAI_API_BASE: url,
    OPENAI_API_KEY: token,
    WINNOW_MODEL_URL: url,
    WINNOW_MODEL_KEY: token,
    NO_PROXY: direct,
    no_proxy: direct,
  }
}

// Requests of a harness

const OTHER_HOST =
  'winnow forwards model calls to the endpoint of this campaign only: use the address in OPENAI_BASE_URL'
const WRONG_TOKEN: RefusedCall = {
  status: 401,
  code: 'winnow_wrong_token',
  message: 'this is not the key of a running execution: use OPENAI_API_KEY as winnow sets it for this one',
}
const PATHS: ReadonlySet<string> = new Set([
  'POST /v1/chat/completions',
  'POST /v1/completions',
  'POST /v1/responses',
  'POST /v1/embeddings',
  'GET /v1/models',
])

function findRefusal({ url = '', method, headers }: IncomingMessage, port: number): RefusedCall | null {
  const isOwnHost = [`127.0.0.1:${port}`, `localhost:${port}`].includes(headers.host ?? '')
  if (!isOwnHost || !url.startsWith('/'))
    return { status: 403, code: 'winnow_other_host', message: OTHER_HOST }
  const [path] = url.split('?')
  if (PATHS.has(`${method} ${path}`) && path === url) return null
  const known = [...PATHS].join(', ')
  const message = `winnow forwards no ${method} ${toSafeLine(url, 100)}: only ${known}`
  return { status: 404, code: 'winnow_other_path', message }
}

function readToken({ headers }: IncomingMessage): string {
  return /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
}

async function readRequest(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function listModels(prices: MeterTerms['prices']) {
  return { object: 'list', data: [...prices.keys()].map(id => ({ id, object: 'model' })) }
}

function refuseCall(response: ServerResponse, { status, code, message }: RefusedCall): void {
  if (response.headersSent) return void response.destroy()
  sendJson(response, status, { error: { message: `winnow: ${message}`, type: 'winnow', code, param: null } })
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

// Answers of the endpoint

interface SentCall {
  calls: Calls
  call: CallBody
}

/** Returns what the call used: null where that is unknown, free where the endpoint did no work. */
async function handleCall(
  terms: MeterTerms,
  sent: SentCall,
  response: ServerResponse,
): Promise<Tokens | 'free' | null> {
  const { calls, call } = sent
  // The harness gave up while the call waited for its turn, so it was never sent.
  if (response.destroyed || calls.abort.signal.aborted) return 'free'
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const late = AbortSignal.timeout(terms.timeoutMs ?? TIMEOUT_MS)
  const signal = AbortSignal.any([gone.signal, calls.abort.signal, late])
  const { host } = terms.endpoint
  try {
    const answer = await sendCall(terms, call, signal)
    if (answer.status !== 200) return await sendRefusal(terms, sent, answer, response)
    const tokens = await sendAnswer(call, answer, response)
    calls.failed.delete(call.digest)
    return tokens
  } catch (error) {
    // The harness ended the call itself: the endpoint is not at fault.
    if (gone.signal.aborted || calls.abort.signal.aborted) return null
    const message = late.aborted
      ? `${host} gave no answer in time`
      : `${host} gave no answer: ${explain(error)}`
    calls.failed.set(call.digest, message)
    refuseCall(response, { status: 502, code: 'winnow_no_answer', message })
    return null
  }
}

function explain(error: unknown): string {
  const under = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return toSafeLine(under instanceof Error ? under.message : String(under), 200)
}

function sendCall(
  { endpoint, key, web }: MeterTerms,
  call: CallBody,
  signal: AbortSignal,
): Promise<Response> {
  return web(`${endpoint.url}${call.path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
    },
    body: call.body,
    // A redirect must not carry the key to another host.
    redirect: 'manual',
    signal,
  })
}

/** The harness sees the status and may try again. The key, which a server may echo, is redacted. */
async function sendRefusal(
  { endpoint: { host }, key }: MeterTerms,
  { calls, call }: SentCall,
  answer: Response,
  response: ServerResponse,
): Promise<'free' | null> {
  const { status } = answer
  const body = await readLimitedBody(answer, MOST_ERROR_BYTES)
  const isBroken = status >= 500 && !BUSY.has(status)
  const isRedirect = status >= 300 && status < 400
  if (isBroken || isRedirect || BUSY.has(status) || ENDPOINT_FAULTS.has(status))
    calls.failed.set(call.digest, `${host} answered ${status} to a call of ${call.model}`)
  if (isRedirect) {
    refuseCall(response, { status: 502, code: 'winnow_redirect', message: `${host} redirects elsewhere` })
    return 'free'
  }
  const wait = answer.headers.get('retry-after')
  response.writeHead(status, {
    'content-type': answer.headers.get('content-type') ?? 'application/json',
    ...(wait === null ? {} : { 'retry-after': wait }),
  })
  response.end(key === '' ? body : body.replaceAll(key, '***'))
  // A server that broke may have worked on the request.
  return isBroken ? null : 'free'
}

async function sendAnswer(
  call: CallBody,
  answer: Response,
  response: ServerResponse,
): Promise<Tokens | null> {
  const type = answer.headers.get('content-type') ?? 'application/json'
  if (!type.startsWith('text/event-stream')) {
    const body = await readLimitedBody(answer, MOST_BYTES)
    const value = tryParseJson(body)
    if (value === undefined) throw new Error('its answer is no JSON')
    response.writeHead(200, { 'content-type': type }).end(body)
    return readUsage(value)
  }
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' })
  const reader = new UsageReader(call.hidesUsage)
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error(`its answer is larger than ${MOST_BYTES} bytes`)
    response.write(reader.read(chunk))
  }
  response.end(reader.finish())
  if (!reader.isWhole) throw new Error('its answer broke off')
  return reader.tokens
}
