import { describe, expect, it } from 'vitest'
import { getLinkedPull } from '../../src/model/landing.ts'

describe('the number of a pull request in a commit', () => {
  it('is that of GitHub, and none of those that are kept beside the branches', () => {
    expect(getLinkedPull('github', 5)).toBe(5)
    expect(getLinkedPull('github', null)).toBeNull()
    expect(getLinkedPull('local', 5)).toBeNull()
  })
})
