import { UserError } from '../errors.ts'

/** How winnow's own git processes are cut off from the user's configuration, hooks and environment. */
export interface Isolation {
  cwd: string
  env: Record<string, string>
  configArgs: string[]
}

export const CONFIG = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.quotePath=true',
  'protocol.ext.allow=never',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
] as const

/** What would point a git process at another repository, index or object store than the one we name. */
const POINTERS = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
  'GIT_SHALLOW_FILE',
  'GIT_GRAFT_FILE',
  'GIT_REPLACE_REF_BASE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_DEFAULT_HASH',
  'GIT_TEMPLATE_DIR',
  'GIT_CEILING_DIRECTORIES',
  'GIT_LITERAL_PATHSPECS',
  'GIT_EXTERNAL_DIFF',
  'GIT_EXEC_PATH',
])

const FIXED = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  LC_ALL: 'C',
} as const

const NO_USER_CONFIG = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
} as const

/** By the second git knows, when it runs as root, whose repositories it may read as its own. */
const ALWAYS = ['PATH', 'SUDO_UID']

/** Everything that stays on this machine: of the caller's environment only these. */
export function buildLocalIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const own = Object.entries(env).filter(([key]) => ALWAYS.includes(key))
  return {
    cwd,
    env: { ...Object.fromEntries(own), ...NO_USER_CONFIG, ...FIXED },
    configArgs: buildConfigArgs(),
  }
}

/** What says how this person's git reads their own files: ignore rules, line endings, filters. */
const OF_THE_PERSON =
  /^(?:PATH|SUDO_UID|HOME|XDG_CONFIG_HOME|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+))$/

/** Reading a work tree as its owner's `git add` would, with nothing of it written where it could see it. */
export function buildOwnerIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const own = Object.entries(env).filter(([key]) => OF_THE_PERSON.test(key))
  return { cwd, env: { ...Object.fromEntries(own), ...FIXED }, configArgs: buildConfigArgs() }
}

/** Commands that speak to the remote: the caller's environment (credentials, ssh, proxy) is added. */
export function buildNetworkIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const added = Object.entries(withSmallHttpProxy(env)).filter(([key]) => !POINTERS.has(key))
  return {
    cwd,
    env: { ...NO_USER_CONFIG, ...Object.fromEntries(added), ...FIXED },
    configArgs: buildConfigArgs(),
  }
}

function buildConfigArgs(): string[] {
  return CONFIG.flatMap(setting => ['-c', setting])
}

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
function withSmallHttpProxy(env: ProxyVariables): ProxyVariables {
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
