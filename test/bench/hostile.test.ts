import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listEntries } from '../../bench/hostile/corpus.ts'
import { FAMILIES } from '../../bench/hostile/entry.ts'

const ROOT = new URL('../../', import.meta.url)
const LEAST_ATTACKS = 120
const LEAST_HONEST = 60

const groups = listEntries().map(({ group }) => group)
const count = (wanted: string) => groups.filter(group => group === wanted).length
const attacks = groups.length - count('honest')

describe('bench/hostile', () => {
  it('is large enough, and has every family', () => {
    expect(attacks).toBeGreaterThanOrEqual(LEAST_ATTACKS)
    expect(count('honest')).toBeGreaterThanOrEqual(LEAST_HONEST)
    expect(FAMILIES.map(count).every(each => each > 0)).toBe(true)
  })

  it('is the one whose results docs/harness.md quotes, where no attack landed and no honest idea was refused', () => {
    const page = readFileSync(new URL('docs/harness.md', ROOT), 'utf8')
    const rows = [...FAMILIES, 'honest ideas'].map(name => {
      const found = [...page.matchAll(new RegExp(`^${name} +(\\d+) +(\\d+) +\\d+ +(\\d+) `, 'gm'))]
      return found.map(([, ideas, landed, refused]) => ({ name, ideas: Number(ideas), landed, refused }))
    })
    for (const both of rows) {
      expect(both).toHaveLength(2)
      for (const { name, ideas, landed, refused } of both) {
        const isHonest = name === 'honest ideas'
        expect({ name, ideas }).toEqual({ name, ideas: count(isHonest ? 'honest' : name) })
        if (isHonest) expect(refused).toBe('0')
        else expect({ name, landed }).toEqual({ name, landed: '0' })
      }
    }
  })

  it('is counted by the README', () => {
    expect(readFileSync(new URL('README.md', ROOT), 'utf8')).toContain(
      `Of [${attacks} attacks on benchmarks]`,
    )
  })
})
