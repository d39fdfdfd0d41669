import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { harnessEntries, harnessHash } from '../../src/measure/harness-hash.ts'
import { seedOf, turns } from '../../src/model/coins.ts'
import { aSpec } from '../decide/a-spec.ts'

const hex = '0123456789abcdef'.split('')
const coins = fc
  .array(fc.constantFrom(...hex), { minLength: 64, maxLength: 64 })
  .map(digits => digits.join(''))

describe('whose turn it is', () => {
  test('is a permutation that depends on the coins and the block alone', () => {
    fc.assert(
      fc.property(coins, fc.nat(14), fc.integer({ min: 1, max: 5 }), (drawn, block, count) => {
        const sides = ['base', 'a', 'b', 'c', 'd'].slice(0, count)
        const order = turns({ coins: drawn }, block, sides)
        expect(order.toSorted()).toEqual(sides.toSorted())
        expect(turns({ coins: drawn }, block, sides)).toEqual(order)
      }),
    )
  })

  test('is exactly fair for two sides, and all but fair for five', () => {
    const firsts = new Map<string, number>()
    for (let number = 0; number < 65_536; number++) {
      const drawn = number.toString(16).padStart(4, '0').padEnd(64, '0')
      for (const sides of [
        ['x', 'y'],
        ['a', 'b', 'c', 'd', 'e'],
      ]) {
        const first = turns({ coins: drawn }, 'build', sides)[0] ?? ''
        firsts.set(first, (firsts.get(first) ?? 0) + 1)
      }
    }
    expect([firsts.get('x'), firsts.get('y')]).toEqual([32_768, 32_768])
    for (const side of ['a', 'b', 'c', 'd', 'e']) {
      expect(Math.abs((firsts.get(side) ?? 0) / 65_536 - 0.2)).toBeLessThan(0.0005)
    }
  })

  test('no two of the first blocks, nor the build, read the same coins', () => {
    const one = `${'0'.repeat(4)}${'0001'}${'0'.repeat(56)}`
    expect(turns({ coins: one }, 'build', ['x', 'y'])).toEqual(['x', 'y'])
    expect(turns({ coins: one }, 0, ['x', 'y'])).toEqual(['y', 'x'])
    expect(turns({ coins: one }, 1, ['x', 'y'])).toEqual(['x', 'y'])
  })

  test('seeds differ from block to block and are plain integers', () => {
    fc.assert(
      fc.property(coins, drawn => {
        const seeds = Array.from({ length: 8 }, (_, block) => seedOf({ coins: drawn }, block))
        expect(new Set(seeds).size).toBe(8)
        expect(seeds.every(seed => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)).toBe(true)
      }),
    )
  })
})

describe('the harness hash', () => {
  const entry = (path: string, oid = '1'.repeat(40)) => ({ path, mode: '100644', oid })
  const files = [entry('bench/run.mjs'), entry('src/a.ts'), entry('README.md')]

  test('is taken over scope.immutable, or over everything outside mutable without it', () => {
    const paths = (scope: object) => harnessEntries(aSpec({ scope }), files).map(file => file.path)
    expect(paths({ mutable: ['src/'], immutable: ['bench/'] })).toEqual(['bench/run.mjs'])
    expect(paths({ mutable: ['src/'] })).toEqual(['bench/run.mjs', 'README.md'])
  })

  test('does not depend on the order of the entries', () => {
    expect(harnessHash(aSpec(), files)).toBe(harnessHash(aSpec(), files.toReversed()))
  })

  test.each([
    ['a file', aSpec(), [entry('bench/run.mjs', '2'.repeat(40)), ...files.slice(1)]],
    ['a mode', aSpec(), [{ ...entry('bench/run.mjs'), mode: '100755' }, ...files.slice(1)]],
    ['the command', aSpec({ measurement: { command: 'other' } }), files],
    ['a gate', aSpec({ gates: [{ name: 'tests', command: 'npm test' }] }), files],
    ['the metric', aSpec({ metric: { diagnostics: [{ name: 'x' }] } }), files],
  ])('changes with %s', (_, spec, entries) => {
    expect(harnessHash(spec, entries)).not.toBe(harnessHash(aSpec(), files))
  })

  test('stays when what does not measure changes', () => {
    expect(harnessHash(aSpec({ advice: ['be brave'] }), files)).toBe(harnessHash(aSpec(), files))
  })
})
