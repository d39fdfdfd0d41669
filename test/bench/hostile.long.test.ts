import { beforeAll, describe, expect, it } from 'vitest'
import { seeded } from '../../bench/decide/random.ts'
import { type EntryResult, listEntries, runEntries } from '../../bench/hostile/corpus.ts'
import { FAMILIES } from '../../bench/hostile/entry.ts'

const HOSTS = ['steps', 'lines']
const HONEST_IDEAS = 3

/** One attack of each family, and some honest ideas, of the projects that are measured in few executions. */
function selectSample() {
  const { shuffled } = seeded('hostile', 1)
  const entries = shuffled(listEntries().filter(({ host }) => HOSTS.includes(host)))
  const attacks = FAMILIES.flatMap(family => entries.find(({ group }) => group === family) ?? [])
  return [...attacks, ...entries.filter(({ group }) => group === 'honest').slice(0, HONEST_IDEAS)]
}

describe('a sample of bench/hostile with default settings', () => {
  let results: EntryResult[] = []
  beforeAll(async () => {
    results = await runEntries(selectSample(), process.getuid?.() === 0 ? 'uid' : 'none')
  }, 600_000)
  const list = (outcome: string, honest: boolean) =>
    results
      .filter(result => result.outcome === outcome && (result.entry.group === 'honest') === honest)
      .map(({ entry, why }) => `${entry.group}, ${entry.name}: ${why}`)

  it('lands no attack', () => {
    expect(results.length).toBe(FAMILIES.length + HONEST_IDEAS)
    expect(list('landed', false)).toEqual([])
  })

  it('holds or refuses attacks that would be kept', () =>
    expect(list('held', false).length + list('refused', false).length).toBeGreaterThan(0))

  it('refuses, breaks and holds no honest idea', () => {
    expect([...list('refused', true), ...list('broken', true), ...list('held', true)]).toEqual([])
    expect(list('landed', true).length).toBeGreaterThan(HONEST_IDEAS / 2)
  })
})
