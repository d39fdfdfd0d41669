import { UserError } from '../errors.ts'

type ProxyVariables = Readonly<Record<string, string>>

/** What stands between this machine and the network, for one address. */
export interface Proxy {
  /** The variable that names it. */
  name: string
  /** `http:` or `https:`, without what is told to it about who asks. */
  origin: string
  /** `Basic …`, where its address has a name of somebody in it. */
  authorization: string | null
}

/**
 * As git asks curl to choose: the variable of the address's scheme, in small letters first, then the one for all; none
 * for whom NO_PROXY names. Capitals count for http as well.
 */
export function findProxy(address: string, env: ProxyVariables): Proxy | null {
  const url = new URL(address)
  const scheme = url.protocol.slice(0, -1)
  if (isExempt(url, findVariable(env, 'no_proxy')?.value ?? '')) return null
  const found = findVariable(env, `${scheme}_proxy`) ?? findVariable(env, 'all_proxy')
  return found === null ? null : parseProxy(found)
}

/** git asks curl, which reads HTTP_PROXY in small letters alone: a CGI program cannot trust it in capitals. */
export function withSmallHttpProxy(env: ProxyVariables): ProxyVariables {
  const { HTTP_PROXY: proxy = '', http_proxy: small = '' } = env
  return small === '' && proxy !== '' ? { ...env, http_proxy: proxy } : env
}

const PROXIES = /^(?:https?|all)_proxy$/i
const WITH_PASSWORD = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/@:]*):([^/@]*)@/i

/** What an address of a proxy tells about who asks, in every form it is sent in. */
export function listProxySecrets(env: ProxyVariables): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const [, user = '', password = ''] = (PROXIES.test(name) && WITH_PASSWORD.exec(value)) || []
    if (password === '') return []
    const plain = [user, password].map(part => decodeOrNull(part) ?? part)
    return [password, plain[1] ?? '', Buffer.from(plain.join(':')).toString('base64').replace(/=+$/, '')]
  })
}

/** For processes beside code that must not learn it. */
export function removeProxySecrets(env: ProxyVariables): ProxyVariables {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => !PROXIES.test(name) || !WITH_PASSWORD.test(value)),
  )
}

interface NamedVariable {
  name: string
  value: string
}

function findVariable(env: ProxyVariables, small: string): NamedVariable | null {
  const name = [small, small.toUpperCase()].find(each => (env[each] ?? '') !== '')
  return name === undefined ? null : { name, value: env[name] ?? '' }
}

/** A name stands for everything below it as well; a port, where one is given, has to be the same. */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const host = hostname.toLowerCase()
  const meant = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some(entry => {
      if (entry === '*') return true
      const [, name = '', only] = /^(?:\*?\.)?(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? []
      const same = name !== '' && (host === name || host === `[${name}]` || host.endsWith(`.${name}`))
      return same && (only === undefined || only === meant)
    })
}

function parseProxy({ name, value }: NamedVariable): Proxy {
  const address = value.includes('://') ? value : `http://${value}`
  const url = URL.canParse(address) ? new URL(address) : null
  const [user, password] = [url?.username, url?.password].map(part => decodeOrNull(part ?? ''))
  if (url === null || !/^https?:$/.test(url.protocol) || user === null || password === null) {
    throw new UserError(`${name} is not the address of a proxy that GitHub can be asked by`, {
      fix: 'give http://host:port or https://host:port, or name the host of GitHub in NO_PROXY',
    })
  }
  const who = user === '' ? null : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return { name, origin: url.origin, authorization: who }
}

/** Null where it is written in a way that means nothing. */
function decodeOrNull(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}
