import { fetch } from 'undici/index-fetch.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import type { Proxy } from '../git/isolation.ts'
import type { Fetch } from '../ports.ts'

/**
 * https goes through a tunnel that the proxy cannot read. http goes to the proxy as a request with an absolute
 * URL.
 */
export function createProxiedFetch({ name, origin, authorization }: Proxy): Fetch {
  const credentials = authorization === null ? {} : { token: authorization }
  const dispatcher = new ProxyAgent({ uri: origin, proxyTunnel: false, ...credentials })
  return async (url, options) => {
    try {
      return await fetch(url, { ...options, dispatcher })
    } catch (error) {
      throw options.signal?.aborted === true ? error : toFetchError(`by ${name} (${origin})`, error)
    }
  }
}

/** Builds a fetch error with the innermost cause, which is the proxy's own message. */
function toFetchError(how: string, error: unknown): TypeError {
  const first = findFirstCause(error)
  const why = first instanceof Error ? first.message : String(first)
  return new TypeError('fetch failed', { cause: new Error(`${how}: ${why}`, { cause: error }) })
}

function findFirstCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? findFirstCause(error.cause) : error
}
