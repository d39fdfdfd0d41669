import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import { fetch } from 'undici/index-fetch.js'
import type { Proxy } from '../git/proxy.ts'
import type { Fetch } from '../ports.ts'

/** https goes through a tunnel that the proxy does not look into; http is asked of the proxy by its whole address. */
export function proxiedFetch({ name, origin, authorization }: Proxy): Fetch {
  const told = authorization === null ? {} : { token: authorization }
  const dispatcher = new ProxyAgent({ uri: origin, proxyTunnel: false, ...told })
  return async (url, options) => {
    try {
      return await fetch(url, { ...options, dispatcher })
    } catch (error) {
      throw options.signal?.aborted === true ? error : unreached(`by ${name} (${origin})`, error)
    }
  }
}

/** An error of fetch, whose cause is what people are told: what the proxy said lies innermost. */
function unreached(how: string, error: unknown): TypeError {
  const first = firstCause(error)
  const why = first instanceof Error ? first.message : String(first)
  return new TypeError('fetch failed', { cause: new Error(`${how}: ${why}`, { cause: error }) })
}

function firstCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? firstCause(error.cause) : error
}
