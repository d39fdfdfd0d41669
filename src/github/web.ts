import type { ProxyAgent } from 'undici'
import { findProxy } from '../git/isolation.ts'
import type { Fetch } from '../ports.ts'

/**
 * Fetches directly, or through the proxy that the environment names for an address. https goes through a tunnel
 * that the proxy cannot read. http goes to the proxy as a request with an absolute URL.
 */
export function createWebFetch(env: Readonly<Record<string, string>>): Fetch {
  const agents = new Map<string, ProxyAgent>()

  return async (url, options) => {
    const proxy = findProxy(url, env)
    if (proxy === null) return fetch(url, options)
    const { name, origin, authorization: token } = proxy
    const key = `${origin} ${token}`
    // Loads the proxy code only when needed: most machines have no proxy.
    const undici = await import('undici')
    const agent =
      agents.get(key) ??
      new undici.ProxyAgent({ uri: origin, proxyTunnel: false, ...(token === null ? {} : { token }) })
    agents.set(key, agent)
    try {
      return await undici.fetch(url, { ...options, dispatcher: agent })
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      // The innermost cause is the proxy's own message.
      const first = findFirstCause(error)
      const why = `by ${name} (${origin}): ${first instanceof Error ? first.message : String(first)}`
      throw new TypeError('fetch failed', { cause: new Error(why, { cause: error }) })
    }
  }
}

function findFirstCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? findFirstCause(error.cause) : error
}
