import { expect, it } from 'vitest'
import { canMatchRange } from '../../src/dependencies/version-range.ts'

it.each<[range: string, fits: string[], others: string[]]>([
  ['*', ['0.1.0', '9.0'], ['1.0.0-beta.1']],
  ['1.2.3', ['1.2.3'], ['1.2.4']],
  ['^1.2.3', ['1.2.3', '1.9.0'], ['1.2.2', '2.0.0']],
  ['^0.2.3', ['0.2.3', '0.2.9'], ['0.3.0', '1.0.0']],
  ['~1.2.3', ['1.2.3', '1.2.9'], ['1.3.0']],
  ['~> 13.2', ['13.2.0', '13.9'], ['14.0', '13.1']],
  ['~=1.4.2', ['1.4.2', '1.4.9'], ['1.5.0']],
  ['>=2,<4', ['2.0', '3.9'], ['4.0', '1.9']],
  ['>= 2.0 <3.0', ['2.5'], ['3.0']],
  ['1.x', ['1.0', '1.9.9'], ['2.0']],
  ['1.2.*', ['1.2.0'], ['1.3.0']],
  ['!=1.2.0', ['1.2.1'], ['1.2.0']],
  ['^1.0 || ^3.0', ['1.1.0', '3.1.0'], ['2.0.0']],
  ['latest', ['1.0.0', '9.9.9'], []],
  ['1.2.3 - 2.3', ['1.2.3', '1.9.0', '2.3.4', '9.9.9'], []],
])('%s matches some versions and not others', (range, fits, others) => {
  expect(fits.filter(version => !canMatchRange(version, range))).toEqual([])
  expect(others.filter(version => canMatchRange(version, range))).toEqual([])
})
