/** What is used of undici: its index has all of it loaded by every wake-up, mocks and retries included. */
declare module 'undici/lib/dispatcher/proxy-agent.js' {
  import { ProxyAgent } from 'undici'
  export default ProxyAgent
}

declare module 'undici/index-fetch.js' {
  export { fetch } from 'undici'
}
