import { proxySecrets } from '../git/proxy.ts'
import { commandNamed } from './commands.ts'
import { definedIn, readInputs, refuseUnsafe, refuseWindows, TOKENS } from './inputs.ts'
import { failed, hide, keepHidden, setOutputs } from './runner-protocol.ts'
import { AS_ROOT, BY_PIPE } from './start-words.ts'
import { tokenForms } from './token-forms.ts'

/** The action as a runner starts it, or as it starts itself. Kept small: everything that takes time to load is loaded by its command. */
const ended = new AbortController()
const isHanded = process.argv[2] === AS_ROOT || process.argv[2] === BY_PIPE
const handed = isHanded ? await (await import('./handed-over.ts')).handedOver(() => ended.abort()) : null
const env = handed?.env ?? definedIn(process.env)
try {
  setOutputs(env, {})
  refuseWindows(process.platform)
  refuseUnsafe(env)
  const inputs = readInputs(env)
  const tokens = TOKENS.map(name => inputs[name]).filter(token => token !== '')
  const secrets = [...tokens.flatMap(tokenForms), ...proxySecrets(env)]
  if (handed === null) hide(secrets)
  else keepHidden(secrets)
  const given = handed === null ? {} : { handed: { ...handed, end: ended.signal } }
  process.exitCode = await commandNamed(inputs.command)({ inputs, env, ...given })
} catch (error) {
  process.exitCode = failed(env, error)
}
