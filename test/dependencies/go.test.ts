import { describe, expect, test } from 'vitest'
import { additionsOf, changeOf, faultOf, fixture } from './fixture.ts'

describe('go.mod', () => {
  const base = fixture('go/go.mod')

  test('has the requirements and their replacements', () => {
    expect(additionsOf('go.mod', 'module example.org/app\n\ngo 1.19\n', base)).toEqual([
      'example.org/branch v1.2.0 registry',
      'example.org/fork v1.5.1 registry, in place of example.org/old',
      'example.org/leaf v0.3.0 registry',
      'example.org/old v1.5.0 registry',
    ])
    const { additions } = changeOf('go.mod', 'module example.org/app\n\ngo 1.19\n', base)
    expect(additions.find(({ name }) => name.endsWith('leaf'))?.direct).toBe(false)
    expect(additions.find(({ name }) => name.endsWith('old'))?.direct).toBe(true)
  })

  test.each([
    ['require example.org/evil v1.0.0', 'example.org/evil v1.0.0 registry'],
    ['require (\n\texample.org/evil v1.0.0 // indirect\n)', 'example.org/evil v1.0.0 registry'],
    ['replace example.org/leaf => ../leaf', 'example.org/leaf * path ../leaf'],
    [
      'replace example.org/leaf v0.3.0 => example.org/evil v1.0.0',
      'example.org/evil v1.0.0 registry, in place of example.org/leaf@v0.3.0',
    ],
  ])('%s is an addition', (line, addition) => {
    expect(additionsOf('go.mod', base, `${base}\n${line}\n`)).toEqual([addition])
  })

  test('exclude, retract and comments are not requests', () => {
    const more = '// a comment\nexclude example.org/leaf v0.2.0\nretract [v1.0.0, v1.1.0]\n'
    expect(changeOf('go.mod', base, base + more)).toEqual({ additions: [], removals: 0, faults: [] })
  })

  test.each([
    'go 1.20',
    'toolchain go1.99.0',
    'godebug panicnil=1',
    'tool example.org/branch',
    'module example.org/b',
  ])('%s is out of scope', line =>
    expect(faultOf('go.mod', base, `${base}\n${line}\n`)).toContain(`changes ${line.split(' ')[0]}: only`),
  )

  test.each([
    ['require example.org/evil', 'requires'],
    ['require (', 'does not close'],
    ['replace example.org/leaf', 'replaces'],
    ['require "example.org/evil" v1.0.0', 'quoted words'],
    ['require example.org/evil v1.0.0 /* */', 'quoted words'],
  ])('%s cannot be approved', (line, why) => {
    expect(faultOf('go.mod', base, `${base}\n${line}\n`)).toContain(why)
  })
})

describe('go.sum, as go writes it', () => {
  const sum = fixture('go/go.sum')

  test('has one hash for each module and one for its go.mod', () => {
    const { additions } = changeOf('go.sum', null, sum)
    expect(additions.map(({ name, integrity }) => `${name} ${integrity?.replace(/h1:.*/, 'h1')}`)).toEqual([
      'example.org/branch h1',
      'example.org/branch go.mod h1',
      'example.org/fork h1',
      'example.org/fork go.mod h1',
      'example.org/leaf h1',
      'example.org/leaf go.mod h1',
    ])
  })

  test('another hash, or a second one, is an addition', () => {
    const other = sum.replace('h1:CboU', 'h1:Evil')
    expect(additionsOf('go.sum', sum, other)).toEqual(['example.org/branch v1.2.0 registry'])
    expect(additionsOf('go.sum', sum, sum + other)).toEqual(['example.org/branch v1.2.0 registry'])
  })

  test.each(['example.org/evil v1.0.0', 'example.org/evil v1.0.0 h2:abc=', '<<<<<<< HEAD'])(
    '%s cannot be approved',
    line => {
      expect(faultOf('go.sum', sum, `${sum}${line}\n`)).toContain('a line that go does not write')
    },
  )
})
