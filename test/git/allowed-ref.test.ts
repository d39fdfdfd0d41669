import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAllowedRef, isPrefix } from '../../src/git/push.ts'

const WRITABLE = [
  'optimize/parser-speed',
  'optimize-exp/parser-speed/exp-001',
  'optimize-campaign/parser-speed',
  'optimize-state/parser-speed',
  'optimize-closed/parser-speed',
  'optimize-archive/parser-speed/20260101T000000Z/optimize',
  'optimize-archive/parser-speed/2026-01-01T00-00-00Z/state',
  'optimize-archive/parser-speed/1767225600/closed',
]

const FOREIGN = [
  'main',
  'optimize',
  'optimize/',
  'optimize/Parser',
  'optimize/parser_speed',
  'optimize/-parser',
  'optimize/parser--speed',
  'optimize/parser.lock',
  'optimize/a/b',
  'optimizer/parser',
  'my/optimize/parser',
  'optimize-exp/parser',
  'optimize-exp/parser/a/b',
  'optimize-exp/parser/..',
  'optimize-exp/parser/a..b',
  'optimize-exp/parser/exp.lock',
  'optimize-exp/parser/-exp',
  'optimize-exp/parser/a@{1}',
  'optimize-exp/parser/a b',
  'optimize-exp/parser/a\n',
  'optimize-state/parser/x',
  'optimize-archive/parser/20260101T000000Z',
  'optimize-archive/parser/now/state',
  'optimize-archive/parser/20260101T000000Z/exp',
  'optimize-constructor/parser',
  'optimize-/parser',
]

describe('the refs winnow may write', () => {
  it.each(WRITABLE)('%s', name => expect(isAllowedRef('optimize', `refs/heads/${name}`)).toBe(true))

  it('follow the configured prefix', () => {
    expect(isAllowedRef('team/tune', 'refs/heads/team/tune-state/speed')).toBe(true)
    expect(isAllowedRef('team/tune', 'refs/heads/optimize-state/speed')).toBe(false)
  })
})

describe('the refs winnow never writes', () => {
  it.each(FOREIGN)('refs/heads/%s', name =>
    expect(isAllowedRef('optimize', `refs/heads/${name}`)).toBe(false),
  )

  it.each([
    'refs/tags/optimize/speed',
    'refs/pull/1/head',
    'HEAD',
    'optimize/speed',
    '',
    'refs/notes/optimize/a',
  ])('%s', ref => expect(isAllowedRef('optimize', ref)).toBe(false))

  it('an empty or unsafe prefix allows nothing', () => {
    for (const prefix of ['', '/', 'a//b', '../x', '-x', 'a b', 'x.lock', 'a/']) {
      expect(isPrefix(prefix)).toBe(false)
      expect(isAllowedRef(prefix, `refs/heads/${prefix}/speed`)).toBe(false)
    }
  })
})

const component = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}$/)

describe('for any name', () => {
  it('the families are allowed for every kebab-case spec', () => {
    fc.assert(
      fc.property(
        component,
        component,
        fc.constantFrom('', '-campaign', '-state', '-closed'),
        (spec, exp, family) => {
          expect(isAllowedRef('optimize', `refs/heads/optimize${family}/${spec}`)).toBe(true)
          expect(isAllowedRef('optimize', `refs/heads/optimize-exp/${spec}/${exp}`)).toBe(true)
        },
      ),
    )
  })

  it('what is allowed always begins with the prefix and has the family and its own component count', () => {
    const part = fc.oneof(
      component,
      fc.constantFrom('optimize', 'optimize-exp', 'optimize-archive', '..', '', 'state'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), parts => {
        const ref = ['refs', 'heads', ...parts].join('/')
        if (!isAllowedRef('optimize', ref)) return
        expect(ref).toMatch(
          /^refs\/heads\/optimize(-exp|-campaign|-state|-closed|-archive)?\/[a-z0-9-]+(\/[\w.-]+){0,2}$/,
        )
        expect(ref).not.toMatch(/\.\.|\.lock|\/\/|@\{|\s/)
      }),
      { numRuns: 500 },
    )
  })

  it('a component more or less is another branch', () => {
    fc.assert(
      fc.property(fc.constantFrom(...WRITABLE), component, (name, extra) => {
        expect(isAllowedRef('optimize', `refs/heads/${name}/${extra}`)).toBe(false)
        expect(isAllowedRef('optimize', `refs/heads/${extra}/${name}`)).toBe(false)
        expect(isAllowedRef('optimize', `refs/heads/x${name}`)).toBe(false)
      }),
    )
  })
})
