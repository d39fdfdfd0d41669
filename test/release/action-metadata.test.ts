import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { COMMAND_NAMES } from '../../src/action/commands.ts'
import { INPUTS } from '../../src/action/inputs.ts'
import { OUTPUTS } from '../../src/action/outputs.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const read = (path: string): unknown => parse(readFileSync(join(ROOT, path), 'utf8'))

/** What GitHub's marketplace takes; the icons are those of Feather that it lists, as far as we would choose them. */
const marketplace = z.strictObject({
  name: z.string().min(1).max(60),
  description: z.string().min(1).max(124),
  author: z.string().min(1),
  branding: z.strictObject({
    icon: z.enum(['activity', 'bar-chart-2', 'filter', 'git-merge', 'trending-up', 'zap']),
    color: z.enum(['white', 'black', 'yellow', 'blue', 'green', 'orange', 'red', 'purple', 'gray-dark']),
  }),
  inputs: z.record(z.string(), z.strictObject({ description: z.string(), required: z.boolean() })),
  outputs: z.record(z.string(), z.strictObject({ description: z.string() })),
  runs: z.strictObject({ using: z.literal('node24'), main: z.literal('dist/action.js') }),
})
const type = z.strictObject({
  type: z.enum(['string', 'boolean', 'enum', 'integer', 'list']),
  name: z.string().optional(),
  'allowed-values': z.array(z.string()).optional(),
  separator: z.string().optional(),
  'list-item': z.record(z.string(), z.unknown()).optional(),
})
const action = marketplace.parse(read('action.yml'))
const types = z
  .strictObject({ inputs: z.record(z.string(), type), outputs: z.record(z.string(), type) })
  .parse(read('action-types.yml'))

describe('action.yml', () => {
  it('has the name of the package: the marketplace refuses one that an account or another action has', () => {
    expect(action.name).toBe('git-winnow')
  })

  it('has the inputs and outputs of the code', () => {
    expect(Object.keys(action.inputs)).toEqual([...INPUTS])
    expect(Object.keys(action.outputs)).toEqual([...OUTPUTS])
    const needed = Object.entries(action.inputs).filter(([, { required }]) => required)
    expect(needed.map(([name]) => name)).toEqual(['command'])
  })

  it('describes each in sentences, and every command', () => {
    for (const { description } of [...Object.values(action.inputs), ...Object.values(action.outputs)])
      expect(description).toMatch(/^[A-Z].*[.)]$/s)
    for (const name of COMMAND_NAMES) expect(action.inputs['command']?.description).toContain(`\`${name}\``)
  })
})

describe('action-types.yml', () => {
  it('has a type for each of them, and every command', () => {
    expect(Object.keys(types.inputs)).toEqual([...INPUTS])
    expect(Object.keys(types.outputs)).toEqual([...OUTPUTS])
    expect(types.inputs['command']?.['allowed-values']?.toSorted()).toEqual(COMMAND_NAMES.toSorted())
  })
})
