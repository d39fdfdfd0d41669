import { parseArgs } from 'node:util'
import type { Size } from './case.ts'
import { SECTIONS } from './report.ts'

export interface Options {
  seed: string
  size: Size
  form: 'text' | 'json' | 'comparison' | 'figure'
  /** Names of the sections to play. */
  only: readonly string[]
}

const NAMES = SECTIONS.map(({ name }) => name)

export const USAGE = `npm run bench:decide -- [--quick | --full] [--seed <text>] [--only ${NAMES.join(',')}] [--json | --comparison | --figure]`

/** Unknown flags and names throw. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      comparison: { type: 'boolean', default: false },
      figure: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: NAMES.join(',') },
    },
  })
  const forms = [values.json, values.comparison, values.figure].filter(Boolean)
  if ((values.quick && values.full) || forms.length > 1) throw new Error(USAGE)
  const only = values.only.split(',')
  const unknown = only.find(name => !NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`no section ${unknown}: ${USAGE}`)
  const rest = values.full ? 'full' : 'usual'
  const plain = values.json ? 'json' : values.figure ? 'figure' : 'text'
  return {
    seed: values.seed,
    size: values.quick ? 'quick' : rest,
    form: values.comparison ? 'comparison' : plain,
    only: values.comparison ? ['single', 'campaigns'] : only,
  }
}
