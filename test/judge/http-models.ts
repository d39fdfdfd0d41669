import { openBudget } from '../../src/judge/budget.ts'
import { createChatModels } from '../../src/judge/chat-model.ts'
import { parseEndpoint } from '../../src/judge/endpoint.ts'
import { type AskedModel, type ModelReply, modelServer } from '../servers/model-server.ts'

/** Models over HTTP at 1 USD for a million tokens; time passes by waiting alone. */
export async function httpModels(
  reply: (asked: AskedModel, before: number) => ModelReply,
  { capUsd = null, timeoutMs = 20_000 }: { capUsd?: number | null; timeoutMs?: number } = {},
) {
  const server = await modelServer(reply)
  let now = 0
  const models = createChatModels({
    endpoint: parseEndpoint(server.url, ''),
    key: '',
    budget: openBudget({ model: 'm', capUsd, price: { input: 1, output: 1 } }),
    clock: { now: () => now, monotonic: () => now, sleep: async (ms: number) => void (now += ms) },
    random: { hex: () => '', fraction: () => 0 },
    timeoutMs,
  })
  return { server, models }
}

const complete = (message: unknown, finish = 'stop'): ModelReply => ({
  status: 200,
  body: {
    choices: [{ message, finish_reason: finish }],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
  },
})
const call = { id: '1', type: 'function', function: { name: 'submit', arguments: '{"quality": 5}' } }

/** Completions that answer no question, each of 10 tokens. */
export const UNFIT_ANSWERS: readonly [string, ModelReply][] = [
  ['calls a tool', complete({ role: 'assistant', content: null, tool_calls: [call] }, 'tool_calls')],
  ['calls a tool beside a text', complete({ content: '{"scores": []}', tool_calls: [call] })],
  ['refuses', complete({ content: null, refusal: 'I cannot help with that.' })],
  ['is filtered', complete({ content: '' }, 'content_filter')],
  ['is cut off', complete({ content: '{"scores": [{"item": "' }, 'length')],
  ['is truncated JSON', complete({ content: '{"scores": [{"item": "a", "quality": 5}' })],
  ['has another form', complete({ content: '{"items": {"a": 5}}' })],
  ['is prose', complete({ content: 'All of them deserve a 5.' })],
  ['is empty', complete({ content: '' })],
]

/** Replies of an endpoint that gives no completion for minutes. */
export const FAILING_REPLIES: readonly [string, ModelReply][] = [
  ['429', { status: 429 }],
  ['500', { status: 500 }],
  ['503', { status: 503 }],
  ['no choices', { status: 200, body: { choices: [] } }],
  ['half an answer', 'cut'],
  ['ten megabytes', { status: 200, body: 'x'.repeat(10 * 1024 * 1024) }],
]

export const UNKNOWN_MODEL: ModelReply = {
  status: 404,
  body: { error: { message: 'The model `m` does not exist', code: 'model_not_found' } },
}
