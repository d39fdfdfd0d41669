import { UserError } from '../errors.ts'
import { type Maker, findMaker, resolveModelName } from './maker.ts'

/** Where models are asked, as `…/v1` of the OpenAI-compatible interface. */
export interface Endpoint {
  /** Without a slash at its end. */
  url: string
  host: string
  maker: Maker
}

const EXAMPLE = 'https://api.openai.com/v1'

/** A key goes nowhere but here, and never where others can read along. */
export function parseEndpoint(base: string, key: string): Endpoint {
  const url = parseModelUrl(base)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UserError(
      `the address of the models holds more than an address: ${url.origin}${url.pathname}`,
      {
        fix: `write it like ${EXAMPLE}, and the key as WINNOW_MODEL_KEY`,
      },
    )
  if (!/^[\x21-\x7e]*$/.test(key))
    throw new UserError('the key of the models holds characters that no header can carry', {
      fix: 'set WINNOW_MODEL_KEY to the key alone, without line ends or spaces',
    })
  if (url.protocol === 'http:' && key !== '' && !isLoopback(url.hostname))
    throw new UserError(`${url.origin} would be sent the key where others can read along`, {
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
  throw new UserError(`the address of the models is no web address: ${JSON.stringify(base.slice(0, 200))}`, {
    fix: `write it like ${EXAMPLE}`,
  })
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/** What `cheap`, `strong`, `haiku` or `sonnet` is there; every other name is that of a model. */
export function resolveModel({ host, maker }: Endpoint, name: string): string {
  const model = resolveModelName(maker, name)
  if (model !== null) return model
  const known = Object.keys(maker.aliases)
  const fix = `write the name of a model as ${host} calls it${known.length === 0 ? '' : `, or one of ${known.join(', ')}`}`
  throw new UserError(`${name} stands for no model that is known at ${host}`, { fix })
}
