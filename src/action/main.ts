import { proxySecrets } from '../git/proxy.ts'
import { commandNamed } from './commands.ts'
import { definedIn, readInputs, refuseUnsafe, refuseWindows, TOKENS } from './inputs.ts'
import { failed, hide, setOutputs } from './runner-protocol.ts'
import { tokenForms } from './token-forms.ts'

/** The action as a runner starts it. Kept small: everything that takes time to load is loaded by its command. */
const env = definedIn(process.env)
try {
  setOutputs(env, {})
  refuseWindows(process.platform)
  refuseUnsafe(env)
  const inputs = readInputs(env)
  const tokens = TOKENS.map(name => inputs[name]).filter(token => token !== '')
  hide([...tokens.flatMap(tokenForms), ...proxySecrets(env)])
  process.exitCode = await commandNamed(inputs.command)({ inputs, env })
} catch (error) {
  process.exitCode = failed(env, error)
}
