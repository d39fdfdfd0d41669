import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { closed, listening } from './loopback.ts'

/**
 * What happens to one exchange on its way: `lost` and `cut` reach the server, and their answer not the client; what
 * is `silent` reaches nobody and is never answered.
 */
export type Fault = 'reset' | 'lost' | 'cut' | 'silent' | Instead | { delay: number }

/** An answer that comes from somewhere on the way; a gateway's page unless it has words of the server. */
export interface Instead {
  status: number
  message?: string
  headers?: Record<string, string>
}

export interface FaultProxy {
  url: string
  /** Called once for each exchange, with how many there were before; null lets it pass. */
  fault: (method: string, path: string, before: number) => Fault | null
  stop(): Promise<void>
}

/** Stands before an HTTP server on loopback and breaks what the test wants broken. */
export async function faultProxy(target: string): Promise<FaultProxy> {
  let exchanges = 0
  const server = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '/').split('?')[0] ?? '/'
    const fault = proxy.fault(incoming.method ?? 'GET', path, exchanges++)
    if (fault === 'silent') return void incoming.resume()
    if (fault === 'reset') return void incoming.socket.destroy()
    if (fault !== null && typeof fault === 'object' && 'status' in fault) return answer(outgoing, fault)
    return void pass(target, incoming, outgoing, fault).catch(() => outgoing.destroy())
  })
  const port = await listening(server)
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${port}`,
    fault: () => null,
    stop: () => closed(server),
  }
  return proxy
}

function answer(outgoing: ServerResponse, { status, message, headers = {} }: Instead): void {
  const [type, body] =
    message === undefined
      ? ['text/html', '<html>a gateway</html>']
      : ['application/json; charset=utf-8', JSON.stringify({ message })]
  outgoing.writeHead(status, { 'content-type': type, ...headers }).end(body)
}

async function pass(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  fault: 'lost' | 'cut' | { delay: number } | null,
): Promise<void> {
  if (fault !== null && typeof fault === 'object') await pause(fault.delay)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const { method, headers } = incoming
    incoming.pipe(
      request(new URL(incoming.url ?? '/', target), { method, headers }, resolve).on('error', reject),
    )
  })
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(Buffer.from(chunk))
  const body = Buffer.concat(chunks)
  if (fault === 'lost') return void outgoing.destroy()
  const { 'transfer-encoding': _, ...headers } = answer.headers
  outgoing.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': body.length })
  if (fault !== 'cut') return void outgoing.end(body)
  outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy())
}
