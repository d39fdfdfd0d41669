import { isSecretName } from '../measure/secret-names.ts'

type GitEnvironment = Readonly<Record<string, string>>

/** A token, and the one server that it may be sent to. */
interface GitAccess {
  serverUrl: string
  token: string
}

/**
 * The token goes to git in its environment, for this one server: never into a command line, which any process can
 * read, nor into a file that stays. Secrets of the job that nobody here asked for stay out, and so does what somebody
 * else has git say there: a server refuses who introduces themselves twice.
 */
export function withGitAccess(env: GitEnvironment, { serverUrl, token }: GitAccess): GitEnvironment {
  const plain = Object.entries(env).filter(([name]) => !isSecretName(name) && !name.startsWith('INPUT_'))
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0) || 0
  const key = `http.${serverUrl}/.extraheader`
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64')
  return {
    ...Object.fromEntries(plain),
    GIT_CONFIG_COUNT: String(count + 2),
    [`GIT_CONFIG_KEY_${count}`]: key,
    // Nothing: what was said before is not.
    [`GIT_CONFIG_VALUE_${count}`]: '',
    [`GIT_CONFIG_KEY_${count + 1}`]: key,
    [`GIT_CONFIG_VALUE_${count + 1}`]: `Authorization: Basic ${credentials}`,
  }
}
