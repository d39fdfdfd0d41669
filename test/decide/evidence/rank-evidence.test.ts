import { describe, expect, test } from 'vitest'
import { evidenceOf, lnEvidence, lnEvidencePath } from '../../../src/decide/evidence/rank-evidence.ts'

const PORT = [0.031, 0.044, -0.008, 0.052, 0.027, 0.038, 0.012, 0.049]

describe('the rank process', () => {
  test('gives the digits printed in the decision design', () => {
    const path = lnEvidencePath(PORT, 0).map(ln => evidenceOf(ln).toFixed(2))
    expect(path).toEqual(['1.75', '3.26', '1.60', '3.02', '4.78', '8.60', '12.88', '24.53'])
  })

  test('starts at 1', () => {
    expect(lnEvidence([], 0.01)).toBe(0)
  })
})
