import { summary } from '@actions/core'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { COMMAND_NAMES } from '../../src/action/commands.ts'
import { INPUTS } from '../../src/action/inputs.ts'
import { appendSummary, OUTPUTS, setOutputs, writeSummary } from '../../src/action/outputs.ts'
import { scratch } from '../git/scratch.ts'
import { step } from './a-runner.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const read = (file: string): unknown => parse(readFileSync(join(ROOT, file), 'utf8'))

describe('the types of the action', () => {
  const typed = z.strictObject({ type: z.enum(['string', 'boolean']) })
  const choice = z.strictObject({
    type: z.literal('enum'),
    name: z.string(),
    'allowed-values': z.array(z.string()),
  })
  const types = z
    .strictObject({
      inputs: z.record(z.string(), z.union([typed, choice])),
      outputs: z.record(z.string(), typed),
    })
    .parse(read('action-types.yml'))

  it('are of every input and output, with every command', () => {
    expect(Object.keys(types.inputs)).toEqual([...INPUTS])
    expect(Object.keys(types.outputs)).toEqual([...OUTPUTS])
    expect(types.inputs['command']).toMatchObject({ 'allowed-values': [...COMMAND_NAMES] })
  })

  it('ask for the command alone', () => {
    const { inputs } = z
      .object({ inputs: z.record(z.string(), z.object({ required: z.boolean() })) })
      .parse(read('action.yml'))
    const required = Object.entries(inputs).filter(([, { required }]) => required)
    expect(required.map(([name]) => name)).toEqual(['command'])
    for (const name of [...INPUTS, ...OUTPUTS]) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
  })
})

describe('however a step ends', () => {
  it.each([
    ...COMMAND_NAMES.map(command => ({ command })),
    { command: 'nothing' },
    { command: 'tick', 'dry-run': 'perhaps' },
    { command: 'x\n# | `y` <b>@ada</b> ::set-output name=report::z' },
  ])('%j sets every output, and says why in the summary', async inputs => {
    const ended = await step({ inputs, workspace: tmpdir() })
    expect(Object.keys(ended.outputs)).toEqual([...OUTPUTS])
    expect(ended.code).not.toBe(0)
    expect(ended.summary).toMatch(/error/)
    expect(ended.summary).not.toMatch(/^#|<b>|@ada/m)
    expect(ended.outputs['report']).toBe('')
  })

  it.each(['tick', 'run'])('%s that is paused says so', async command => {
    const env = { WINNOW_PAUSED: 'true' }
    const ended = await step({ inputs: { command }, workspace: tmpdir(), env })
    expect([ended.code, ended.summary]).toEqual([
      0,
      'WINNOW_PAUSED is set, so this run did nothing. To continue, delete the repository variable WINNOW_PAUSED.\n',
    ])
    expect(Object.keys(ended.outputs)).toEqual([...OUTPUTS])
  })
})

function inProcess(env: Record<string, string>): void {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}

it('is in the summary as far as GitHub takes it: a longer one would be dropped as a whole', async () => {
  const file = join(scratch(), 'summary')
  writeFileSync(file, 'of another process\n')
  inProcess({ GITHUB_STEP_SUMMARY: file })
  // The toolkit remembers the file of the first job in this process.
  Reflect.set(summary, '_filePath', undefined)
  summary.emptyBuffer()
  appendSummary('first')
  appendSummary(`${'é'.repeat(300)}\n`.repeat(3_000))
  appendSummary('last')
  await writeSummary()
  const text = readFileSync(file, 'utf8')
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024 * 1024)
  expect(text).toMatch(
    /^of another process\nfirst\né+\n[^]*é\n… \(cut here: GitHub takes no more in a summary\)\n/,
  )
  expect(text).not.toContain('\ufffd')
})

it('hands no variable, path or state to the steps after it, whoever has written there', () => {
  const dir = scratch()
  const files = Object.fromEntries(
    ['GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STATE', 'GITHUB_OUTPUT'].map(name => [name, join(dir, name)]),
  )
  for (const file of Object.values(files)) writeFileSync(file, 'LD_PRELOAD=/tmp/mine.so\n')
  inProcess(files)
  setOutputs({ report: 'mine' })
  const texts = Object.values(files).map(file => readFileSync(file, 'utf8'))
  expect(texts.slice(0, 3)).toEqual(['', '', ''])
  expect(texts[3]).not.toContain('LD_PRELOAD')
})
