import { UserError } from '../errors.ts'

/** The base URL of an OpenAI-compatible API, as in `…/v1`. */
export interface Endpoint {
  /** Without a trailing slash. */
  url: string
  host: string
  maker: Maker
}

const EXAMPLE = 'https://api.openai.com/v1'

/** The key goes only to this address, and never over plain HTTP except to loopback. */
export function parseEndpoint(base: string, key: string): Endpoint {
  const url = parseModelUrl(base)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UserError(`WINNOW_MODEL_URL holds more than an address: ${url.origin}${url.pathname}`, {
      fix: `write it like ${EXAMPLE}, and the key as WINNOW_MODEL_KEY`,
    })
  if (!/^[\x21-\x7e]*$/.test(key))
    throw new UserError('WINNOW_MODEL_KEY holds characters that a header cannot carry', {
      fix: 'set WINNOW_MODEL_KEY to the key alone, without line ends or spaces',
    })
  if (url.protocol === 'http:' && key !== '' && !isLoopback(url.hostname))
    throw new UserError(`winnow would send the key to ${url.origin} without encryption`, {
      fix: 'use https, or no key',
    })
  return {
    url: `${url.origin}${url.pathname}`.replace(/\/+$/, ''),
    host: url.host,
    maker: findMaker(url.hostname),
  }
}

function parseModelUrl(base: string): URL {
  const url = URL.canParse(base) ? new URL(base) : null
  if (url !== null && (url.protocol === 'https:' || url.protocol === 'http:')) return url
  throw new UserError(`WINNOW_MODEL_URL is not a web address: ${JSON.stringify(base.slice(0, 200))}`, {
    fix: `write it like ${EXAMPLE}`,
  })
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** Resolves `cheap`, `strong`, `haiku` and `sonnet` for this host. Every other name is a model's own. */
export function resolveModel({ host, maker }: Endpoint, name: string): string {
  if (Object.hasOwn(maker.aliases, name)) return maker.aliases[name] ?? name
  if (!ALIASES.has(name)) return name
  const known = Object.keys(maker.aliases)
  const fix = `write the name of a model as ${host} calls it${known.length === 0 ? '' : `, or one of ${known.join(', ')}`}`
  throw new UserError(`${name} is not the name of a model known at ${host}`, { fix })
}

// Providers

/** US dollars for a million tokens. */
export interface Price {
  input: number
  output: number
}

export interface Maker {
  aliases: Readonly<Record<string, string>>
  prices: Readonly<Record<string, Price>>
  /** The request field that limits the length of an answer. */
  limit: 'max_tokens' | 'max_completion_tokens'
  /** Models that reject a temperature. */
  ownTemperature?: RegExp
}

/**
 * Keyed by host, because a name means another model at another price elsewhere. List prices as published. A model
 * without a price here is not asked under a cap.
 */
const PROVIDERS: Readonly<Record<string, Maker>> = {
  'api.anthropic.com': {
    aliases: {
      cheap: 'claude-haiku-4-5',
      haiku: 'claude-haiku-4-5',
      strong: 'claude-sonnet-4-5',
      sonnet: 'claude-sonnet-4-5',
    },
    prices: { 'claude-haiku-4-5': { input: 1, output: 5 }, 'claude-sonnet-4-5': { input: 3, output: 15 } },
    limit: 'max_tokens',
  },
  'api.openai.com': {
    aliases: { cheap: 'gpt-4.1-mini', strong: 'gpt-4.1' },
    prices: {
      'gpt-4.1-nano': { input: 0.1, output: 0.4 },
      'gpt-4.1-mini': { input: 0.4, output: 1.6 },
      'gpt-4.1': { input: 2, output: 8 },
      'gpt-4o-mini': { input: 0.15, output: 0.6 },
      'gpt-4o': { input: 2.5, output: 10 },
      'gpt-5-mini': { input: 0.25, output: 2 },
      'gpt-5': { input: 1.25, output: 10 },
    },
    limit: 'max_completion_tokens',
    ownTemperature: /^(?:o\d|gpt-5)/,
  },
  'openrouter.ai': {
    aliases: {
      cheap: 'anthropic/claude-haiku-4.5',
      haiku: 'anthropic/claude-haiku-4.5',
      strong: 'anthropic/claude-sonnet-4.5',
      sonnet: 'anthropic/claude-sonnet-4.5',
    },
    prices: {
      'anthropic/claude-haiku-4.5': { input: 1, output: 5 },
      'anthropic/claude-sonnet-4.5': { input: 3, output: 15 },
    },
    limit: 'max_tokens',
  },
}

const UNKNOWN_PROVIDER: Maker = { aliases: {}, prices: {}, limit: 'max_tokens' }

/** Names that are aliases at every provider. */
const ALIASES: ReadonlySet<string> = new Set(['cheap', 'strong', 'haiku', 'sonnet'])

export function findMaker(host: string): Maker {
  return Object.hasOwn(PROVIDERS, host) ? (PROVIDERS[host] ?? UNKNOWN_PROVIDER) : UNKNOWN_PROVIDER
}

export function findPrice({ prices }: Maker, model: string): Price | null {
  return Object.hasOwn(prices, model) ? (prices[model] ?? null) : null
}
