import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CLAIMS, COMMITS } from '../../../bench/real/commits.ts'
import { findLanguage } from '../../../bench/real/sides.ts'

const WORKLOADS = new URL('../../../bench/real/workloads/', import.meta.url)

describe('the list of public commits', () => {
  it.each(COMMITS)('$repository $commit has all that the runner needs', entry => {
    expect(entry.repository).toMatch(/^[\w.-]+\/[\w.-]+$/)
    expect(entry.parent).toMatch(/^[0-9a-f]{40}$/)
    expect(entry.commit).toMatch(/^[0-9a-f]{40}$/)
    expect(entry.commit).not.toBe(entry.parent)
    expect(CLAIMS).toContain(entry.claim)
    expect(entry.change).not.toBe('')
    expect(existsSync(new URL(entry.workload, WORKLOADS))).toBe(true)
    expect(findLanguage(entry.workload).name).not.toBe('shell')
    if (entry.backwards === true) expect(entry.claim).toBe('regression')
  })

  it('has no commit twice', () => {
    const names = COMMITS.map(({ commit, workload, backwards }) => `${commit} ${workload} ${backwards}`)
    expect(new Set(names).size).toBe(names.length)
  })

  it('measures what it takes back as a gain too', () => {
    for (const { commit, workload } of COMMITS.filter(({ backwards }) => backwards === true))
      expect(
        COMMITS.some(each => each.commit === commit && each.workload === workload && !each.backwards),
      ).toBe(true)
  })

  it('is of at least ten libraries in four languages, and has every claim', () => {
    expect(new Set(COMMITS.map(({ repository }) => repository)).size).toBeGreaterThanOrEqual(10)
    expect(new Set(COMMITS.map(({ workload }) => findLanguage(workload).name)).size).toBeGreaterThanOrEqual(4)
    const count = (claim: string) => COMMITS.filter(each => each.claim === claim).length
    expect(CLAIMS.map(count).every(found => found >= 5)).toBe(true)
  })

  it('uses every workload', () => {
    expect(new Set(readdirSync(WORKLOADS))).toEqual(new Set(COMMITS.map(({ workload }) => workload)))
  })
})
