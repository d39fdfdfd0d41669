import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { campaigns } from '../../../bench/decide/campaigns.ts'
import { renderComparisonPage, renderComparisonRow } from '../../../bench/decide/comparison.ts'
import { playHere } from '../../../bench/decide/pool.ts'
import { single } from '../../../bench/decide/single.ts'
import { selectCases } from '../../support/cases.ts'

const PAGE = readFileSync(new URL('../../../docs/comparison.md', import.meta.url), 'utf8')

describe('docs/comparison.md', () => {
  it.each(selectCases(['one run, strictly better', 'winnow', 'winnow, first keep of 100 (alpha .001)']))(
    'has the numbers that the command prints for %s',
    name => {
      const cases = single.cases().filter(each => each.name.startsWith(`single/typical/${name}/`))
      const shown = cases.filter(each => /\/(null|\+1 %|\+2 %|\+5 %)$/.test(each.name))
      expect(shown).toHaveLength(4)
      const results = new Map(shown.map(each => [each.name, playHere(each, { seed: '1', size: 'usual' })]))
      expect(PAGE).toContain(renderComparisonRow(results, name))
    },
  )

  it('is what the command prints, whatever the numbers are', () => {
    const cases = [...single.cases(), ...campaigns.cases()]
    const results = new Map(cases.map(({ name }) => [name, { plays: 1, possible: 1, gain: 1 }]))
    const mask = (text: string) => text.replace(/\d+(?:\.\d+)?/g, 'N')
    expect(mask(PAGE)).toBe(`${mask(renderComparisonPage(results, { seed: '1', size: 'usual' }))}\n`)
  })
})
