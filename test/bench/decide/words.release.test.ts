import { describe, expect, it } from 'vitest'
import { per, playMany } from '../../../bench/decide/case.ts'
import { seeded } from '../../../bench/decide/random.ts'
import { words, wordsCase } from '../../../bench/decide/words.ts'

const RUNNERS = ['dedicated', 'quiet', 'typical', 'noisy', 'pairs differ by 10 %', 'pairs differ by 24 %']
const PLAYS = 300

function played(runner: string, effect: number) {
  const name = wordsCase(runner, effect)
  const found = words.cases().find(each => each.name === name)
  if (found === undefined) throw new Error(`no case ${name}`)
  return playMany(PLAYS, seeded(name), found)
}

describe('the word that an idea gets', () => {
  it.each(RUNNERS)('%s: is "no gain" for at most 5 %% of gains of twice min_effect', runner => {
    const tally = played(runner, 0.04)
    expect(per(tally, 'last no gain')).toBeLessThanOrEqual(0.05)
    expect(per(tally, 'given up for good')).toBeLessThanOrEqual(0.05)
    expect(per(tally, 'last worse')).toBeLessThanOrEqual(0.05)
  })

  it.each(RUNNERS)('%s: is "worse" for what is many times slower, in a few pairs', runner => {
    const tally = played(runner, -1)
    expect(per(tally, 'last worse')).toBeGreaterThan(0.95)
    expect(per(tally, 'last executions')).toBeLessThan(18)
  })

  it.each(RUNNERS)('%s: is "kept" or "worse" for next to nothing that does nothing', runner => {
    const tally = played(runner, 0)
    expect(per(tally, 'last kept')).toBeLessThanOrEqual(0.02)
    expect(per(tally, 'last worse')).toBeLessThanOrEqual(0.05)
  })
})
