import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listeningForTest } from './loopback.ts'

/** What an endpoint is asked, as it arrives. */
export interface ForwardedRequest {
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

export interface EndpointReply {
  status?: number
  headers?: Record<string, string>
  /** A text is sent as it is, a list as one server-sent event after the other. */
  body: unknown
  /** Breaks the connection off after this. */
  cut?: true
}

/** An endpoint on loopback that answers what the test says. */
export async function meteredEndpoint(
  reply: (asked: ForwardedRequest, before: number) => EndpointReply | null,
) {
  const asked: ForwardedRequest[] = []
  let most = 0
  let open = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      most = Math.max(most, ++open)
      response.once('close', () => (open -= 1))
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>
      const before = asked.push({ path: request.url ?? '', headers: request.headers, body }) - 1
      const answer = reply({ path: request.url ?? '', headers: request.headers, body }, before)
      if (answer === null) return void response.destroy()
      const streamed = Array.isArray(answer.body)
      const type = streamed ? 'text/event-stream' : 'application/json'
      response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers })
      const text = Array.isArray(answer.body)
        ? answer.body
            .map(event => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
            .join('')
        : typeof answer.body === 'string'
          ? answer.body
          : JSON.stringify(answer.body)
      if (answer.cut === true) response.write(text, () => response.destroy())
      else response.end(text)
    })
  })
  const url = `http://127.0.0.1:${await listeningForTest(server)}/v1`
  return { url, asked, most: () => most }
}

export function completion(tokens: [number, number] | null, text = 'yes') {
  const usage = tokens && { prompt_tokens: tokens[0], completion_tokens: tokens[1] }
  return {
    choices: [{ index: 0, message: { role: 'assistant', content: text } }],
    ...(usage ? { usage } : {}),
  }
}
