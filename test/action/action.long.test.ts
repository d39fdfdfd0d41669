import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { COMMAND_NAMES } from '../../src/action/commands.ts'
import { INPUTS } from '../../src/action/inputs.ts'
import { OUTPUTS } from '../../src/action/outputs.ts'
import { offer, project, SHORT } from '../cli/project.ts'
import { step } from './a-runner.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const action = z
  .object({
    inputs: z.record(z.string(), z.object({ description: z.string(), default: z.never().optional() })),
    outputs: z.record(z.string(), z.object({ description: z.string() })),
    runs: z.object({ using: z.literal('node24'), main: z.literal('dist/action.js') }),
  })
  .parse(parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')))

async function campaign() {
  const person = project()
  await person.winnow('run')
  await offer(person, SHORT)
  await person.winnow('run')
  return person
}

describe('the action', () => {
  it('has the inputs and outputs that its code reads and sets, none with a default', () => {
    expect(Object.keys(action.inputs)).toEqual([...INPUTS])
    expect(Object.keys(action.outputs)).toEqual([...OUTPUTS])
    for (const name of COMMAND_NAMES) expect(action.inputs['command']?.description).toContain(name)
  })

  it('proves a campaign, and says where it stands', async () => {
    const { dir } = await campaign()
    const at = (inputs: Record<string, string>, workspace = dir) => step({ inputs, workspace })
    expect(await at({ command: 'audit' })).toMatchObject({ code: 0, result: { ok: true }, orders: [] })
    expect(await at({ command: 'replay' })).toMatchObject({ code: 0, result: { ok: true } })
    const elsewhere = { command: 'status', directory: dir, campaign: 'size' }
    expect(await at(elsewhere, tmpdir())).toMatchObject({ code: 0, result: { campaign: 'size' } })
  })

  it('checks a spec without running anything of it, and shows what is wrong beside the job', async () => {
    const person = project()
    person.write('.winnow/size.yaml', 'winnow: 1\nscoop: {}\n')
    const { code, orders, outputs } = await step({ inputs: { command: 'check' }, workspace: person.dir })
    expect(code).toBe(2)
    expect(orders).toMatchObject([{ command: 'error', data: expect.stringContaining('the spec has') }])
    expect(Object.keys(outputs)).toEqual([...OUTPUTS])
  })

  it.each([
    ['judge', 'command judge needs the input items%0Afix: set it to the output items'],
    ['measure', 'command measure needs the input campaign'],
  ])('says what %s has to be given', async (command, data) => {
    const { code, orders } = await step({ inputs: { command }, workspace: tmpdir() })
    expect(code).toBe(2)
    expect(orders).toMatchObject([{ command: 'error', data: expect.stringContaining(data) }])
  })

  it.each([
    ['', 'give one of tick, settle'],
    ['statsu', 'did you mean status?'],
    ['status; touch injected', 'fix: '],
    ['x\n::set-output name=report::y', '%0Afix: give one of'],
    ['constructor', 'command is'],
  ])('refuses %j', async (command, expected) => {
    const { code, orders, outputs } = await step({ inputs: { command }, workspace: tmpdir() })
    expect([code, outputs['report']]).toEqual([2, ''])
    expect(orders).toMatchObject([{ command: 'error', data: expect.stringContaining(expected) }])
  })
})
