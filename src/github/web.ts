import { findProxy, type Proxy } from '../git/isolation.ts'
import type { Fetch } from '../ports.ts'

/** How the web is asked from here: directly, or by the proxy that the environment names for an address. */
export function createWebFetch(env: Readonly<Record<string, string>>): Fetch {
  const ways = new Map<string, Promise<Fetch>>()

  async function through(proxy: Proxy): Promise<Fetch> {
    // Most machines have none, and what speaks to one takes longer to load than all that they need.
    const { createProxiedFetch: proxiedFetch } = await import('./proxied-fetch.ts')
    return proxiedFetch(proxy)
  }

  return async (url, options) => {
    const proxy = findProxy(url, env)
    if (proxy === null) return fetch(url, options)
    const key = `${proxy.origin} ${proxy.authorization}`
    const way = ways.get(key) ?? through(proxy)
    ways.set(key, way)
    return (await way)(url, options)
  }
}
