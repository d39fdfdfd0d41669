import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseDecidePayload } from '../decide/ce/assess.ts'
import { decideStability } from '../decide/ce/stability.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
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
    if (call.given.flag('jsonl')) await decideLines(call)
    else call.terminal.json(decidePayload(await readWholeInput(call), null), 2)
    return 0
  },
}

async function decideLines(call: Call): Promise<void> {
  let number = 0
  for await (const line of readInputLines(call)) {
    number += 1
    if (line.trim() !== '') call.terminal.json(decidePayload(line, number))
  }
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
  const file = getInputFile(call)
  if (file === null) yield* call.terminal.lines()
  else yield* (await readInputFile(call, file)).split('\n')
}

async function readWholeInput(call: Call): Promise<string> {
  const file = getInputFile(call)
  if (file !== null) return readInputFile(call, file)
  const lines: string[] = []
  for await (const line of call.terminal.lines()) lines.push(line)
  return lines.join('\n')
}

function getInputFile({ given }: Call): string | null {
  const [file = '-'] = given.positionals
  return file === '-' ? null : file
}

async function readInputFile({ environment }: Call, file: string): Promise<string> {
  const text = await readFile(resolve(environment.directory, file), 'utf8').catch(toNullIfMissing)
  if (text !== null) return text
  throw new UserError(`there is no file ${file}`, {
    place: { file },
    fix: 'give a file, or - for standard input',
  })
}
