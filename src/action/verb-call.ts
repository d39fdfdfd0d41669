import type { Call, CommandArguments, Terminal } from '../verbs/call.ts'
import { VERBS } from '../verbs/registry.ts'
import { toLogLine } from './runner-protocol.ts'

/** What a job asks of the verbs, without a command line: nobody is there to be asked anything. */
export function createCall(
  around: Call['around'],
  options: Readonly<Record<string, string | true>>,
  interrupt: AbortSignal = new AbortController().signal,
): Call {
  const given: CommandArguments = {
    positionals: [],
    command: [],
    flag: name => options[name] === true,
    text: name => {
      const value = options[name]
      return typeof value === 'string' && value !== '' ? value : undefined
    },
    texts: () => [],
  }
  const say = (text: string): void => console.log(toLogLine(text))
  const terminal: Terminal = {
    out: say,
    err: say,
    json: value => say(JSON.stringify(value)),
    live: () => undefined,
    confirm: null,
    async *lines() {},
  }
  const program = { called: 'winnow', runtime: process.execPath }
  return { given, terminal, around, interrupt, verbs: VERBS, program }
}
