import type { Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** On this machine alone, at whatever port is free. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

/** Until the test is over, whoever is still connected then. */
export async function listeningForTest(server: HttpServer | HttpsServer): Promise<number> {
  onTestFinished(() => closed(server))
  return listening(server)
}

export function closed(server: HttpServer | HttpsServer): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
