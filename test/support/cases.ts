import { test } from 'vitest'

/** Every case of every matrix, as before a release; else those that stand for the others. */
const runsAllCases = process.env['WINNOW_CASES'] === 'full'

/** A test that only a release needs. */
export const releaseTest = test.runIf(runsAllCases)

/** All of them, or as many as one case of each kind takes: the first ones stand for the others. */
export function selectCases<const T>(cases: readonly T[], some = 1): readonly T[] {
  return runsAllCases ? cases : cases.slice(0, some)
}
