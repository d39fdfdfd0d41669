import { createServer } from 'node:http'
import { listeningForTest } from './loopback.ts'

export interface PackageRegistry {
  url: string
  /** What it was asked for, in order. */
  asked: string[]
  /** By path: what it answers; an answer that never comes. */
  answers: Record<string, unknown>
}

export const NEVER = Symbol('never')

/** A registry on loopback that knows what the test gives it, and answers anything else with 404. */
export async function packageRegistry(answers: Record<string, unknown> = {}): Promise<PackageRegistry> {
  const registry: PackageRegistry = { url: '', asked: [], answers }
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    registry.asked.push(path)
    const answer = registry.answers[path]
    if (answer === NEVER) return
    if (typeof answer === 'string' && answer.startsWith('/'))
      return void response.writeHead(302, { location: answer }).end()
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? { error: 'not found' }))
  })
  registry.url = `http://127.0.0.1:${await listeningForTest(server)}`
  return registry
}
