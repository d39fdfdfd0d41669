import { parseDecidePayload } from '../decide/ce/assess.ts'
import { decideStability } from '../decide/ce/stability.ts'
import { UserError } from '../errors.ts'
import { readGivenFile } from './context.ts'
import type { Call, Verb } from './verb.ts'

export const decideVerb: Verb = {
  name: 'decide',
  group: 'more',
  summary: 'apply the stored-score rules to one payload {spec, baseline, candidate} and print the decision',
  access: 'apart',
  arguments: [{ name: 'payload', summary: 'a JSON file; standard input by default' }],
  options: [{ name: 'jsonl', summary: 'read one payload per line, and print one decision per line' }],
  examples: ['winnow decide payload.json', 'winnow decide --jsonl < payloads.jsonl'],
  async run(call) {
    const each = call.given.flag('jsonl')
    const whole: string[] = []
    let number = 0
    for await (const line of readInputLines(call)) {
      number += 1
      if (!each) whole.push(line)
      else if (line.trim() !== '') call.terminal.json(decidePayload(line, number))
    }
    if (!each) call.terminal.json(decidePayload(whole.join('\n'), null), 2)
    return 0
  },
}

function decidePayload(text: string, line: number | null) {
  try {
    return decideStability(parseDecidePayload(text))
  } catch (error) {
    if (line === null || !(error instanceof UserError)) throw error
    const { fix, place } = error
    throw new UserError(`line ${line}: ${error.message}`, { place: { ...place, line }, fix, cause: error })
  }
}

async function* readInputLines(call: Call): AsyncGenerator<string, void> {
  const [file = '-'] = call.given.positionals
  if (file === '-') yield* call.terminal.lines()
  else yield* (await readGivenFile(call, file, 'give a file, or - for standard input')).split('\n')
}
