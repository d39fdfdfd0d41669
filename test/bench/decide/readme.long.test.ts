import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { playHere } from '../../../bench/decide/pool.ts'
import { readmeRow } from '../../../bench/decide/readme.ts'
import { single } from '../../../bench/decide/single.ts'

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

describe('the comparison in the README', () => {
  it.each(['one run, strictly better', 'winnow', 'winnow, first keep of 100 (alpha .001)'])(
    'has the numbers that the command prints for %s',
    name => {
      const cases = single.cases().filter(each => each.name.startsWith(`single/typical/${name}/`))
      const shown = cases.filter(each => /\/(null|\+1 %|\+2 %|\+5 %)$/.test(each.name))
      expect(shown).toHaveLength(4)
      const results = new Map(shown.map(each => [each.name, playHere(each, { seed: '1', size: 'usual' })]))
      expect(README).toContain(readmeRow(results, name))
    },
  )
})
