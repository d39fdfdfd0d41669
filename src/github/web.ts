import { findProxy, type Proxy } from '../git/isolation.ts'
import type { Fetch } from '../ports.ts'

/** Fetches directly, or through the proxy that the environment names for an address. */
export function createWebFetch(env: Readonly<Record<string, string>>): Fetch {
  const fetchers = new Map<string, Promise<Fetch>>()

  async function createProxied(proxy: Proxy): Promise<Fetch> {
    // Loads the proxy code only when needed: it takes longer to load than the rest, and most machines have no
    // proxy.
    const { createProxiedFetch } = await import('./proxied-fetch.ts')
    return createProxiedFetch(proxy)
  }

  return async (url, options) => {
    const proxy = findProxy(url, env)
    if (proxy === null) return fetch(url, options)
    const key = `${proxy.origin} ${proxy.authorization}`
    const fetcher = fetchers.get(key) ?? createProxied(proxy)
    fetchers.set(key, fetcher)
    return (await fetcher)(url, options)
  }
}
