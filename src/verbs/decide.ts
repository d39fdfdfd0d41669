import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseDecidePayload } from '../decide/payload.ts'
import { decideStability } from '../decide/stability.ts'
import { UserError } from '../errors.ts'
import { nullIfMissing } from '../git/bare-repository.ts'
import type { Call } from './call.ts'
import type { Verb } from './verb.ts'

export const decide: Verb = {
  name: 'decide',
  group: 'more',
  summary: 'judge one payload {spec, baseline, candidate} by the stored-score rules and print the decision',
  access: 'apart',
  arguments: [{ name: 'payload', summary: 'a JSON file; standard input by default', required: false }],
  options: [{ name: 'jsonl', summary: 'one payload a line, one decision a line' }],
  examples: ['winnow decide payload.json', 'winnow decide --jsonl < payloads.jsonl'],
  exits: {},
  async run(call) {
    if (call.given.flag('jsonl')) await decideLines(call)
    else call.terminal.json(decided(await wholeInput(call), null), 2)
    return 0
  },
}

async function decideLines(call: Call): Promise<void> {
  let number = 0
  for await (const line of linesOf(call)) {
    number += 1
    if (line.trim() !== '') call.terminal.json(decided(line, number))
  }
}

function decided(text: string, line: number | null) {
  try {
    return decideStability(parseDecidePayload(text))
  } catch (error) {
    if (line === null || !(error instanceof UserError)) throw error
    const { fix, place } = error
    throw new UserError(`line ${line}: ${error.message}`, {
      place: { ...place, line },
      ...(fix === undefined ? {} : { fix }),
      cause: error,
    })
  }
}

async function* linesOf(call: Call): AsyncGenerator<string, void> {
  const file = fileOf(call)
  if (file === null) yield* call.terminal.lines()
  else yield* (await contentOf(call, file)).split('\n')
}

async function wholeInput(call: Call): Promise<string> {
  const file = fileOf(call)
  if (file !== null) return contentOf(call, file)
  const lines: string[] = []
  for await (const line of call.terminal.lines()) lines.push(line)
  return lines.join('\n')
}

function fileOf({ given }: Call): string | null {
  const [file = '-'] = given.positionals
  return file === '-' ? null : file
}

async function contentOf({ around }: Call, file: string): Promise<string> {
  const text = await readFile(resolve(around.directory, file), 'utf8').catch(nullIfMissing)
  if (text !== null) return text
  throw new UserError(`there is no file ${file}`, {
    place: { file },
    fix: 'give a file, or - for standard input',
  })
}
