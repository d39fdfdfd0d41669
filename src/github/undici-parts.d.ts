/**
 * Declares the one part of undici that is used. Its index would load all of undici, with mocks and retries, on
 * every tick.
 */
declare module 'undici/lib/dispatcher/proxy-agent.js' {
  import { ProxyAgent } from 'undici'
  export default ProxyAgent
}

declare module 'undici/index-fetch.js' {
  export { fetch } from 'undici'
}
