import { describe, expect, it } from 'vitest'
import { pullInMessage } from '../../src/model/landing.ts'

describe('the number of a pull request in a commit', () => {
  it('is that of GitHub, and none of those that are kept beside the branches', () => {
    expect(pullInMessage('github', 5)).toBe(5)
    expect(pullInMessage('github', null)).toBeNull()
    expect(pullInMessage('local', 5)).toBeNull()
  })
})
