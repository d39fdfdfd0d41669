import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const DIST = new URL('../../dist', import.meta.url).pathname
const KB = 1000
const BUDGET_KB = { action: 2000, cli: 2000, index: 2000, measure: 600, propose: 600 }

/** An entry with every chunk that it loads, statically or later. */
function loaded(entry: string, found = new Set<string>()): Set<string> {
  if (found.has(entry)) return found
  found.add(entry)
  const text = readFileSync(join(DIST, entry), 'utf8')
  // Doc comments of packages name files of theirs in the same way.
  const chunks = readdirSync(DIST).filter(name => text.includes(`"./${name}"`))
  for (const chunk of chunks) loaded(chunk, found)
  return found
}

const sizeOf = (entry: string) =>
  [...loaded(entry)].reduce((sum, chunk) => sum + statSync(join(DIST, chunk)).size, 0) / KB

describe('what is shipped', () => {
  it.each(Object.entries(BUDGET_KB))('%s loads at most %i kB', (entry, most) => {
    expect(sizeOf(`${entry}.js`)).toBeLessThanOrEqual(most)
  })

  it('lets the action start at once: before its command is known it loads a fiftieth of what there is', () => {
    expect(sizeOf('action.js')).toBeLessThan(sizeOf('cli.js') / 50)
    const packages = readFileSync(join(DIST, 'action.js'), 'utf8').match(/from ?"(?!node:|\.\/)[^"]+"/g)
    expect(packages).toBeNull()
  })

  it.each(['measure.js', 'propose.js'])('keeps what speaks to GitHub or the network out of %s', entry => {
    const text = readFileSync(join(DIST, entry), 'utf8')
    for (const module of ['node:https', 'node:http', 'node:net', 'node:tls', 'node:dgram', 'undici'])
      expect(text).not.toMatch(new RegExp(`["'\`]${module}["'\`]`))
    expect(text).not.toMatch(/\bfetch\(["'`]http/)
    expect([...loaded(entry)]).toEqual([entry])
  })
})
