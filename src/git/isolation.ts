import { UserError } from '../errors.ts'

/** Separates winnow's own git processes from the user's configuration, hooks and environment. */
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

/** Variables that would point git at another repository, index or object store. */
const REPOSITORY_VARIABLES = new Set([
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

const FIXED_VARIABLES = {
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

/** git running as root uses SUDO_UID to decide which repositories it may read. */
const LOCAL_VARIABLES = ['PATH', 'SUDO_UID']

/** For commands on this machine: passes only these variables of the caller's environment. */
export function buildLocalIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const own = Object.entries(env).filter(([key]) => LOCAL_VARIABLES.includes(key))
  return {
    cwd,
    env: { ...Object.fromEntries(own), ...NO_USER_CONFIG, ...FIXED_VARIABLES },
    configArgs: buildConfigArgs(),
  }
}

/** Variables that decide how the owner's git reads files: ignore rules, line endings, filters. */
const OWNER_VARIABLES =
  /^(?:PATH|SUDO_UID|HOME|XDG_CONFIG_HOME|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+))$/

/** Reads a work tree as its owner's `git add` would, but writes nothing that the owner's git would see. */
export function buildOwnerIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const own = Object.entries(env).filter(([key]) => OWNER_VARIABLES.test(key))
  return { cwd, env: { ...Object.fromEntries(own), ...FIXED_VARIABLES }, configArgs: buildConfigArgs() }
}

/** For commands that contact the remote: adds the caller's environment (credentials, ssh, proxy). */
export function buildNetworkIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const added = Object.entries(withSmallHttpProxy(env)).filter(([key]) => !REPOSITORY_VARIABLES.has(key))
  return {
    cwd,
    env: { ...NO_USER_CONFIG, ...Object.fromEntries(added), ...FIXED_VARIABLES },
    configArgs: buildConfigArgs(),
  }
}

/**
 * For signing and verifying: the user's configuration, keyring and agents. A passphrase is asked for by an agent
 * only, because winnow works without a terminal.
 */
export function buildSignerIsolation(cwd: string, env: Readonly<Record<string, string>>): Isolation {
  const own = Object.entries(env).filter(([key]) => !REPOSITORY_VARIABLES.has(key))
  const noPrompt = { SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' }
  return {
    cwd,
    env: { ...Object.fromEntries(own), ...FIXED_VARIABLES, ...noPrompt },
    configArgs: buildConfigArgs(),
  }
}

function buildConfigArgs(): string[] {
  return CONFIG.flatMap(setting => ['-c', setting])
}

// Proxies

type ProxyVariables = Readonly<Record<string, string>>

/** The HTTP proxy for one address. */
export interface Proxy {
  name: string
  /** `http:` or `https:` address, without credentials. */
  origin: string
  /** `Basic …` if the proxy's address contains a user name. */
  authorization: string | null
}

/**
 * Selects a proxy like curl in git: the lower-case variable for the scheme first, then the one for all schemes,
 * and none for hosts in NO_PROXY. Unlike curl, also accepts HTTP_PROXY in capitals.
 */
export function findProxy(address: string, env: ProxyVariables): Proxy | null {
  const url = new URL(address)
  const scheme = url.protocol.slice(0, -1)
  if (isExempt(url, findVariable(env, 'no_proxy')?.value ?? '')) return null
  const found = findVariable(env, `${scheme}_proxy`) ?? findVariable(env, 'all_proxy')
  return found === null ? null : parseProxy(found)
}

/** curl reads only the lower-case http_proxy, because a CGI program cannot trust HTTP_PROXY. */
function withSmallHttpProxy(env: ProxyVariables): ProxyVariables {
  const { HTTP_PROXY: proxy = '', http_proxy: small = '' } = env
  return small === '' && proxy !== '' ? { ...env, http_proxy: proxy } : env
}

const PROXY_VARIABLE = /^(?:https?|all)_proxy$/i
const CREDENTIALS = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/@:]*):([^/@]*)@/i

/** Lists the credentials in proxy addresses, in every form in which they are sent. */
export function listProxySecrets(env: ProxyVariables): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const [, user = '', password = ''] = (PROXY_VARIABLE.test(name) && CREDENTIALS.exec(value)) || []
    if (password === '') return []
    const plain = [user, password].map(part => decodeOrNull(part) ?? part)
    return [password, plain[1] ?? '', Buffer.from(plain.join(':')).toString('base64').replace(/=+$/, '')]
  })
}

/** Builds the environment of processes that run next to untrusted code. */
export function removeProxySecrets(env: ProxyVariables): ProxyVariables {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => !PROXY_VARIABLE.test(name) || !CREDENTIALS.test(value)),
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

/** A name also matches all its subdomains. A port, if given, must be equal. */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const host = hostname.toLowerCase()
  const effectivePort = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some(entry => {
      if (entry === '*') return true
      const [, name = '', only] = /^(?:\*?\.)?(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? []
      const same = name !== '' && (host === name || host === `[${name}]` || host.endsWith(`.${name}`))
      return same && (only === undefined || only === effectivePort)
    })
}

function parseProxy({ name, value }: NamedVariable): Proxy {
  const address = value.includes('://') ? value : `http://${value}`
  const url = URL.canParse(address) ? new URL(address) : null
  const [user, password] = [url?.username, url?.password].map(part => decodeOrNull(part ?? ''))
  if (url === null || !/^https?:$/.test(url.protocol) || user === null || password === null) {
    throw new UserError(`${name} is not the address of a proxy that winnow can use for GitHub`, {
      fix: 'set it to http://host:port or https://host:port, or add the host of GitHub to NO_PROXY',
    })
  }
  const authorization = user === '' ? null : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return { name, origin: url.origin, authorization }
}

/** Returns null for malformed percent-encoding. */
function decodeOrNull(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}
