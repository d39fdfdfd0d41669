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
    maker: isLoopback(url.hostname) ? LOCAL_PROVIDER : findMaker(url.hostname),
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

export interface Maker {
  aliases: Readonly<Record<string, string>>
  /** The request field that limits the length of an answer. */
  limit: 'max_tokens' | 'max_completion_tokens'
  /** Models that reject a temperature. */
  ownTemperature?: RegExp
}

/** Keyed by host, because a name means another model elsewhere. Prices change, so none is here. */
const PROVIDERS: Readonly<Record<string, Maker>> = {
  'api.anthropic.com': {
    aliases: {
      cheap: 'claude-haiku-4-5',
      haiku: 'claude-haiku-4-5',
      strong: 'claude-sonnet-4-5',
      sonnet: 'claude-sonnet-4-5',
    },
    limit: 'max_tokens',
  },
  'api.openai.com': {
    aliases: { cheap: 'gpt-4.1-mini', strong: 'gpt-4.1' },
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
    limit: 'max_tokens',
  },
}

/** A server on this machine may be given any names, and its error tells which it has. */
const LOCAL_PROVIDER: Maker = {
  aliases: { cheap: 'cheap', strong: 'strong', haiku: 'haiku', sonnet: 'sonnet' },
  limit: 'max_tokens',
}

const UNKNOWN_PROVIDER: Maker = { aliases: {}, limit: 'max_tokens' }

/** Names that are aliases at every provider. */
const ALIASES: ReadonlySet<string> = new Set(['cheap', 'strong', 'haiku', 'sonnet'])

export function findMaker(host: string): Maker {
  return Object.hasOwn(PROVIDERS, host) ? (PROVIDERS[host] ?? UNKNOWN_PROVIDER) : UNKNOWN_PROVIDER
}
