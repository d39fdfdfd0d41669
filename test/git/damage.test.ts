import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findDeepDamage, isPossibleDamage } from '../../src/git/damage.ts'
import { scratch } from './scratch.ts'

it('finds no damage in a repository that was never fetched', async () => {
  expect(await findDeepDamage(join(scratch(), 'repository.git'), {})).toBeNull()
})

it('does not take a missing password for damage', () => {
  const refusal = (what: string) =>
    new Error(`fatal: could not read ${what} for 'https://host': terminal prompts disabled`)
  expect(['Username', 'Password'].map(what => isPossibleDamage(refusal(what)))).toEqual([false, false])
  expect(isPossibleDamage(new Error('fatal: could not read 3fd1e04'))).toBe(true)
})
