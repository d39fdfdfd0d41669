import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { tryParseJson } from '../model/canonical-json.ts'

export interface LocalQuestion {
  model: string
  system: string
  user: string
}

export interface LocalModel {
  /** As `…/v1`, for WINNOW_MODEL_URL. */
  url: string
  /** The number of questions so far. */
  countQuestions(): number
  close(): Promise<void>
}

/**
 * An OpenAI-compatible model on loopback, on a free port. It answers each question by a rule instead of a network, so
 * that demos and fixtures run offline. An answer depends on the question alone. An error that the rule throws becomes
 * a refusal with its message.
 */
export async function startLocalModel(answer: (question: LocalQuestion) => string): Promise<LocalModel> {
  let questions = 0
  const server = createServer((request, response) => {
    readBody(request)
      .then(body => {
        const question = parseQuestion(request, body)
        questions += 1
        send(response, 200, buildCompletion(question, answer(question)))
      })
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        send(response, 400, { error: { message, type: 'invalid_request_error' } })
      })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    countQuestions: () => questions,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const MAX_BYTES = 4 * 1024 * 1024

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`the question is larger than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const chatQuestion = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
})

function parseQuestion({ url, method }: IncomingMessage, body: string): LocalQuestion {
  if (method !== 'POST' || url !== '/v1/chat/completions')
    throw new Error('this model answers POST /v1/chat/completions only')
  const parsed = chatQuestion.safeParse(tryParseJson(body))
  if (!parsed.success) throw new Error('the question has no model or no messages')
  const { model, messages } = parsed.data
  const join = (wanted: string) =>
    messages.flatMap(({ role, content }) => (role === wanted ? [content] : [])).join('\n\n')
  return { model, system: join('system'), user: join('user') }
}

/** Typical length of a token of English text. */
const CHARACTERS_PER_TOKEN = 4

function buildCompletion({ model, system, user }: LocalQuestion, text: string): object {
  const countTokens = (length: number) => Math.ceil(length / CHARACTERS_PER_TOKEN)
  return {
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: countTokens(system.length + user.length),
      completion_tokens: countTokens(text.length),
    },
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

// Questions of judges

export interface JudgedItem {
  key: string
  content: string
}

/** The items of a judge's question, found by its marks. Empty if it is another question. */
export function listJudgedItems({ system, user }: Pick<LocalQuestion, 'system' | 'user'>): JudgedItem[] {
  const [, mark] = /"BEGIN ([0-9a-f]{32}) <item>"/.exec(system) ?? []
  if (mark === undefined) return []
  const shown = new RegExp(`^BEGIN ${mark} ([0-9a-f]{8})\\n([\\s\\S]*?)\\nEND ${mark} \\1$`, 'gm')
  return [...user.matchAll(shown)].map(([, key = '', content = '']) => ({ key, content }))
}

/** Answers as a judge has to: each item by its content alone. */
export function renderScores(
  items: readonly JudgedItem[],
  score: (item: JudgedItem) => Readonly<Record<string, number>>,
): string {
  return JSON.stringify({ scores: items.map(item => ({ item: item.key, ...score(item) })) })
}
