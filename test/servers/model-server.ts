import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listeningForTest } from './loopback.ts'

/** What a model is asked, as it arrives. */
export interface AskedModel {
  path: string
  authorization: string | undefined
  model: string
  system: string
  user: string
  body: Record<string, unknown>
}

export type ModelReply =
  /** Its whole answer, and what it says that this cost. */
  | { text: string; tokens?: [input: number, output: number] | null; finish?: string | null }
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** Reset: no answer. Cut: half of one. Silent: none, ever. */
  | 'reset'
  | 'cut'
  | 'silent'

export interface ModelServer {
  /** As `…/v1`. */
  url: string
  asked: AskedModel[]
  /** How many are being answered at the same time, at most. */
  most: number
}

/** A model on loopback that answers what the test says, which may look at all that it was asked. */
export async function modelServer(
  reply: (asked: AskedModel, before: number) => ModelReply | Promise<ModelReply>,
): Promise<ModelServer> {
  const model: ModelServer = { url: '', asked: [], most: 0 }
  let open = 0
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    open += 1
    model.most = Math.max(model.most, open)
    const asked = askedIn(request, await bodyOf(request))
    const before = model.asked.push(asked) - 1
    send(response, await reply(asked, before))
    open -= 1
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  model.url = `http://127.0.0.1:${await listeningForTest(server)}/v1`
  return model
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function askedIn({ url, headers }: IncomingMessage, text: string): AskedModel {
  const body = JSON.parse(text) as Record<string, unknown>
  const messages = body['messages'] as { role: string; content: string }[]
  const said = (role: string) => messages.find(message => message.role === role)?.content ?? ''
  return {
    path: url ?? '',
    authorization: headers.authorization,
    model: String(body['model']),
    system: said('system'),
    user: said('user'),
    body,
  }
}

function send(response: ServerResponse, reply: ModelReply): void {
  if (reply === 'silent') return
  if (reply === 'reset') return void response.destroy()
  if (typeof reply === 'object' && 'status' in reply) {
    const { status, body = {}, headers = {} } = reply
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    return void response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const text = JSON.stringify(completion(reply === 'cut' ? { text: '{}' } : reply))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  if (reply !== 'cut') return void response.end(text)
  response.write(text.slice(0, 20), () => response.destroy())
}

function completion({
  text,
  tokens = [10, 5],
  finish = 'stop',
}: Exclude<ModelReply, string | { status: number }>) {
  const usage = tokens && { prompt_tokens: tokens[0], completion_tokens: tokens[1] }
  return {
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finish }],
    ...(usage ? { usage } : {}),
  }
}
