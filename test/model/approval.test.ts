import { describe, expect, it } from 'vitest'
import { awaitedPackages, awaitedText, packagesText } from '../../src/model/approval.ts'
import { LEFT_PAD } from '../plan/an-addition.ts'

const RANGE = { ...LEFT_PAD, version: '^1.3.0', integrity: null, path: 'package.json' }
const OTHER = 'e'.repeat(64)
const approval = {
  digest: 'd'.repeat(64),
  packages: ['left-pad', 'zlib'],
  additions: [RANGE, LEFT_PAD],
  why: 'pads faster',
}

describe('what an experiment waits for', () => {
  it('is nothing before it was asked for', () => {
    expect(awaitedPackages({ approval: null, approved: {} })).toEqual([])
  })

  it('is what was not approved in the same set', () => {
    const approved = { [approval.digest]: ['zlib'], [OTHER]: ['left-pad'] }
    expect(awaitedPackages({ approval, approved })).toEqual(['left-pad'])
    expect(awaitedText({ approval, approved })).toBe('left-pad 1.3.0 (npm)')
  })
})

describe('packages in a sentence', () => {
  it.each([
    ['the version that a lockfile says the range comes to', [RANGE, LEFT_PAD], 'left-pad 1.3.0 (npm)'],
    ['the range where nothing says more', [RANGE], 'left-pad ^1.3.0 (npm)'],
    [
      'every version there is',
      [LEFT_PAD, { ...LEFT_PAD, version: '1.2.0' }],
      'left-pad 1.3.0 (npm), left-pad 1.2.0 (npm)',
    ],
    [
      'a version without integrity before a range',
      [RANGE, { ...RANGE, version: '1.3.0' }],
      'left-pad 1.3.0 (npm)',
    ],
    ['no version of what is only said to be needed', [], 'left-pad'],
  ])('have %s', (_, additions, said) => {
    expect(packagesText(['left-pad'], additions)).toBe(said)
  })

  it('are three at most', () => {
    expect(packagesText(['a', 'b', 'c', 'd', 'e'], [])).toBe('a, b, c and 2 more')
  })
})
