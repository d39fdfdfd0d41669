import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBranchMatch } from '../../src/init/workflows/foreign-workflows.ts'

describe('a workflow filter matches as GitHub documents it', () => {
  it.each([
    ['feature/*', ['feature/a', 'feature/'], ['feature/a/b', 'feature']],
    ['feature/**', ['feature/a', 'feature/a/b'], ['features']],
    ['*', ['main', 'v.1'], ['optimize/x']],
    ['**', ['main', 'optimize/x'], []],
    ['*feature', ['my-feature', 'feature'], ['a/feature']],
    // None or one of what stands before it, and not any one character.
    ['optimize?/x', ['optimize/x', 'optimiz/x'], ['optimizes/x', 'optimizee/x']],
    ['v[12].[0-9]+.[0-9]+', ['v1.10.1', 'v2.0.0'], ['v3.0.0', 'v1..0', 'v1.x.0']],
    ['a+', ['a', 'aaa'], ['', 'b']],
    ['[a-c][A-Z_]?', ['b', 'cQ', 'a_'], ['d', 'aq', '']],
    ['[0-9]?x', ['x', '4x'], ['44x']],
    ['a.b', ['a.b'], ['axb']],
    ['(a|b)$^{1}', ['(a|b)$^{1}'], ['a']],
    ['a\\+b\\*', ['a+b*'], ['aab', 'a+b']],
    ['a!b', ['a!b'], ['ab']],
    ['**?', ['', 'a/b'], []],
    ['', [''], ['a']],
  ])('%s', (pattern, named, others) => {
    expect(named.filter(branch => !isBranchMatch(pattern, branch))).toEqual([])
    expect(others.filter(branch => isBranchMatch(pattern, branch))).toEqual([])
  })

  it.each(['?a', '+', '[', 'a[b', '[]'])('%s is invalid and matches nothing', pattern => {
    for (const branch of ['', 'a', 'ab', '?a', '+', '[', 'a[b', '[]'])
      expect(isBranchMatch(pattern, branch)).toBe(false)
  })

  it('matches itself if it has no special character', () => {
    const plain = fc.stringMatching(/^[\w./@#$(){}|^-]*$/)
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(isBranchMatch(a, a)).toBe(true)
        expect(isBranchMatch(a, b)).toBe(a === b)
      }),
    )
  })

  it('matches like the equivalent regular expression', () => {
    const part = fc.constantFrom('a', 'b', '/', '*', '**', 'a?', 'b+', '[ab]', '[ab]+', '[a-c]?')
    const branch = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 6 }).map(all => all.join(''))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), branch, (parts, name) => {
        const said = parts.map(each => (each === '**' ? '.*' : each === '*' ? '[^/]*' : each)).join('')
        // Two single stars beside one another are read as two.
        fc.pre(
          !parts.join('').includes('***') && !parts.some((one, at) => one === '*' && parts[at + 1] === '*'),
        )
        expect(isBranchMatch(parts.join(''), name)).toBe(new RegExp(`^${said}$`).test(name))
      }),
    )
  })

  it('ends quickly for every pattern', () => {
    expect(isBranchMatch(`${'**a+?'.repeat(200)}b`, 'a'.repeat(200))).toBe(false)
  })
})
