import { listProxySecrets } from '../git/isolation.ts'
import { removeSecrets } from '../measure/environment.ts'
import { findActionCommand } from './commands.ts'
import { AS_ROOT, BY_PIPE, listTokenForms } from './drop-secrets.ts'
import { omitUndefined, readInputs, refuseUnsafe, refuseWindows, TOKENS } from './inputs.ts'
import { addSecrets, hideSecrets, reportFailure, setOutputs, writeSummary } from './outputs.ts'

/** Entry point of the action. Commands import their own code, which keeps the start fast. */
const stop = new AbortController()
const isPiped = process.argv[2] === AS_ROOT || process.argv[2] === BY_PIPE
const pipe = isPiped ? await (await import('./root-pipe.ts')).readRootPipe(() => stop.abort()) : null
const env = pipe?.env ?? omitUndefined(process.env)
// The toolkit reads the environment of its process. This copy stays readable after that environment is wiped.
process.env = { ...env }
try {
  setOutputs({})
  refuseWindows(process.platform)
  refuseUnsafe(env)
  const inputs = readInputs()
  const tokens = TOKENS.map(name => inputs[name]).filter(token => token !== '')
  const secrets = [...tokens.flatMap(listTokenForms), ...listProxySecrets(env)]
  if (pipe === null) hideSecrets(secrets)
  else addSecrets(secrets)
  // A program that is started without an environment of its own gets no secret.
  process.env = removeSecrets(env)
  const piped = pipe === null ? {} : { pipe: { ...pipe, end: stop.signal } }
  process.exitCode = await findActionCommand(inputs.command)({ inputs, env, ...piped })
} catch (error) {
  process.exitCode = reportFailure(error)
}
await writeSummary()
