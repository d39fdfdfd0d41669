import { describe, expect, it } from 'vitest'
import { notInSpec, refusedAdditions } from '../../src/decide/additions.ts'
import { LEFT_PAD } from '../plan/an-addition.ts'

const rules = (given: object) => ({
  approved: [],
  approval: 'review' as const,
  approvers: 'write' as const,
  min_release_age_days: 7,
  allow_scripts: false,
  ...given,
})
const SCRIPTED = { ...LEFT_PAD, name: 'sharp', version: '0.34.0', scripts: true }

describe('packages that are added', () => {
  it('are approved by their name, in whatever version', () => {
    expect(notInSpec({ approved: ['left-pad'] }, ['left-pad', 'sharp', 'sharp'])).toEqual(['sharp'])
  })

  it('may be asked for', () => {
    expect(refusedAdditions(rules({}), [LEFT_PAD])).toBeNull()
  })

  it('may not where the spec says deny, unless it names them', () => {
    const deny = rules({ approval: 'deny' })
    expect(refusedAdditions(deny, [LEFT_PAD])?.message).toBe(
      'adds left-pad 1.3.0 (npm), and dependencies.approval is deny',
    )
    expect(refusedAdditions({ ...deny, approved: ['left-pad'] }, [LEFT_PAD])).toBeNull()
  })

  it('are refused when they run install scripts, unless the spec allows that or names them', () => {
    expect(refusedAdditions(rules({}), [LEFT_PAD, SCRIPTED])?.message).toMatch(
      /^adds sharp 0\.34\.0 \(npm\), which runs install scripts/,
    )
    expect(refusedAdditions(rules({ allow_scripts: true }), [SCRIPTED])).toBeNull()
    expect(refusedAdditions(rules({ approved: ['sharp'] }), [SCRIPTED])).toBeNull()
  })

  it('are asked for where a file does not say whether they run any', () => {
    expect(refusedAdditions(rules({}), [{ ...LEFT_PAD, scripts: null }])).toBeNull()
  })
})
